//! Threads pinned to given CPUs that begin together.

use crate::threads::start;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Native, Ordering, Platform};
use std::io;
use std::sync::{Arc, mpsc};

/// The meeting point of a team's threads before they start.
struct Start<P: Platform> {
    arrived: CachePadded<P::AtomicUsize>,
    abandoned: P::AtomicBool,
}

impl<P: Platform> Start<P> {
    fn new() -> Self {
        Self {
            arrived: CachePadded::new(P::AtomicUsize::new(0)),
            abandoned: P::AtomicBool::new(false),
        }
    }

    /// Waits until all `threads` have arrived. Returns `false` if one of them could not start.
    fn wait(&self, threads: usize) -> bool {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        while self.arrived.load(Ordering::Acquire) < threads {
            if self.abandoned.load(Ordering::Relaxed) {
                return false;
            }
            P::relax();
        }
        true
    }
}

/// Runs `body(index)` on one thread for each of `cpus`, pinned there. All threads begin within the time that a cache
/// line takes to reach them. Returns their results in the order of `cpus`.
///
/// The caller sleeps meanwhile. Fails if a thread cannot be made or pinned.
pub(super) fn run<R: Send + 'static>(
    cpus: &[usize],
    body: impl Fn(usize) -> R + Send + Sync + 'static,
) -> io::Result<Vec<R>> {
    let places: Vec<Vec<usize>> = cpus.iter().map(|&cpu| vec![cpu]).collect();
    run_on::<Native, R>(&places, body)
}

/// Like [`run`], on any platform, with a set of CPUs for each thread. A thread with an empty set is not pinned.
pub(super) fn run_on<P: Platform, R: Send + 'static>(
    places: &[Vec<usize>],
    body: impl Fn(usize) -> R + Send + Sync + 'static,
) -> io::Result<Vec<R>> {
    let count = places.len();
    let shared = Arc::new((Start::<P>::new(), body));
    let (send, receive) = mpsc::channel();
    let mut threads = Vec::with_capacity(count);
    let mut refused = None;
    for (index, cpus) in places.iter().enumerate() {
        let (team, send) = (Arc::clone(&shared), send.clone());
        let body = move || {
            let (start, body) = &*team;
            if start.wait(count) {
                // The receiver outlives the threads.
                let _ = send.send((index, body(index)));
            }
        };
        match start::<P>(format!("machine-{index}"), cpus.clone(), body) {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                shared.0.abandoned.store(true, Ordering::Relaxed);
                refused = Some(error);
                break;
            }
        }
    }
    drop(send);
    threads.into_iter().for_each(P::join);
    if let Some(error) = refused {
        return Err(error);
    }
    let mut results: Vec<(usize, R)> = receive.into_iter().collect();
    results.sort_by_key(|&(index, _)| index);
    if results.len() < count {
        return Err(io::Error::other("a measuring thread died"));
    }
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let places = vec![Vec::new(); 3];
        assert_eq!(
            run_on::<Native, _>(&places, |index| index * 10).unwrap(),
            [0, 10, 20]
        );
    }

    #[test]
    fn an_impossible_cpu_is_an_error_and_leaves_no_thread_waiting() {
        let places = [Vec::new(), vec![60_000]];
        assert!(run_on::<Native, _>(&places, |_| ()).is_err());
    }
}
