//! The initial places of the bodies: two spheres of Plummer's model.

use super::region::Vector;

/// The second sphere is a copy of the first, moved by this distance along each axis.
const OFFSET: f64 = 4.0;
/// The fraction of the mass that is kept. The rest is very far out.
const MASS_CUT: f64 = 0.999;

/// A body's place and velocity.
pub(super) type Start = (Vector, Vector);

/// Bodies of the same mass, in units with a total mass of 1 and a constant of gravity of 1.
///
/// A sphere has the distributions of places and velocities of S. J. Aarseth, M. Henon and R. Wielen, "A comparison of
/// numerical methods for the study of star cluster dynamics" (1974). Its scale is 3 pi / 16. Each sphere has half of
/// the mass, and by itself is in equilibrium.
pub(super) fn spheres(bodies: usize, seed: u64) -> Vec<Start> {
    let mut random = fastrand::Rng::with_seed(seed);
    let first = bodies.div_ceil(2);
    let mut sphere: Vec<Start> = (0..first).map(|_| one(&mut random)).collect();
    // Moves the centre to the origin, and makes the total momentum zero.
    for axis in 0..3 {
        let count = first as f64;
        let place = sphere.iter().map(|it| it.0[axis]).sum::<f64>() / count;
        let velocity = sphere.iter().map(|it| it.1[axis]).sum::<f64>() / count;
        for body in &mut sphere {
            body.0[axis] -= place;
            body.1[axis] -= velocity;
        }
    }
    let moved = |&(place, velocity): &Start| (place.map(|it| it + OFFSET), velocity);
    let second: Vec<Start> = sphere[..bodies - first].iter().map(moved).collect();
    sphere.extend(second);
    sphere
}

fn one(random: &mut fastrand::Rng) -> Start {
    const SCALE: f64 = 3.0 * std::f64::consts::PI / 16.0;
    let within = loop {
        let part = random.f64() * MASS_CUT;
        if part > 0.0 {
            break part;
        }
    };
    // The radius that contains this fraction of the mass.
    let radius = 1.0 / (within.powf(-2.0 / 3.0) - 1.0).sqrt();
    // The speed, as a fraction of the escape velocity, by rejection sampling.
    let part = loop {
        let part = random.f64();
        let density = part.powi(2) * (1.0 - part.powi(2)).powf(3.5);
        if random.f64() * 0.1 < density {
            break part;
        }
    };
    let speed = part * std::f64::consts::SQRT_2 * (1.0 + radius * radius).powf(-0.25);
    let place = direction(random).map(|it| it * radius * SCALE);
    // A sphere has half the mass, so velocities are scaled by the root of a half.
    let velocity = direction(random).map(|it| it * speed * (0.5 / SCALE).sqrt());
    (place, velocity)
}

/// A direction from the uniform distribution.
fn direction(random: &mut fastrand::Rng) -> Vector {
    loop {
        let vector: Vector = std::array::from_fn(|_| 2.0 * random.f64() - 1.0);
        let square: f64 = vector.iter().map(|it| it * it).sum();
        if square > 1e-6 && square <= 1.0 {
            return vector.map(|it| it / square.sqrt());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_spheres_with_plummers_radius() {
        let bodies = spheres(20_001, 1);
        assert_eq!(bodies.len(), 20_001);
        for (&(one, velocity), &(other, same)) in bodies.iter().zip(&bodies[10_001..]) {
            assert!((0..3).all(|axis| (other[axis] - one[axis] - OFFSET).abs() < 1e-12));
            assert_eq!(velocity, same);
        }
        let length = |it: &Vector| it.iter().map(|it| it * it).sum::<f64>().sqrt();
        let mut radii: Vec<f64> = bodies[..10_001].iter().map(|it| length(&it.0)).collect();
        radii.sort_by(f64::total_cmp);
        // Half of the mass is within 1.3048 of the scale. The standard deviation for 10,001 bodies
        // is about a hundredth.
        let median = radii[5_000] / (3.0 * std::f64::consts::PI / 16.0);
        assert!((median - 1.3048).abs() < 0.04, "{median}");
        // In equilibrium twice the kinetic energy equals the potential energy, 3 pi / 32 m^2 / a with m = 1/2.
        let kinetic = bodies[..10_001].iter().map(|it| length(&it.1).powi(2));
        let twice = kinetic.sum::<f64>() / 20_001.0;
        assert!((twice - 0.125).abs() < 0.005, "{twice}");
    }
}
