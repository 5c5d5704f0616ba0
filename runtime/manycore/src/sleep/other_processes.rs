//! Whether other processes want the pool's cores: then a thread that waits sleeps, and neither
//! spins nor yields.
//!
//! A yield lets other threads of the pool, and its callers, have the core at once, and costs less
//! than a sleep. But if another process computes on that core, that takes the core for a whole time
//! slice, of 1 to 4 ms, where a thread that has slept has its core back as soon as it is woken. And
//! a thread that spins uses up its share of a core that it has with another process; then it has to
//! wait for a slice to end when there is something to do. Calls from outside, which take 1 to 2
//! us, took 1,600 us beside two busy processes on two cores.
//!
//! So when threads that wait come to run again a time slice late twice within 50 ms, all others
//! stop spinning and yielding for a while; if that happens soon again, for twice as long. Beside
//! processes that never rest the attempts cost less than 1 part in 100 of the time.
//!
//! A late thread counts only if a caller waited for it: the caller is late itself, or a worker without work is late
//! while a caller from outside waits.
//!
//! Not every wait of a time slice is another process's doing. A caller from outside that yields its
//! core to the workers that run its call comes back when they are done: it is late only by what has
//! passed since its call was over. And a thread of a pool that has work for all cores waits for the
//! others of that pool.

use crate::times::{FIRST_PAUSE, LATELY, LONGEST_PAUSE, SLICE};
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};

/// The pool's knowledge of other processes, on a line of its own, written when one appears.
///
/// Relaxed throughout: hints about time.
pub(super) struct OtherProcesses<P: Platform>(CachePadded<Pause<P>>);

struct Pause<P: Platform> {
    /// When a thread last ran again a time slice late, in ticks.
    late: P::AtomicU64,
    /// The end of the time without spinning or yielding, in ticks.
    until: P::AtomicU64,
    /// How long that has been, in ticks; 0: none has been seen.
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

    /// Whether a thread that waits had better sleep, at time `now`.
    pub(super) fn are_running(&self, now: u64) -> bool {
        now < self.0.until.load(Ordering::Relaxed)
    }

    /// A thread that waits runs again, `now`, and had something to do since `due`: another process
    /// has come between if that is long ago. None has if the pool's own threads have `filled` the
    /// cores at some time since then: the thread may have been late because of them.
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
            // Another thread has noticed.
            return;
        }
        // Once in a while a system has something of its own to do.
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

    /// Whether another process was ever seen.
    #[cfg(test)]
    pub(super) fn were_noticed(&self) -> bool {
        self.0.length.load(Ordering::Relaxed) != 0
    }

    /// Yields the core, unless other processes would take it: `false`, and the thread that waits
    /// sleeps instead. `filled`: as in [`notice`](Self::notice).
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
    /// Cycles, 24 us: some wake-ups, and the other processes' slices in between. If a caller yields
    /// without a limit, two other processes make it 100,000 and more.
    const A_CALL: u64 = 60_000;

    /// Cycles of a call by a thread from outside, with this number of other processes on two cores.
    fn call_beside(processes: usize, threads: usize) -> u64 {
        let mut machine = Config::preset("graviton2-64").expect("it comes along");
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
                Simulated::spawn(spec, Box::new(busy)).expect("there is room for it")
            };
            let processes: Vec<_> = (0..processes).map(process).collect();
            let pool = Builder::<Simulated>::on_platform()
                .dedicated(true)
                .build_on(2, 1, vec![vec![]; threads])
                .expect("there is room for the threads");
            let before = Simulated::now();
            for call in 0..CALLS {
                let sum = pool.install(|| pool.join(|| call, || 1));
                assert_eq!(sum, (call, 1));
            }
            result.store((Simulated::now() - before) / CALLS, Relaxed);
            stop.store(true, Relaxed);
            processes.into_iter().for_each(Simulated::join);
        });
        run.expect("it ends");
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

    /// Runs a random program of loops, joins and scopes of 0.01 to 4 ms, from one or two threads
    /// outside, in a pool that has all the machine's cores to itself; whether it says that
    /// other processes run.
    fn sees_other_processes(seed: u64) -> bool {
        let mut random = fastrand::Rng::with_seed(seed);
        let cores = random.u32(1..=4);
        let threads = random.usize(1..=2 * cores as usize);
        let dedicated = random.bool();
        let callers = random.usize(1..=2);
        let mut machine = Config::preset("graviton2-64").expect("it comes along");
        (machine.cores, machine.group_cores) = (cores, cores);
        // Idle cores take threads that wait within 40 us: which thread waits beside an idle core
        // is the system's doing, and none of the pool's.
        (machine.os.tick, machine.os.tick_cost, machine.os.hot) = (50_000, 0, 0);
        machine.os.balance = 1;
        let seen = Arc::new(AtomicBool::new(false));
        let result = Arc::clone(&seen);
        let run = Simulation::new(&machine).run(move || {
            let pool = Builder::<Simulated>::on_platform()
                .dedicated(dedicated)
                .build_on(cores as usize, 1, vec![vec![]; threads])
                .expect("there is room for the threads");
            let pool = Arc::new(pool);
            let caller = |number| {
                let (pool, mut random) = (Arc::clone(&pool), random.fork());
                let spec = ThreadSpec {
                    name: format!("caller {number}"),
                    ..ThreadSpec::default()
                };
                let calls = move || (0..12).for_each(|_| a_call(&pool, &mut random));
                Simulated::spawn(spec, Box::new(calls)).expect("there is room for it")
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
        run.expect("it ends");
        seen.load(Relaxed)
    }

    /// One call from outside, whose threads compute for 10,000 to 10,000,000 cycles together.
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

    /// A pool does not count its own work as another process. Otherwise its threads would not spin
    /// for most of the time, and would pay for sleeping and waking instead.
    #[test]
    #[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
    fn a_pool_is_no_other_process_to_itself() {
        let wrong: Vec<u64> = (0..300)
            .filter(|&seed| sees_other_processes(seed))
            .collect();
        assert!(wrong.is_empty(), "seeds {wrong:?}");
    }
}
