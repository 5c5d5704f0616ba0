//! The gate, at which ranks (threads of the team) wait while rank 0 runs a sequential part.

use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Ordering, Platform};
use std::time::Duration;

/// How long a rank spins before it sleeps. PARSEC's program sleeps at once, on a condition
/// variable.
const SPIN: Duration = Duration::from_micros(20);

/// Rank 0 opens the gate, and each other rank passes once. Later rank 0 waits until all others have arrived.
///
/// Where this program opens the gate, PARSEC's program uses a condition variable. Where rank 0 waits, PARSEC's program
/// joins its threads. Neither counts as a barrier.
///
/// No wake-up is lost: both sides change a word before they wake its sleepers, and a rank sleeps
/// only if the word still has the value that it last saw.
pub(super) struct Gate<P: Platform> {
    /// How often rank 0 has opened the gate. Before rank 0 opens the gate again, all others have passed and arrived.
    opened: Box<CachePadded<P::Futex>>,
    /// The number of arrivals of other ranks.
    arrived: Box<CachePadded<P::Futex>>,
    others: u32,
}

impl<P: Platform> Gate<P> {
    pub(super) fn new(ranks: usize) -> Self {
        // The words are boxed, so that they stay at the announced addresses.
        let word = || Box::new(CachePadded::new(Atomic::new(0)));
        let gate = Self {
            opened: word(),
            arrived: word(),
            others: ranks as u32 - 1,
        };
        P::name(&**gate.opened, "streamcluster gate");
        P::name(&**gate.arrived, "streamcluster arrivals");
        gate
    }

    /// Rank 0 lets all others pass once.
    pub(super) fn open(&self) {
        // Release: a rank that passes sees the earlier writes of rank 0.
        self.opened.fetch_add(1, Ordering::Release);
        if self.others > 0 {
            self.opened.wake(u32::MAX);
        }
    }

    /// Another rank waits until rank 0 has opened the gate `time` times. The waiting rank has passed `time - 1` times
    /// before.
    pub(super) fn pass(&self, time: u32) {
        wait_for::<P>(&self.opened, time);
    }

    /// Another rank arrives.
    pub(super) fn arrive(&self) {
        // Release: rank 0 sees the earlier writes of this rank. The read-modify-writes form a chain
        // that carries the releases of all ranks before.
        let before = self.arrived.fetch_add(1, Ordering::Release);
        // Rank 0 waits only for the last arrival of a round.
        if (before + 1).is_multiple_of(self.others) {
            self.arrived.wake(1);
        }
    }

    /// Rank 0 waits until all others have arrived `time` times.
    pub(super) fn wait_for_all(&self, time: u32) {
        wait_for::<P>(&self.arrived, time * self.others);
    }
}

/// Waits until `word` is `value`. The word counts up and does not pass `value` meanwhile.
fn wait_for<P: Platform>(word: &P::Futex, value: u32) {
    // Acquire, here and within `spin_while`: this rank sees the writes before the word became
    // `value`.
    let mut seen = Atomic::load(word, Ordering::Acquire);
    let until = P::now() + P::duration_to_ticks(SPIN);
    while seen != value {
        let last = seen;
        seen = P::spin_while(word, last, until);
        if seen == last {
            word.wait(last, None);
            seen = Atomic::load(word, Ordering::Acquire);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_check::{Deaf, Faulty, Loom, Relaxed, Shuttle, caught, loom_model, team};
    use manycore_check::{shuttle_pct, shuttle_random};

    /// Each time, rank 0 writes a new number before it opens the gate, and reads the answers of the others after all
    /// have arrived.
    fn all_hear_and_are_heard<P: Platform>(ranks: usize, times: u32) {
        let gate = Gate::<P>::new(ranks);
        let said = P::AtomicU32::new(0);
        let answers: Vec<_> = (0..ranks).map(|_| P::AtomicU32::new(0)).collect();
        team::<P>(ranks, |rank| {
            for time in 1..=times {
                if rank == 0 {
                    // Relaxed, as for the answers: the gate orders these accesses.
                    said.store(10 * time, Ordering::Relaxed);
                    gate.open();
                    gate.wait_for_all(time);
                    let heard = answers[1..]
                        .iter()
                        .map(|answer| answer.load(Ordering::Relaxed));
                    assert!(
                        heard.eq((1..ranks as u32).map(|rank| 10 * time + rank)),
                        "unheard"
                    );
                } else {
                    gate.pass(time);
                    let heard = said.load(Ordering::Relaxed);
                    answers[rank].store(heard + rank as u32, Ordering::Relaxed);
                    gate.arrive();
                }
            }
        });
    }

    #[test]
    fn a_rank_alone_does_not_wait() {
        all_hear_and_are_heard::<manycore_platform::Native>(1, 3);
    }

    #[test]
    fn two_ranks_in_every_interleaving() {
        loom_model(None, || all_hear_and_are_heard::<Loom>(2, 1));
        loom_model(Some(2), || all_hear_and_are_heard::<Loom>(2, 2));
    }

    #[test]
    fn three_ranks_in_most_interleavings() {
        loom_model(Some(2), || all_hear_and_are_heard::<Loom>(3, 1));
    }

    #[test]
    fn more_ranks_in_random_schedules() {
        shuttle_random(300, || all_hear_and_are_heard::<Shuttle>(5, 3));
        shuttle_pct(300, 3, || all_hear_and_are_heard::<Shuttle>(4, 3));
    }

    #[test]
    fn faults_of_the_platform_are_caught() {
        let relaxed = || all_hear_and_are_heard::<Faulty<Loom, Relaxed>>(2, 1);
        assert!(caught(|| loom_model(None, relaxed)).contains("unheard"));
        let deaf = || all_hear_and_are_heard::<Faulty<Loom, Deaf>>(2, 1);
        assert!(caught(|| loom_model(None, deaf)).contains("deadlock"));
    }
}
