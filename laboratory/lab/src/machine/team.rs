//! Threads pinned to given CPUs that begin together.

use crate::measure::disturbance::Watch;
use crate::threads::start;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Native, Ordering, Platform};
use std::any::TypeId;
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
            // Simulated threads wait for no CPU of this host.
            let is_native = TypeId::of::<P>() == TypeId::of::<Native>();
            let watch = is_native.then(Watch::begin);
            if start.wait(count) {
                let result = body(index);
                watch.into_iter().for_each(Watch::end);
                // The receiver outlives the threads.
                let _ = send.send((index, result));
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

    /// Two threads that share a CPU wait for each other.
    #[test]
    #[cfg(target_os = "linux")]
    fn waiting_for_a_cpu_is_seen_after_the_threads_have_ended() {
        use crate::measure::disturbance::seen;
        use std::time::{Duration, Instant};
        let cpu = manycore::topology::Topology::detect().usable()[0].id;
        let [waited, watched] = seen();
        run(&[cpu, cpu], |_| {
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_millis(60) {}
        })
        .unwrap();
        let [more_waited, more_watched] = seen();
        // Without the kernel's statistics nothing is watched.
        assert!(more_waited > waited || more_watched == watched);
    }

    #[test]
    fn an_impossible_cpu_is_an_error_and_leaves_no_thread_waiting() {
        let places = [Vec::new(), vec![60_000]];
        assert!(run_on::<Native, _>(&places, |_| ()).is_err());
    }
}
