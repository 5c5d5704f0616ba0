//! The words of the team's protocol. `README.md` in this folder argues why the protocol is correct.

/// A bit of the opening word: a worker sleeps on the word, or is about to sleep.
pub(super) const PARKED: u32 = 1;
/// A bit of the opening word: the run has failed, and no rank (part of a program) may continue.
pub(super) const STOP: u32 = 2;
/// A bit of the opening word: the run is over.
pub(super) const OVER: u32 = 4;
const EPISODE_SHIFT: u32 = 3;
const EPISODES: u32 = u32::MAX >> EPISODE_SHIFT;

/// The interval between two barriers, by its number modulo 2^29.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Episode(u32);

impl Episode {
    pub(super) const FIRST: Self = Self(0);

    pub(super) fn of(opening: u32) -> Self {
        Self(opening >> EPISODE_SHIFT)
    }

    /// The opening word that opens this episode.
    pub(super) fn opening(self) -> u32 {
        self.0 << EPISODE_SHIFT
    }

    pub(super) fn next(self) -> Self {
        Self((self.0 + 1) & EPISODES)
    }

    pub(super) fn before(self) -> Self {
        Self(self.0.wrapping_sub(1) & EPISODES)
    }

    /// Returns 0 and 1 in turn, also where the numbers wrap around.
    pub(super) fn parity(self) -> usize {
        (self.0 % 2) as usize
    }

    /// A rank's word if the rank can be claimed in this episode.
    pub(super) fn ready(self) -> u32 {
        self.0 << 1
    }

    /// A rank's word if a worker has claimed it in this episode.
    pub(super) fn running(self) -> u32 {
        self.0 << 1 | 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn episode_numbers_wrap_around() {
        let last = Episode(EPISODES);
        assert_eq!(last.next(), Episode::FIRST);
        assert_eq!(Episode::FIRST.before(), last);
        assert_ne!(last.parity(), Episode::FIRST.parity());
        assert_eq!(Episode::of(last.opening() | PARKED | STOP | OVER), last);
        assert_ne!(last.ready(), last.running());
        assert_ne!(last.next().ready(), last.ready());
    }
}
