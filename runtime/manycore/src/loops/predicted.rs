//! One thread runs a loop that is predicted to be short, and gives the prediction up when the
//! clock says otherwise.
//!
//! Iterations differ, and an iteration that was quick yesterday may block today. So each prediction is
//! tested: the first iteration is timed by itself, then a block that takes [`CHECK_NS`], and a quarter more
//! each time. The time of an iteration is the predicted or the measured one, whichever is longer. Once the
//! loop has taken twice the predicted time, and the cost of a post on top, the caller of this module
//! decides about the rest.
//!
//! A clock read costs as much as ten trivial iterations. So a loop of a predicted length below one block is
//! checked once, after its first iteration, if that was no longer than the block. Only one run in 32 is
//! checked after iterations 1, 2, 4, 8, ...: this finds loops with a short first iteration and longer
//! others.

use super::inline_run::Inline;
use crate::pool::Shared;
use crate::times::{CHECK_NS, LONG_CHECK_NS, LONG_SLACK_NS, SLACK_NS};
use manycore_platform::Platform;

/// A loop that one thread runs, and how long its iterations are predicted to take.
pub(super) struct Predicted<'a, P: Platform> {
    pool: &'a Shared<P>,
    inline: &'a Inline<'a, P>,
    n: usize,
    /// Ticks.
    each: f32,
    /// The ticks that the loop may take beyond twice the prediction.
    slack: f32,
    /// The ticks between two looks at the clock.
    check: f32,
}

/// It took longer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slow {
    /// Iterations that were run.
    pub(super) done: usize,
    /// Ticks that they took.
    pub(super) took: f32,
}

impl<'a, P: Platform> Predicted<'a, P> {
    /// A loop of `n` iterations, at least one, predicted to take `each` ticks an iteration.
    #[inline]
    pub(super) fn new(pool: &'a Shared<P>, inline: &'a Inline<'a, P>, n: usize, each: f32) -> Self {
        Self {
            pool,
            inline,
            n,
            each,
            slack: SLACK_NS * pool.ticks_per_ns(),
            check: CHECK_NS * pool.ticks_per_ns(),
        }
    }

    /// Runs a loop that is predicted to take less than a few blocks. The ticks that it
    /// took, if they were measured.
    #[inline(always)]
    pub(super) fn run_short(&self) -> Result<Option<f32>, Slow> {
        let n = self.n;
        let started = P::now();
        self.inline.run(0, 1);
        let took = P::now().saturating_sub(started) as f32;
        if took > self.slack {
            return Err(Slow { done: 1, took });
        }
        let one_block = n as f32 * self.each <= self.check;
        if one_block && took <= self.check && !is_one_in_32(started) {
            if n > 1 {
                self.inline.run(1, n);
            }
            return Ok(None);
        }
        self.run_on(started, took, one_block).map(Some)
    }

    /// Runs a loop with a possibly long prediction. Returns the ticks that it took.
    pub(super) fn run(mut self, started: u64) -> Result<f32, Slow> {
        self.slack = LONG_SLACK_NS * self.pool.ticks_per_ns();
        self.check = LONG_CHECK_NS * self.pool.ticks_per_ns();
        self.inline.run(0, 1);
        let took = P::now().saturating_sub(started) as f32;
        self.run_on(started, took, false)
    }

    /// Runs all but the first iteration, which `took` so long; `carefully`: looks at
    /// the clock each time that twice as many are done.
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
                // The measured time counts too, or a wrong prediction would make its own next test
                // too long. Casts to integers saturate.
                let each = self.each.max(took / done as f32);
                (((self.check + took / 4.0) / each) as usize).max(1)
            };
            let to = n.min(done.saturating_add(block));
            self.inline.run(done, to);
            done = to;
            took = P::now().saturating_sub(started) as f32;
        }
    }
}

/// True for one point of time in 32, whatever its lowest bits are.
#[inline]
fn is_one_in_32(ticks: u64) -> bool {
    ticks.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 59 == 0
}
