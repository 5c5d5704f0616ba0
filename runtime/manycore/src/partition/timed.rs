//! Blocks sized by time. Each participant times every block, and `claim_time` says how long the next block should
//! take.

use super::claim_time::claim_time;
use super::sharded::{OwnRange, Ranges, Shards};
use super::{Body, Claims};
use crate::clusters::Clusters;
use manycore_platform::Platform;
use std::ops::Range;

/// One participant's claims from ranges. The participant's rate gives the length of a block.
pub(crate) struct TimedClaims<'a, P: Platform> {
    own: OwnRange<'a, P>,
    rate: BlockRate,
    /// The iterations of the current block, or 0 if no block runs.
    block: usize,
    /// When the current block started.
    block_started: u64,
    /// The ticks of all earlier blocks.
    busy: u64,
}

impl<'a, P: Platform> TimedClaims<'a, P> {
    pub(crate) fn new(own: OwnRange<'a, P>, rate: BlockRate) -> Self {
        Self {
            own,
            rate,
            block: 0,
            block_started: 0,
            busy: 0,
        }
    }
}

impl<P: Platform> Claims for TimedClaims<'_, P> {
    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        let mut now = P::now();
        if self.block > 0 {
            let took = now.saturating_sub(self.block_started);
            self.busy += took;
            self.rate.took(self.block, took);
            self.block = 0;
        }
        let count = self.rate.block(self.own.left());
        let mut block = self.own.claim(count);
        if block.is_none() {
            let rate = &self.rate;
            block = self
                .own
                .steal(rate.too_few_to_steal(), |left| rate.block(left));
            now = P::now();
        }
        let block = block?;
        self.block = block.len();
        self.block_started = now;
        Some(block)
    }

    fn busy(&self) -> Option<u64> {
        Some(self.busy)
    }

    fn abandon(self) -> bool {
        self.own.abandon()
    }
}

/// An estimate of how fast one participant runs iterations. It gives the length of the participant's next block.
///
/// A block's time includes a claim, and the cost of a claim is only roughly known. So if a block's time differs
/// from the prediction by at most the cost of a claim, the estimate stays. Without this rule, a loop whose
/// iterations are much cheaper than a claim would seem to slow down with each short block.
///
/// A slow block changes the estimate at once, even if the block was slow because the kernel put the thread aside. Some
/// ten claims of few iterations follow such a block, since each later block halves the error. Ignoring the block would
/// cost more: if iterations have become slower, the next block would be too long by the same factor.
///
/// A block of one iteration tests a guess. If that iteration takes longer than predicted, it may have fetched data
/// that later iterations find in the cache. So a block of [`SECOND_TRY`] iterations follows, and that block decides.
/// No such block follows if it could take longer than `max_ticks`.
pub(crate) struct BlockRate {
    /// The estimated ticks of an iteration, or 0 if nothing is known.
    ticks: f32,
    /// The ticks that a claim costs.
    claim: u64,
    max_ticks: f32,
    /// If not 0, the next block has this many iterations and tests the guess.
    tries: usize,
}

/// The iterations of the second block that tests a guess: one for each word of a cache line.
const SECOND_TRY: usize = 8;

impl BlockRate {
    /// The guess is that an iteration takes `ticks` (0 if nothing is known). A claim costs `claim` ticks, and a block
    /// may take `max_ticks`. If `tries` is true, the first block is one iteration, which tests the guess.
    pub(crate) fn new(ticks: f32, claim: u64, max_ticks: f32, tries: bool) -> Self {
        Self {
            ticks,
            claim,
            max_ticks,
            tries: usize::from(tries && ticks > 0.0),
        }
    }

    /// Records that a block of `n` iterations took `ticks`, including its claim.
    #[inline]
    fn took(&mut self, n: usize, ticks: u64) {
        let (claim, spent) = (self.claim as f32, ticks.saturating_sub(self.claim) as f32);
        let is_first_try = self.tries == 1;
        self.tries = 0;
        if (spent - self.ticks * n as f32).abs() <= claim && self.ticks > 0.0 {
            return;
        }
        if is_first_try && spent * SECOND_TRY as f32 <= self.max_ticks {
            self.tries = SECOND_TRY;
            return;
        }
        let sample = spent / n as f32;
        self.ticks = if self.ticks == 0.0 {
            sample.max(f32::MIN_POSITIVE)
        } else {
            (self.ticks + sample) / 2.0
        };
    }

    /// Returns the iterations of the next block if `left` iterations are in the participant's own range.
    #[inline]
    fn block(&self, left: usize) -> usize {
        if self.ticks == 0.0 {
            return 1;
        }
        if self.tries > 0 {
            return self.tries;
        }
        // Casts to integers saturate.
        let target = claim_time(self.claim, (left as f32 * self.ticks) as u64) as f32;
        ((target.min(self.max_ticks) / self.ticks) as usize).max(1)
    }

    /// The number of iterations below which stealing does not pay: the victim runs them before a thief can steal them.
    /// A steal moves two cache lines. A move is taken to cost as much as two claims.
    fn too_few_to_steal(&self) -> usize {
        if self.ticks == 0.0 {
            0
        } else {
            (4.0 * self.claim as f32 / self.ticks) as usize
        }
    }
}

/// Measures the ticks that a claim costs on this machine, including the clock, the arithmetic and the call. It
/// runs a loop that does nothing else.
pub(crate) fn measure_claim<P: Platform>() -> u64 {
    const CLAIMS: usize = 32;
    let clusters = Clusters::new(&[0]);
    let shards = Shards::<P>::new(&clusters);
    let body = |_, block: Range<usize>| P::compute(block.len() as u64);
    let pass = || {
        let ranges = Ranges::new(&shards, &clusters, CLAIMS, 0, 1, clusters.all());
        // With the prediction that iterations take for ever, each claim gets one iteration.
        let rate = BlockRate::new(f32::MAX, 0, 1.0, false);
        let mut claims = TimedClaims::<P>::new(ranges.own(0), rate);
        let before = P::now();
        while let Some(block) = claims.next() {
            claims.rate.ticks = f32::MAX;
            Body::new(&body).run(0, block);
        }
        P::now().saturating_sub(before) / CLAIMS as u64
    };
    // The first pass warms the caches.
    pass();
    pass().min(pass())
}
