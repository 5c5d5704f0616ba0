//! The shortest round trip, by branch and bound.

use crate::Program;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

const CITIES: usize = 10;
/// Trips with this many cities left are searched serially.
const SERIAL: usize = 5;
type Distances = [[u32; CITIES]; CITIES];

pub fn programs() -> Vec<Program> {
    let mut random = fastrand::Rng::with_seed(10);
    let at: [(f64, f64); CITIES] = std::array::from_fn(|_| (random.f64(), random.f64()));
    let distances: Distances = std::array::from_fn(|a| {
        let from = at[a];
        at.map(|to| ((from.0 - to.0).hypot(from.1 - to.1) * 10_000.0) as u32)
    });
    let expected = by_subsets(&distances);
    vec![Program::giving(
        "tsp",
        move || by_search(&distances),
        expected,
    )]
}

fn by_search(distances: &Distances) -> u32 {
    let best = AtomicU32::new(u32::MAX);
    let left = (1 << CITIES) - 2;
    branch(distances, &best, 0, left, 0);
    best.into_inner()
}

/// Goes on from `city` to each of the cities that are `left`.
fn branch(distances: &Distances, best: &AtomicU32, city: usize, left: usize, so_far: u32) {
    // The best one so far is a bound, however old.
    if so_far >= best.load(Ordering::Relaxed) {
        return;
    }
    if left == 0 {
        best.fetch_min(so_far + distances[city][0], Ordering::Relaxed);
        return;
    }
    let go_on = |next: usize| {
        if left >> next & 1 == 1 {
            let length = so_far + distances[city][next];
            branch(distances, best, next, left & !(1 << next), length);
        }
    };
    if left.count_ones() as usize <= SERIAL {
        (0..CITIES).for_each(go_on);
    } else {
        (0..CITIES).into_par_iter().for_each(go_on);
    }
}

/// Another way: the shortest way through each set of cities, by dynamic programming.
fn by_subsets(distances: &Distances) -> u32 {
    let mut shortest = vec![[u32::MAX; CITIES]; 1 << CITIES];
    shortest[1][0] = 0;
    for set in 1..1 << CITIES {
        let reached = shortest[set].into_iter().enumerate();
        for (last, from) in reached.filter(|&(_, length)| length != u32::MAX) {
            for next in (0..CITIES).filter(|next| set >> next & 1 == 0) {
                let to = &mut shortest[set | 1 << next][next];
                *to = (*to).min(from + distances[last][next]);
            }
        }
    }
    let all = shortest[(1 << CITIES) - 1];
    (1..CITIES)
        .map(|last| all[last] + distances[last][0])
        .min()
        .unwrap()
}
