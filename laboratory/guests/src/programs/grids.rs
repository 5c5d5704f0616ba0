//! Loops over pixels, bodies, and the frontier of a search.

use super::results::Results;
use super::{Failure, expect};
use crate::calls::Calls;
use crate::runtime::Runtime;
use crate::work::mix;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A mean over 3 x 3 pixels. Each iteration is a row.
pub(super) fn blur<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    const SIDE: usize = 256;
    let image: Vec<u8> = (0..(SIDE * SIDE) as u64).map(|at| mix(at) as u8).collect();
    let blurred = Results::new(SIDE * SIDE);
    let mean = |x: usize, y: usize| {
        let near = |at: usize| at.saturating_sub(1)..(at + 2).min(SIDE);
        let mut sum = 0;
        for y in near(y) {
            for x in near(x) {
                sum += u64::from(image[y * SIDE + x]);
            }
        }
        sum / (near(x).len() * near(y).len()) as u64
    };
    calls.make(|_| {
        R::parallel_for(context, SIDE, |y| {
            (0..SIDE).for_each(|x| blurred.set(y * SIDE + x, mean(x, y)));
        });
    });
    blurred.expect(|at| mean(at as usize % SIDE, at as usize / SIDE))
}

/// A step of bodies that attract each other: a loop for the forces, and one for the places.
pub(super) fn nbody<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    const BODIES: usize = 256;
    let part = |at: u64| (mix(at) >> 11) as f64 / (1_u64 << 53) as f64;
    let places: Vec<[f64; 3]> = (0..BODIES as u64)
        .map(|body| [0, 1, 2].map(|axis| part(3 * body + axis)))
        .collect();
    let force = |body: usize| {
        places.iter().fold([0.0; 3], |sum: [f64; 3], other| {
            let away = [0, 1, 2].map(|axis| other[axis] - places[body][axis]);
            let square = away.iter().map(|one| one * one).sum::<f64>() + 1e-3;
            let weight = 1.0 / (square * square.sqrt());
            [0, 1, 2].map(|axis| sum[axis] + weight * away[axis])
        })
    };
    let moved = |at: usize, force: f64| (places[at / 3][at % 3] + 1e-6 * force).to_bits();
    let (forces, steps) = (Results::new(3 * BODIES), Results::new(3 * BODIES));
    calls.make(|_| {
        R::parallel_for(context, BODIES, |body| {
            let force = force(body);
            (0..3).for_each(|axis| forces.set(3 * body + axis, force[axis].to_bits()));
        });
        R::parallel_for(context, BODIES, |body| {
            for at in 3 * body..3 * body + 3 {
                steps.set(at, moved(at, f64::from_bits(forces.get(at))));
            }
        });
    });
    steps.expect(|at| moved(at as usize, force(at as usize / 3)[at as usize % 3]))
}

/// A breadth-first search of a grid from a corner, with a loop for each level.
pub(super) fn bfs<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    const SIDE: usize = 128;
    const UNSEEN: u64 = u64::MAX;
    let distances = Results::new(SIDE * SIDE);
    let frontiers = [0, 1].map(|_| Results::new(SIDE * SIDE));
    let mut levels = 0;
    let unseen = |_: &mut ()| distances.fill(UNSEEN);
    calls.make_on(&mut (), unseen, |(), _| {
        distances.set(0, 0);
        frontiers[0].set(0, 0);
        let mut found = 1;
        levels = 0;
        while found > 0 {
            let (frontier, next) = (&frontiers[levels % 2], &frontiers[1 - levels % 2]);
            levels += 1;
            let (distance, count) = (levels as u64, AtomicUsize::new(0));
            R::parallel_for(context, found, |at| {
                let vertex = frontier.get(at) as usize;
                let (x, y) = (vertex % SIDE, vertex / SIDE);
                let visit = |near: usize| {
                    if distances.get(near) == UNSEEN && distances.claim(near, UNSEEN, distance) {
                        next.set(count.fetch_add(1, Relaxed), near as u64);
                    }
                };
                if x > 0 {
                    visit(vertex - 1);
                }
                if x + 1 < SIDE {
                    visit(vertex + 1);
                }
                if y > 0 {
                    visit(vertex - SIDE);
                }
                if y + 1 < SIDE {
                    visit(vertex + SIDE);
                }
            });
            found = count.into_inner();
        }
    });
    expect("levels", levels, 2 * SIDE - 1)?;
    distances.expect(|at| at % SIDE as u64 + at / SIDE as u64)
}
