//! Intervals without cuts, since a cut has blocked others there.
//!
//! A rank may have a lock of the program's, or of its allocator, when it is cut. Then the others wait for it in the
//! kernel, each with a worker, until the watch finds that nothing changes: that costs milliseconds, where a cut gains
//! microseconds. After that, ranks are not cut in this interval for some episodes, and for more each time that it happens
//! again.

/// Episodes without cuts at first, and at most.
const PAUSE: [u32; 2] = [16, 1 << 16];

/// The history of an interval.
#[derive(Clone, Copy, Default)]
pub(super) struct Backoff {
    site: usize,
    /// How long the last pause was, in episodes.
    pause: u32,
    /// What is left of it.
    left: u32,
    /// Episodes with cuts since.
    quiet: u32,
}

impl Backoff {
    /// The next episode, after an address of the program, is planned: the interval may be another than this was. Returns
    /// whether its ranks may be cut.
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

    /// The episode is over; whether others have blocked for a rank that was cut.
    pub(super) fn learn(&mut self, blocked: bool) {
        let [least, most] = PAUSE;
        if blocked {
            self.pause = self.pause.saturating_mul(4).clamp(least, most);
            self.left = self.pause;
            self.quiet = 0;
        } else if self.left == 0 && self.pause > 0 {
            self.quiet += 1;
            if self.quiet >= self.pause {
                // It was chance.
                self.pause /= 4;
                self.quiet = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many episodes are cut, if others block as `blocks` says of each number of cut ones.
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
    fn a_single_one_is_forgotten() {
        assert_eq!(cut(1_000, |_| false), 1_000);
        assert_eq!(cut(1_000, |cut| cut == 50), 1_000 - PAUSE[0]);
        // Rare ones cost a few cuts each.
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
