//! Whether others than the pool want its cores: then who waits sleeps, and does not yield.
//!
//! A yield lets other threads of the pool, and its callers, have the core at once, and costs less
//! than a sleep. But if a stranger computes on that core, it takes the core for a whole time
//! slice, of 1 to 4 ms, where a thread that slept would have had its core back as soon as it
//! was woken. Calls from outside, which take 1 to 2 us, took 1,600 us beside two busy processes
//! on two cores.
//!
//! So a yield that lasts as long as a slice is the last one for a while; if the next one does, too,
//! for twice as long. Beside strangers that never rest yields cost 1 part in 200 of the time.

use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::time::Duration;

/// A yield that lasts longer has let a stranger have a time slice. What jobs of the pool itself
/// take that long may be taken for one: then there is time to sleep.
const SLICE: Duration = Duration::from_micros(500);
/// Nobody yields for so long after the first such yield.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// Nor for longer than this.
const LONGEST_PAUSE: Duration = Duration::from_millis(640);

/// What is known of strangers, on a line of its own, which is written when one shows up or
/// has left.
///
/// Relaxed throughout: hints about time.
pub(super) struct Neighbours<P: Platform>(CachePadded<Pause<P>>);

struct Pause<P: Platform> {
    /// Until when nobody yields, in ticks.
    until: P::AtomicU64,
    /// How long it was, in ticks; 0: no stranger has been seen.
    length: P::AtomicU64,
}

impl<P: Platform> Neighbours<P> {
    pub(super) fn new() -> Self {
        Self(CachePadded::new(Pause {
            until: P::AtomicU64::new(0),
            length: P::AtomicU64::new(0),
        }))
    }

    /// Yields the core, unless that cost too much lately: `false`, and who waits sleeps instead.
    pub(super) fn yield_core(&self) -> bool {
        let pause = &self.0;
        let before = P::now();
        if before < pause.until.load(Ordering::Relaxed) {
            return false;
        }
        P::yield_now();
        let now = P::now();
        let length = pause.length.load(Ordering::Relaxed);
        if now.saturating_sub(before) > P::duration_to_ticks(SLICE) {
            let first = P::duration_to_ticks(FIRST_PAUSE);
            let next = (2 * length).clamp(first, P::duration_to_ticks(LONGEST_PAUSE));
            pause.length.store(next, Ordering::Relaxed);
            pause.until.store(now + next, Ordering::Relaxed);
        } else if length > 0 {
            pause.length.store(0, Ordering::Relaxed);
        }
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
