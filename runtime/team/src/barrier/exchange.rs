use super::waiting::Waiting;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};

/// Each party announces itself to all other parties, in ceil(log2 n) rounds. In round r a party
/// announces itself to the party 2^r places after it, and waits for the party 2^r places before it.
/// After the round it knows that 2^(r+1) parties have arrived (Hensgen, Finkel and Manber 1988).
///
/// Each party has a word for each round, on a line of its own, with one writer and one reader. The word holds the
/// number of the episode (one meeting of all parties). The published version alternates between two sets of flags
/// instead, and reverses their meaning every second episode.
pub struct Exchange<P: Platform> {
    /// The words of round 0, then those of round 1, and so on.
    told: Box<[CachePadded<P::Futex>]>,
    parties: usize,
}

impl<P: Platform> Exchange<P> {
    /// Makes an exchange between `parties` parties.
    pub fn new(parties: usize) -> Self {
        let rounds = parties.next_power_of_two().trailing_zeros() as usize;
        let word = |_| CachePadded::new(<P::Futex as Atomic<u32>>::new(0));
        Self {
            told: (0..rounds * parties).map(word).collect(),
            parties,
        }
    }

    /// The last episode that the party has announced.
    pub fn told(&self, party: usize) -> u32 {
        // In round 0 a party writes the next party's word. Relaxed: the call happens after the last
        // use of this party by any thread.
        let word = self.told.get((party + 1) % self.parties);
        word.map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Announces `party` in `episode` and waits until all other parties have announced themselves.
    #[inline]
    pub fn meet(&self, waiting: &Waiting<P>, party: usize, episode: u32) {
        let (mut round, mut distance) = (&self.told[..], 1);
        while distance < self.parties {
            let further = party + distance;
            let next = if further < self.parties {
                further
            } else {
                further - self.parties
            };
            waiting.release(&round[next], episode);
            // The announcing party may be one episode ahead, but no further, since the next episode
            // needs this party. So the word holds the previous episode, this episode or the next.
            waiting.wait_while(&round[party], episode.wrapping_sub(1));
            distance *= 2;
            round = &round[self.parties..];
        }
    }
}
