//! Runs a loop on one thread while the loop is no slower than predicted.
//!
//! Iterations differ, and an iteration that was quick in one run may block in the next. So the thread tests each
//! prediction. It reads the clock after the first iteration, and then after blocks of [`CHECK_NS`] plus a quarter of
//! the time so far. The number of iterations of a block follows from the predicted or the measured time of an
//! iteration, whichever is longer. Once the loop has taken twice the predicted time, plus the cost of a post, this
//! module's caller decides about the rest.
//!
//! A clock read costs as much as ten trivial iterations. So if a loop is predicted to take less
//! than one block, the thread reads the clock only after the first iteration, unless this iteration
//! took longer than a block. One run in 32 is checked after iterations 1, 2, 4, 8, ...: this finds
//! loops with a short first iteration and longer later iterations.

use super::inline_run::Inline;
use crate::pool::Shared;
use crate::times::{CHECK_NS, LEAST_NS, LONG_CHECK_NS, LONG_SLACK_NS, SLACK_NS};
use manycore_platform::Platform;

/// A loop that one thread runs, and how long its iterations are predicted to take.
pub(super) struct Predicted<'a, P: Platform> {
    pool: &'a Shared<P>,
    inline: &'a Inline<'a, P>,
    n: usize,
    /// The predicted ticks of an iteration.
    each: f32,
    /// The ticks that the loop may take beyond twice the prediction.
    slack: f32,
    /// The ticks between two looks at the clock.
    check: f32,
    /// The least ticks that an iteration can take. Measured times may be below it: a search that
    /// has found its item skips the other iterations.
    least: f32,
}

/// A loop took longer than predicted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slow {
    /// The iterations that have run.
    pub(super) done: usize,
    /// The ticks that these iterations took.
    pub(super) took: f32,
}

impl<'a, P: Platform> Predicted<'a, P> {
    /// A loop of `n` iterations (at least one) that are predicted to take `each` ticks.
    #[inline]
    pub(super) fn new(pool: &'a Shared<P>, inline: &'a Inline<'a, P>, n: usize, each: f32) -> Self {
        Self {
            pool,
            inline,
            n,
            each,
            slack: SLACK_NS * pool.ticks_per_ns(),
            check: CHECK_NS * pool.ticks_per_ns(),
            least: LEAST_NS * pool.ticks_per_ns(),
        }
    }

    /// Runs a loop that is predicted to take less than a few blocks. Returns the ticks that it took, if they were
    /// measured.
    #[inline(always)]
    pub(super) fn run_short(&self) -> Result<Option<f32>, Slow> {
        let n = self.n;
        let started = P::now();
        self.inline.run(0, 1);
        let took = P::now().saturating_sub(started) as f32;
        if took > self.slack {
            return Err(Slow { done: 1, took });
        }
        let one_block = n as f32 * self.each.max(self.least) <= self.check;
        if one_block && took <= self.check && !is_one_in_32(started) {
            if n > 1 {
                self.inline.run(1, n);
            }
            return Ok(None);
        }
        self.run_on(started, took, one_block).map(Some)
    }

    /// Runs a loop that may be predicted to take long. Returns the ticks that it took.
    pub(super) fn run(mut self, started: u64) -> Result<f32, Slow> {
        self.slack = LONG_SLACK_NS * self.pool.ticks_per_ns();
        self.check = LONG_CHECK_NS * self.pool.ticks_per_ns();
        self.inline.run(0, 1);
        let took = P::now().saturating_sub(started) as f32;
        self.run_on(started, took, false)
    }

    /// Runs all iterations after the first. The first took `took` ticks. If `carefully` is true,
    /// reads the clock whenever the number of completed iterations has doubled.
    #[inline(never)]
    fn run_on(&self, started: u64, mut took: f32, carefully: bool) -> Result<f32, Slow> {
        let n = self.n;
        let mut done = 1;
        loop {
            if took > 2.0 * self.each * done as f32 + self.slack && done < n {
                return Err(Slow { done, took });
            }
            if done == n {
                return Ok(took);
            }
            let block = if carefully {
                done
            } else {
                // The measured time counts too, since a prediction that is too low would make the next block too long.
                // Casts to integers saturate.
                let each = self.each.max(self.least).max(took / done as f32);
                (((self.check + took / 4.0) / each) as usize).max(1)
            };
            let to = n.min(done.saturating_add(block));
            self.inline.run(done, to);
            done = to;
            took = P::now().saturating_sub(started) as f32;
        }
    }
}

/// Returns true for one value of `ticks` in 32, even if the lowest bits never vary.
#[inline]
fn is_one_in_32(ticks: u64) -> bool {
    ticks.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 59 == 0
}
