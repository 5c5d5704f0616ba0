//! The check of each peer before measurements: a loop runs every index exactly once.

use crate::peer::Loops;
use crate::tasks::Task;
use anyhow::{Result, bail};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

struct Tally {
    runs: Vec<AtomicU32>,
    /// The number of calls with an index beyond the range.
    strays: AtomicU32,
}

/// Runs two loops over `0..n`, and counts the calls of each index.
///
/// # Errors
///
/// If an index ran more or less than once in a loop.
pub(super) fn every_index_once(loops: &mut dyn Loops, n: usize) -> Result<()> {
    let tally = [Tally {
        runs: (0..n).map(|_| AtomicU32::new(0)).collect(),
        strays: AtomicU32::new(0),
    }];
    // SAFETY: `count` reads one `Tally`. Its counters are atomic.
    let task = unsafe { Task::new(count, &tally) };
    for loops_so_far in 1..=2 {
        loops.call(n, task);
        if let Some(i) = tally[0]
            .runs
            .iter()
            .position(|r| r.load(Ordering::Relaxed) != loops_so_far)
        {
            let runs = tally[0].runs[i].load(Ordering::Relaxed);
            bail!("index {i} of {n} ran {runs} times in {loops_so_far} loops");
        }
        match tally[0].strays.load(Ordering::Relaxed) {
            0 => (),
            strays => bail!("{strays} calls had an index not below {n}"),
        }
    }
    // These loops cannot count calls, but they must return.
    loops.trivial(n);
    loops.tiny(n);
    Ok(())
}

unsafe extern "C" fn count(index: usize, tally: *const c_void) {
    // SAFETY: `every_index_once` passed this pointer. Its target is alive until the loops return.
    let tally = unsafe { &*tally.cast::<Tally>() };
    tally
        .runs
        .get(index)
        .unwrap_or(&tally.strays)
        .fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loops that run the indices that a function returns.
    struct Broken(fn(usize) -> Vec<usize>);

    impl Loops for Broken {
        fn call(&mut self, n: usize, task: Task<'_>) {
            (self.0)(n).into_iter().for_each(|i| task.run(i));
        }
        fn trivial(&mut self, _: usize) {}
        fn tiny(&mut self, _: usize) {}
    }

    #[test]
    fn broken_loops_are_caught() {
        assert!(every_index_once(&mut Broken(|n| (0..n).collect()), 100).is_ok());
        assert!(every_index_once(&mut Broken(|n| (1..n).collect()), 100).is_err());
        assert!(every_index_once(&mut Broken(|n| (0..n).chain([7]).collect()), 100).is_err());
        assert!(every_index_once(&mut Broken(|n| (0..=n).collect()), 100).is_err());
    }
}
