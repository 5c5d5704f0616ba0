use super::waiting::Waiting;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};

/// Every party announces itself to every other, in ceil(log2 n) rounds. In round r a party
/// announces itself to the party 2^r further on and waits for the party 2^r before it. After the
/// round it knows of 2^(r+1) parties (Hensgen, Finkel and Manber 1988).
///
/// A word for each party and round, on a line of its own, with one writer and one reader. It holds
/// the number of the episode. The published version alternates between two sets of flags and
/// reverses their meaning every other time; the number makes both unnecessary.
pub struct Exchange<P: Platform> {
    /// Round by round.
    told: Box<[CachePadded<P::Futex>]>,
    parties: usize,
}

impl<P: Platform> Exchange<P> {
    /// For `parties` parties.
    pub fn new(parties: usize) -> Self {
        let rounds = parties.next_power_of_two().trailing_zeros() as usize;
        let word = |_| CachePadded::new(<P::Futex as Atomic<u32>>::new(0));
        Self {
            told: (0..rounds * parties).map(word).collect(),
            parties,
        }
    }

    /// The last episode that the party has announced. Only the party writes this word.
    pub fn told(&self, party: usize) -> u32 {
        // The word of the first round, for the next party. Relaxed: the caller comes after the
        // thread that was this party before.
        let word = self.told.get((party + 1) % self.parties);
        word.map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Meets the others in `episode`.
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
            // The announcing party may be in the next episode by now, but not further: the next
            // episode needs this party. So the word holds the episode before, or this episode or
            // the next.
            waiting.wait_while(&round[party], episode.wrapping_sub(1));
            distance *= 2;
            round = &round[self.parties..];
        }
    }
}
