use super::waiting::Waiting;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};

/// All tell all that they are there, in ceil(log2 n) rounds: in round r each tells
/// the one 2^r further on, and waits to be told by the one 2^r before it, so that
/// it then knows of 2^(r+1) of them (Hensgen, Finkel and Manber 1988).
///
/// A word a party and round, on a line of its own, written by one and read by one.
/// It holds the number of the episode. The published version has two sets of flags,
/// used by turns, whose meaning is reversed every other time: that keeps apart what
/// the number does.
pub struct Exchange<P: Platform> {
    /// Round by round.
    told: Box<[CachePadded<P::Futex>]>,
    parties: usize,
}

impl<P: Platform> Exchange<P> {
    /// For so many parties.
    pub fn new(parties: usize) -> Self {
        let rounds = parties.next_power_of_two().trailing_zeros() as usize;
        let word = |_| CachePadded::new(<P::Futex as Atomic<u32>>::new(0));
        Self {
            told: (0..rounds * parties).map(word).collect(),
            parties,
        }
    }

    /// The last episode in which the party has told somebody, which nobody else writes down in
    /// its name.
    pub fn told(&self, party: usize) -> u32 {
        // The first round's, in which it tells the one after it. Relaxed: the caller comes after
        // who was this party before.
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
            // The party that tells may be in the next episode by now, and no further: that one
            // takes this party. So the word holds the episode before, or it is time.
            waiting.wait_while(&round[party], episode.wrapping_sub(1));
            distance *= 2;
            round = &round[self.parties..];
        }
    }
}
