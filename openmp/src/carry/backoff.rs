//! Stops cutting ranks in an interval (the code from one barrier to the next) where a cut has blocked other ranks.
//!
//! When a rank, a thread of a team, is *cut* (made to leave its worker), it may hold a lock of the program or of an
//! allocator. The other ranks then wait for that lock in the kernel, and block a worker each, until the
//! [watchdog](super::watchdog) finds that no worker changes ranks. That costs milliseconds, but a cut gains only
//! microseconds. So this interval has no cuts for some episodes (runs of it), and for more each time that it happens
//! again.

/// The number of episodes without cuts, at first and at most.
const PAUSE: [u32; 2] = [16, 1 << 16];

/// The history of an interval.
#[derive(Clone, Copy, Default)]
pub(super) struct Backoff {
    site: usize,
    /// How long the last pause was, in episodes.
    pause: u32,
    /// How many episodes of the pause are left.
    left: u32,
    /// The number of episodes with cuts since the pause.
    quiet: u32,
}

impl Backoff {
    /// Begins an episode of the interval after `site`, an address of the program. If the last episode was of another
    /// interval, the history is emptied. Returns whether ranks may be cut.
    pub(super) fn begin(&mut self, site: usize) -> bool {
        if self.site != site {
            *self = Self {
                site,
                ..Self::default()
            };
        }
        let may_cut = self.left == 0;
        self.left = self.left.saturating_sub(1);
        may_cut
    }

    /// The episode is over. `blocked` if other ranks have blocked for a rank that was cut.
    pub(super) fn learn(&mut self, blocked: bool) {
        let [least, most] = PAUSE;
        if blocked {
            self.pause = self.pause.saturating_mul(4).clamp(least, most);
            self.left = self.pause;
            self.quiet = 0;
        } else if self.left == 0 && self.pause > 0 {
            self.quiet += 1;
            if self.quiet >= self.pause {
                // The last block was chance.
                self.pause /= 4;
                self.quiet = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many episodes have cuts. In the n-th of these, other ranks block if `blocks(n)`.
    fn cut(episodes: u32, blocks: impl Fn(u32) -> bool) -> u32 {
        let mut backoff = Backoff::default();
        let mut cut = 0;
        for _ in 0..episodes {
            let may_cut = backoff.begin(7);
            cut += u32::from(may_cut);
            backoff.learn(may_cut && blocks(cut));
        }
        cut
    }

    #[test]
    fn cuts_that_block_others_become_rare() {
        assert!(cut(400, |_| true) <= 5);
        assert!(cut(100_000, |_| true) <= 9);
    }

    #[test]
    fn a_single_block_is_forgotten() {
        assert_eq!(cut(1_000, |_| false), 1_000);
        assert_eq!(cut(1_000, |cut| cut == 50), 1_000 - PAUSE[0]);
        // Rare blocks cost a few cuts each.
        assert!(cut(10_000, |cut| cut % 100 == 0) > 8_000);
    }

    #[test]
    fn another_interval_begins_anew() {
        let mut backoff = Backoff::default();
        backoff.begin(7);
        backoff.learn(true);
        assert!(!backoff.begin(7) && backoff.begin(8));
    }
}
