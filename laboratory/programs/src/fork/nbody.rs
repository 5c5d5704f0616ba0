//! Bodies that attract each other. Each tick computes the forces of all pairs.

use super::{Fork, Kernel, SlicePart, Wrong};
use manycore_platform::Platform;
use std::ops::Range;

/// Instructions for each pair of bodies, and for each move of a body.
const PAIR: u64 = 46;
const MOVE: u64 = 60;

/// The time that a tick simulates.
const TICK: f64 = 0.01;

/// This is added to the square of each distance, so that bodies that pass close to each other are not flung away.
const SOFTENING: f64 = 0.01;

/// The allowed difference of a coordinate from that of the sequential program, which adds the forces in another order.
/// It is much more than the rounding error of 1e-16 for each force, times the number of bodies, times the growth of
/// errors in ten ticks when bodies are close.
const TOLERANCE: f64 = 1e-9;

/// How the pairs are divided among the threads.
///
/// ```
/// use manycore_programs::fork::Form;
/// assert_ne!(Form::Iterator, Form::Reduce);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Bodies are computed in parallel. One thread adds up all forces on a body.
    Iterator,
    /// Bodies are computed in parallel. The forces on each body are a parallel reduction within the loop.
    Reduce,
}

/// Bodies in a cube, moved by gravity.
///
/// ```
/// use manycore_programs::fork::{Form, Kernel, NBody, Serial};
/// use manycore_platform::Native;
///
/// let mut kernel = NBody::new(Form::Iterator, 50, 3, 42);
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct NBody {
    form: Form,
    ticks: usize,
    first: Vec<Body>,
    now: Vec<Body>,
    next: Vec<Body>,
}

type NBodyVector = [f64; 3];

#[derive(Clone, Copy, Debug, PartialEq)]
struct Body {
    position: NBodyVector,
    velocity: NBodyVector,
    mass: f64,
}

impl NBody {
    /// Makes bodies at rest, which will move for `ticks`. The seed decides their places and masses.
    ///
    /// ```
    /// use manycore_programs::fork::{Form, Kernel, NBody};
    /// assert!(NBody::new(Form::Reduce, 50, 3, 1).verify().is_err()); // not yet moved
    /// ```
    #[must_use]
    pub fn new(form: Form, bodies: usize, ticks: usize, seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let body = |_| Body {
            position: std::array::from_fn(|_| random.f64()),
            velocity: [0.0; 3],
            mass: random.f64() / bodies as f64,
        };
        let first: Vec<Body> = (0..bodies).map(body).collect();
        Self {
            form,
            ticks,
            now: first.clone(),
            next: first.clone(),
            first,
        }
    }
}

impl Kernel for NBody {
    fn reset(&mut self) {
        self.now.copy_from_slice(&self.first);
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        for _ in 0..self.ticks {
            let now = self.now.as_slice();
            let leaf = |part: SlicePart<Body>| match self.form {
                Form::Iterator => move_all::<F::Platform>(now, part, |position| {
                    attraction::<F::Platform>(now, 0..now.len(), position)
                }),
                Form::Reduce => move_all::<F::Platform>(now, part, |position| {
                    let leaf = |range| attraction::<F::Platform>(now, range, position);
                    fork.reduce(0..now.len(), &leaf, &sum)
                }),
            };
            fork.reduce(SlicePart::new(&mut self.next, 1), &leaf, &|(), ()| ());
            std::mem::swap(&mut self.now, &mut self.next);
        }
    }

    fn sequential<P: Platform>(&mut self) {
        for _ in 0..self.ticks {
            let now = self.now.as_slice();
            let part = SlicePart::new(&mut self.next, 1);
            move_all::<P>(now, part, |position| {
                attraction::<P>(now, 0..now.len(), position)
            });
            std::mem::swap(&mut self.now, &mut self.next);
        }
    }

    fn verify(&self) -> Result<(), Wrong> {
        let mut bodies = self.first.clone();
        for _ in 0..self.ticks {
            tick_by_pairs(&mut bodies);
        }
        let is_near = |a: &NBodyVector, b: &NBodyVector| {
            a.iter().zip(b).all(|(a, b)| (a - b).abs() < TOLERANCE)
        };
        let wrong = self.now.iter().zip(&bodies).position(|(found, right)| {
            !is_near(&found.position, &right.position) || !is_near(&found.velocity, &right.velocity)
        });
        match wrong {
            Some(index) => Err(Wrong::Element {
                what: "body",
                index,
            }),
            None => Ok(()),
        }
    }
}

fn sum(a: NBodyVector, b: NBodyVector) -> NBodyVector {
    std::array::from_fn(|axis| a[axis] + b[axis])
}

/// The acceleration of a body at `from` by only the `bodies` of `range`.
fn attraction<P: Platform>(bodies: &[Body], range: Range<usize>, from: NBodyVector) -> NBodyVector {
    let bodies = &bodies[range];
    P::read(bodies);
    P::compute(PAIR * bodies.len() as u64);
    bodies.iter().fold([0.0; 3], |total, body| {
        sum(total, pull(from, body.position, body.mass))
    })
}

/// The acceleration at `from` by a mass at `to`. It is zero if both are the same place.
#[inline]
fn pull(from: NBodyVector, to: NBodyVector, mass: f64) -> NBodyVector {
    let way: NBodyVector = std::array::from_fn(|axis| to[axis] - from[axis]);
    let square = way.iter().map(|part| part * part).sum::<f64>() + SOFTENING;
    let strength = mass / (square * square.sqrt());
    way.map(|part| part * strength)
}

/// Computes a part of the bodies after the tick.
fn move_all<P: Platform>(
    now: &[Body],
    part: SlicePart<Body>,
    force: impl Fn(NBodyVector) -> NBodyVector,
) {
    for (next, body) in part.items.iter_mut().zip(&now[part.first..]) {
        *next = body.moved(force(body.position));
    }
    P::compute(MOVE * part.items.len() as u64);
    P::write(part.items);
}

impl Body {
    fn moved(self, acceleration: NBodyVector) -> Self {
        let velocity = sum(self.velocity, acceleration.map(|part| part * TICK));
        Self {
            position: sum(self.position, velocity.map(|part| part * TICK)),
            velocity,
            mass: self.mass,
        }
    }
}

/// Computes a tick by another method: each pair has one force, which acts on both bodies.
fn tick_by_pairs(bodies: &mut [Body]) {
    let mut accelerations = vec![[0.0; 3]; bodies.len()];
    for (index, body) in bodies.iter().enumerate() {
        for (other_index, other) in bodies.iter().enumerate().take(index) {
            let action = pull(body.position, other.position, 1.0);
            accelerations[index] = sum(accelerations[index], action.map(|part| part * other.mass));
            let reaction = action.map(|part| -part * body.mass);
            accelerations[other_index] = sum(accelerations[other_index], reaction);
        }
    }
    for (body, acceleration) in bodies.iter_mut().zip(accelerations) {
        *body = body.moved(acceleration);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn every_schedule_moves_the_bodies_alike() {
        for form in [Form::Iterator, Form::Reduce] {
            for bodies in [0, 1, 2, 3, 65] {
                check(&mut NBody::new(form, bodies, 5, bodies as u64));
            }
        }
    }

    #[test]
    fn momentum_stays() {
        let mut kernel = NBody::new(Form::Iterator, 100, 10, 3);
        kernel.sequential::<Native>();
        let momentum = kernel.now.iter().fold([0.0; 3], |total, body| {
            sum(total, body.velocity.map(|part| part * body.mass))
        });
        assert!(
            momentum.iter().all(|part| part.abs() < 1e-12),
            "{momentum:?}"
        );
        assert!(kernel.now.iter().any(|body| body.velocity[0].abs() > 1e-3));
    }

    #[test]
    fn a_body_in_the_wrong_place_is_caught() {
        let mut kernel = NBody::new(Form::Iterator, 10, 2, 1);
        kernel.sequential::<Native>();
        kernel.now[7].position[2] += 1e-8;
        let wrong = Wrong::Element {
            what: "body",
            index: 7,
        };
        assert_eq!(kernel.verify(), Err(wrong));
    }
}
