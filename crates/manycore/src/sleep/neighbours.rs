//! Whether others than the pool want its cores: then who waits sleeps, and neither spins nor
//! yields.
//!
//! A yield lets other threads of the pool, and its callers, have the core at once, and costs less
//! than a sleep. But if a stranger computes on that core, it takes the core for a whole time
//! slice, of 1 to 4 ms, where a thread that has slept has its core back as soon as it is woken. And
//! a thread that spins uses up its share of a core that it has with a stranger; then it has to
//! wait for a slice to end when there is something to do. Calls from outside, which take 1 to 2
//! us, took 1,600 us beside two busy processes on two cores.
//!
//! So when a thread that waits comes to run again a time slice late, all others stop
//! spinning and yielding for a while; if that happens soon again, for twice as long. Beside
//! strangers that never rest the attempts cost less than 1 part in 100 of the time.

use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::time::Duration;

/// A thread that runs again later than this has waited for a stranger's time slice. What jobs of
/// the pool itself take that long may be taken for one: then there is time to sleep.
const SLICE: Duration = Duration::from_micros(500);
/// For so long nobody spins or yields when that has happened once.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// Nor for longer than this.
const LONGEST_PAUSE: Duration = Duration::from_millis(640);

/// What is known of strangers, on a line of its own, which is written when one shows up.
///
/// Relaxed throughout: hints about time.
pub(super) struct Neighbours<P: Platform>(CachePadded<Pause<P>>);

struct Pause<P: Platform> {
    /// Until when nobody spins or yields, in ticks.
    until: P::AtomicU64,
    /// How long that has been, in ticks; 0: no stranger has been seen.
    length: P::AtomicU64,
}

impl<P: Platform> Neighbours<P> {
    pub(super) fn new() -> Self {
        Self(CachePadded::new(Pause {
            until: P::AtomicU64::new(0),
            length: P::AtomicU64::new(0),
        }))
    }

    /// Whether a thread that waits had better sleep, at time `now`.
    pub(super) fn are_about(&self, now: u64) -> bool {
        now < self.0.until.load(Ordering::Relaxed)
    }

    /// A thread that waits runs again, `now`, and was to run at `due`; whether a stranger has
    /// come between.
    pub(super) fn notice(&self, due: u64, now: u64) -> bool {
        let late = now.saturating_sub(due) > P::duration_to_ticks(SLICE);
        if late {
            self.pause(now);
        }
        late
    }

    #[cold]
    fn pause(&self, now: u64) {
        let Pause { until, length } = &*self.0;
        let (before, last) = (
            length.load(Ordering::Relaxed),
            until.load(Ordering::Relaxed),
        );
        if now < last {
            // Another thread has noticed.
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

    /// Yields the core, unless strangers would take it: `false`, and who waits sleeps instead.
    pub(super) fn yield_core(&self) -> bool {
        let before = P::now();
        if self.are_about(before) {
            return false;
        }
        P::yield_now();
        self.notice(before, P::now());
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::Builder;
    use manycore_chip::config::Config;
    use manycore_chip::{Simulated, Simulation};
    use manycore_platform::{Platform, ThreadSpec};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

    const CALLS: u64 = 4_000;
    /// Cycles, 24 us: some wake-ups, and their share of the slices that strangers have had. Where a
    /// caller yields however long that takes, two strangers make it 100,000 and more.
    const A_CALL: u64 = 60_000;

    /// Cycles that a call takes a thread from outside, beside so many strangers on two cores.
    fn call_beside(strangers: usize, threads: usize) -> u64 {
        let mut machine = Config::preset("graviton2-64").expect("it comes along");
        (machine.cores, machine.group_cores) = (2, 2);
        let took = Arc::new(AtomicU64::new(0));
        let result = Arc::clone(&took);
        let run = Simulation::new(&machine).run(move || {
            let stop = Arc::new(AtomicBool::new(false));
            let stranger = |number| {
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
            let strangers: Vec<_> = (0..strangers).map(stranger).collect();
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
            strangers.into_iter().for_each(Simulated::join);
        });
        run.expect("it ends");
        took.load(Relaxed)
    }

    #[test]
    #[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
    fn a_call_is_not_late_beside_strangers() {
        for threads in 1..=4 {
            for strangers in 0..=3 {
                let took = call_beside(strangers, threads);
                println!("{threads} threads, {strangers} strangers: {took} cycles a call");
                assert!(
                    took < A_CALL,
                    "{threads} threads, {strangers} strangers: {took}"
                );
            }
        }
    }
}
