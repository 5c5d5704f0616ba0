//! Random programs of joins, scopes, loops and calls, over the `Pool`s of the parent module: native ones or a
//! checker's.

use super::Pool;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Runs a random program. Returns the number of its leaves.
pub(super) fn run(pools: &[Pool], random: &mut fastrand::Rng, depth: u32) -> usize {
    if depth == 0 {
        return 1;
    }
    let pool = random.choice(pools).expect("there are some");
    let mut parts = [random.fork(), random.fork(), random.fork()];
    let sum = AtomicUsize::new(0);
    match random.u32(0..4) {
        0 => {
            let [one, other, _] = &mut parts;
            let (one, other) = pool.join(
                || run(pools, one, depth - 1),
                || run(pools, other, depth - 1),
            );
            return one + other;
        }
        1 => pool.scope(|scope| {
            for part in &mut parts {
                let sum = &sum;
                scope.spawn(move |_| _ = sum.fetch_add(run(pools, part, depth - 1), Relaxed));
            }
        }),
        2 => pool.parallel_for(0..3, |part| {
            sum.fetch_add(run(pools, &mut parts[part].clone(), depth - 1), Relaxed);
        }),
        _ => return pool.install(|| run(pools, &mut parts[0], depth - 1)),
    }
    sum.into_inner()
}
