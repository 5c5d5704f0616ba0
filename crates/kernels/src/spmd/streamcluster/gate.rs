//! How the sequential parts of the program hold the ranks back: the gate.

use manycore_platform::{AtomicInteger, CachePadded, Futex, Ordering, Platform};
use std::time::Duration;

/// How long a rank spins before it sleeps. A waiting rank of PARSEC's program
/// sleeps at once, on a condition variable.
const SPIN: Duration = Duration::from_micros(20);

/// Rank 0 lets the others pass, once at a time, and waits until all have
/// arrived.
///
/// PARSEC's program has a condition variable for the one and joins its threads
/// for the other. Neither is a barrier of the program, so none is counted.
///
/// No wake-up is lost: both sides change a word before they wake who sleeps on
/// it, and a sleeper is put to sleep only if the word is as it last saw it.
#[derive(Debug)]
pub(super) struct Gate<P: Platform> {
    /// How often the gate was opened. The others wait for the next time: they
    /// have all passed, and met rank 0 since, before it is opened again.
    opened: CachePadded<P::Futex>,
    /// How often another rank has arrived.
    arrived: CachePadded<P::Futex>,
    others: u32,
}

impl<P: Platform> Gate<P> {
    pub(super) fn new(ranks: usize) -> Self {
        let word = || CachePadded::new(manycore_platform::Atomic::new(0));
        let gate = Self {
            opened: word(),
            arrived: word(),
            others: ranks as u32 - 1,
        };
        P::name(&gate.opened, "streamcluster gate");
        P::name(&gate.arrived, "streamcluster arrivals");
        gate
    }

    /// Rank 0 lets all others pass once.
    pub(super) fn open(&self) {
        // Release: who passes sees what rank 0 wrote before.
        self.opened.fetch_add(1, Ordering::Release);
        if self.others > 0 {
            self.opened.wake(u32::MAX);
        }
    }

    /// Another rank waits until the gate has been opened for the `time`th time,
    /// from 1 on, as it has passed all times before.
    pub(super) fn pass(&self, time: u32) {
        wait_for::<P>(&self.opened, time);
    }

    /// Another rank says that it has arrived.
    pub(super) fn arrive(&self) {
        // Release: rank 0 sees what this rank wrote before; and a chain of
        // read-modify-writes carries what all before it released.
        let before = self.arrived.fetch_add(1, Ordering::Release);
        // Only the last of a round can be waited for.
        if (before + 1).is_multiple_of(self.others) {
            self.arrived.wake(1);
        }
    }

    /// Rank 0 waits until all others have arrived for the `time`th time, from 1
    /// on.
    pub(super) fn wait_for_all(&self, time: u32) {
        wait_for::<P>(&self.arrived, time * self.others);
    }
}

/// Waits until `word`, which is only ever counted up to there, is `value`.
fn wait_for<P: Platform>(word: &P::Futex, value: u32) {
    // Acquire, here and within `spin_while`: what was written before the word
    // became `value` is seen.
    let mut seen = manycore_platform::Atomic::load(word, Ordering::Acquire);
    let until = P::now() + P::duration_to_ticks(SPIN);
    while seen != value {
        let last = seen;
        seen = P::spin_while(word, last, until);
        if seen == last {
            word.wait(last, None);
            seen = manycore_platform::Atomic::load(word, Ordering::Acquire);
        }
    }
}
