//! Detects other processes that want the pool's cores. While there are such processes, waiting threads sleep, and
//! neither spin nor yield.
//!
//! A yield gives the core at once to other threads of the pool and its callers, and costs less than a sleep. But if
//! another process computes on that core, this process keeps the core for a whole time slice of 1 to 4 ms. A thread
//! that sleeps instead gets its core back as soon as it is woken. Spinning costs time too: the spinning thread uses up
//! its share of the core, and when work arrives, the thread must wait until the time slice of the other process ends.
//! Calls from outside the pool took 1,600 us beside two busy processes on two cores, and 1 to 2 us without them.
//!
//! A waiting thread is *late* if it runs again only a time slice after it got something to do. If threads are late
//! twice within 50 ms, all threads stop spinning and yielding for a pause. If threads are late again soon after the
//! pause, the next pause is twice as long. Beside processes that never rest, the attempts to spin or yield between the
//! pauses take less than 1% of the time.
//!
//! A late thread counts only if a caller waited for it. So the late thread must be the caller itself, or a worker
//! without work while a caller from outside waits.
//!
//! The pool itself can make its threads late. A caller from outside yields its core to the workers that run its call,
//! so the caller's lateness counts from the end of the call. If the pool has work for all cores, its threads wait for
//! one another, and none counts as late.

use crate::times::{FIRST_PAUSE, LATELY, LONGEST_PAUSE, SLICE};
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};

/// The pool's knowledge of other processes, on its own cache line. It is written when a thread is late.
///
/// All accesses are relaxed, because these are hints about time.
pub(super) struct OtherProcesses<P: Platform>(CachePadded<Pause<P>>);

struct Pause<P: Platform> {
    /// When a thread was last late, in ticks.
    late: P::AtomicU64,
    /// The end of the last pause, in ticks.
    until: P::AtomicU64,
    /// The length of the last pause, in ticks, or 0 if there was none.
    length: P::AtomicU64,
}

impl<P: Platform> OtherProcesses<P> {
    pub(super) fn new() -> Self {
        Self(CachePadded::new(Pause {
            late: P::AtomicU64::new(0),
            until: P::AtomicU64::new(0),
            length: P::AtomicU64::new(0),
        }))
    }

    /// Whether waiting threads should sleep at time `now`.
    pub(super) fn are_running(&self, now: u64) -> bool {
        now < self.0.until.load(Ordering::Relaxed)
    }

    /// A waiting thread runs again at `now`, and had something to do since `due`. If `due` is long ago, another
    /// process has delayed the thread. But if `filled(due)` returns `true`, the pool's own threads had work for all
    /// cores at some time since `due`, and may have delayed the thread.
    pub(super) fn notice(&self, due: u64, now: u64, filled: impl FnOnce(u64) -> bool) {
        if now.saturating_sub(due) > P::duration_to_ticks(SLICE) && !filled(due) {
            self.pause(now);
        }
    }

    #[cold]
    fn pause(&self, now: u64) {
        let Pause {
            late,
            until,
            length,
        } = &*self.0;
        let (before, last) = (
            length.load(Ordering::Relaxed),
            until.load(Ordering::Relaxed),
        );
        if now < last {
            // Another thread has begun this pause.
            return;
        }
        // The system itself may delay one thread, so the first delay is only recorded.
        let lately = now - late.load(Ordering::Relaxed).min(now) <= P::duration_to_ticks(LATELY);
        late.store(now, Ordering::Relaxed);
        if !lately && now - last > before {
            return;
        }
        let first = P::duration_to_ticks(FIRST_PAUSE);
        let next = if now - last > before {
            first
        } else {
            (2 * before).clamp(first, P::duration_to_ticks(LONGEST_PAUSE))
        };
        length.store(next, Ordering::Relaxed);
        until.store(now + next, Ordering::Relaxed);
    }

    /// Whether there was ever a pause.
    #[cfg(test)]
    pub(super) fn were_noticed(&self) -> bool {
        self.0.length.load(Ordering::Relaxed) != 0
    }

    /// Yields the core. During a pause returns `false`, without a yield, and the waiting thread should sleep. `filled`
    /// is as in [`notice`](Self::notice).
    pub(super) fn yield_core(&self, filled: impl FnOnce(u64) -> bool) -> bool {
        let before = P::now();
        if self.are_running(before) {
            return false;
        }
        P::yield_now();
        self.notice(before, P::now(), filled);
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::{Builder, Pool};
    use manycore_chip::config::Config;
    use manycore_chip::{Simulated, Simulation};
    use manycore_platform::{Platform, ThreadSpec};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

    const CALLS: u64 = 4_000;
    /// The most cycles for a call, 24 us: several wake-ups, and time slices of other processes. If callers yielded
    /// without a limit, a call beside two other processes would take more than 100,000 cycles.
    const A_CALL: u64 = 60_000;

    /// Returns the mean cycles of a call from outside the pool, with `processes` other processes on two cores.
    fn call_beside(processes: usize, threads: usize) -> u64 {
        let mut machine = Config::preset("graviton2-64").expect("the preset exists");
        (machine.cores, machine.group_cores) = (2, 2);
        let took = Arc::new(AtomicU64::new(0));
        let result = Arc::clone(&took);
        let run = Simulation::new(&machine).run(move || {
            let stop = Arc::new(AtomicBool::new(false));
            let process = |number| {
                let stop = Arc::clone(&stop);
                let name = format!("stranger {number}");
                let spec = ThreadSpec {
                    name,
                    ..ThreadSpec::default()
                };
                let busy = move || {
                    while !stop.load(Relaxed) {
                        Simulated::compute(100_000);
                    }
                };
                Simulated::spawn(spec, Box::new(busy)).expect("the thread starts")
            };
            let processes: Vec<_> = (0..processes).map(process).collect();
            let pool = Builder::<Simulated>::on_platform()
                .dedicated(true)
                .build_on(2, 1, vec![vec![]; threads])
                .expect("the threads start");
            let before = Simulated::now();
            for call in 0..CALLS {
                let sum = pool.install(|| pool.join(|| call, || 1));
                assert_eq!(sum, (call, 1));
            }
            result.store((Simulated::now() - before) / CALLS, Relaxed);
            stop.store(true, Relaxed);
            processes.into_iter().for_each(Simulated::join);
        });
        run.expect("the simulation ends");
        took.load(Relaxed)
    }

    #[test]
    #[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
    fn a_call_is_not_late_beside_other_processes() {
        for threads in 1..=4 {
            for processes in 0..=3 {
                let took = call_beside(processes, threads);
                println!("{threads} threads, {processes} processes: {took} cycles a call");
                assert!(
                    took < A_CALL,
                    "{threads} threads, {processes} processes: {took}"
                );
            }
        }
    }

    /// Runs a random program of loops, joins and scopes of 0.01 to 4 ms, from one or two threads outside the
    /// pool. No other process uses the machine's cores. Returns whether the pool has noticed another process.
    fn sees_other_processes(seed: u64) -> bool {
        let mut random = fastrand::Rng::with_seed(seed);
        let cores = random.u32(1..=4);
        let threads = random.usize(1..=2 * cores as usize);
        let dedicated = random.bool();
        let callers = random.usize(1..=2);
        let mut machine = Config::preset("graviton2-64").expect("the preset exists");
        (machine.cores, machine.group_cores) = (cores, cores);
        // An idle core takes a waiting thread within 40 us. Otherwise the system could delay a thread beside an idle
        // core, which the pool cannot prevent.
        (machine.os.tick, machine.os.tick_cost, machine.os.hot) = (50_000, 0, 0);
        machine.os.balance = 1;
        let seen = Arc::new(AtomicBool::new(false));
        let result = Arc::clone(&seen);
        let run = Simulation::new(&machine).run(move || {
            let pool = Builder::<Simulated>::on_platform()
                .dedicated(dedicated)
                .build_on(cores as usize, 1, vec![vec![]; threads])
                .expect("the threads start");
            let pool = Arc::new(pool);
            let caller = |number| {
                let (pool, mut random) = (Arc::clone(&pool), random.fork());
                let spec = ThreadSpec {
                    name: format!("caller {number}"),
                    ..ThreadSpec::default()
                };
                let calls = move || (0..12).for_each(|_| a_call(&pool, &mut random));
                Simulated::spawn(spec, Box::new(calls)).expect("the thread starts")
            };
            let callers: Vec<_> = (0..callers).map(caller).collect();
            callers.into_iter().for_each(Simulated::join);
            let noticed = pool
                .registry()
                .shared()
                .idle()
                .have_noticed_other_processes();
            result.store(noticed, Relaxed);
        });
        run.expect("the simulation ends");
        seen.load(Relaxed)
    }

    /// Makes one call from outside the pool. Its threads compute for 10,000 to 10,240,000 cycles in sum.
    fn a_call(pool: &Pool<Simulated>, random: &mut fastrand::Rng) {
        fn halves(pool: &Pool<Simulated>, pieces: u64, piece: u64) {
            match pieces {
                0 | 1 => Simulated::compute(piece),
                _ => {
                    let left = || halves(pool, pieces / 2, piece);
                    pool.join(left, || halves(pool, pieces - pieces / 2, piece));
                }
            }
        }
        let total = 10_000 << random.u32(0..=10);
        let pieces = 1 << random.u32(0..=6);
        let piece = total / pieces;
        match random.u32(0..4) {
            0 => pool.install(|| halves(pool, pieces, piece)),
            1 => pool.parallel_for(0..pieces as usize, |_| Simulated::compute(piece)),
            2 => pool.scope(|scope| {
                (0..pieces).for_each(|_| scope.spawn(move |_| Simulated::compute(piece)));
            }),
            _ => pool.install(|| {
                pool.parallel_for(0..4, |_| halves(pool, pieces, piece / 4));
            }),
        }
    }

    /// A pool must not take its own work for the work of another process. Otherwise its threads would hardly ever
    /// spin, and would sleep and wake for each call.
    #[test]
    #[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
    fn a_pool_does_not_take_itself_for_another_process() {
        let wrong: Vec<u64> = (0..300)
            .filter(|&seed| sees_other_processes(seed))
            .collect();
        assert!(wrong.is_empty(), "seeds {wrong:?}");
    }
}
