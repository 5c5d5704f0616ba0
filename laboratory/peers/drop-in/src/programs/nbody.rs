//! Bodies that attract each other.

use crate::Program;
use rayon::prelude::*;

const BODIES: usize = 400;
type Vector = [f64; 3];

pub fn programs() -> Vec<Program> {
    let bodies = || {
        let mut random = fastrand::Rng::with_seed(3);
        (0..BODIES)
            .map(|_| [random.f64(), random.f64(), random.f64()])
            .collect()
    };
    let expected: Vec<Vector> = {
        let bodies: Vec<Vector> = bodies();
        bodies.iter().map(|&body| force(&bodies, body)).collect()
    };
    let near = move |forces: Vec<Vector>| {
        let total = |forces: &[Vector]| forces.iter().flatten().map(|x| x.abs()).sum::<f64>();
        let expected = total(&expected);
        assert!((total(&forces) - expected).abs() < 1e-9 * expected);
    };
    vec![
        Program::new("nbody_map", bodies, by_map, near.clone()),
        Program::new("nbody_reduce", bodies, by_reduce, near),
    ]
}

/// The pull of `other` on `body`.
fn pull(body: Vector, other: Vector) -> Vector {
    let way: Vector = std::array::from_fn(|axis| other[axis] - body[axis]);
    let distance = (way.iter().map(|x| x * x).sum::<f64>() + 1e-3).sqrt();
    way.map(|x| x / (distance * distance * distance))
}

fn add(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|axis| a[axis] + b[axis])
}

fn force(bodies: &[Vector], body: Vector) -> Vector {
    let pulls = bodies.iter().map(|&other| pull(body, other));
    pulls.fold([0.0; 3], add)
}

fn by_map(bodies: Vec<Vector>) -> Vec<Vector> {
    bodies
        .par_iter()
        .map(|&body| force(&bodies, body))
        .collect()
}

/// A parallel loop in a parallel loop.
fn by_reduce(bodies: Vec<Vector>) -> Vec<Vector> {
    let one = |&body: &Vector| {
        let pulls = bodies
            .par_iter()
            .with_min_len(64)
            .map(|&other| pull(body, other));
        pulls.reduce(|| [0.0; 3], add)
    };
    bodies.par_iter().map(one).collect()
}
