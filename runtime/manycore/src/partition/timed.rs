//! Blocks sized by time: each participant times every block, and the next one is as long as the
//! balance of claims and waits says (`claim_time`).

use super::claim_time::claim_time;
use super::holders::HoldersWord;
use super::sharded::{OwnRange, Ranges, Shards};
use super::{Body, Claims};
use crate::clusters::Clusters;
use manycore_platform::Platform;
use std::ops::Range;

/// One participant's claims from ranges, in blocks whose length follows its rate.
pub(crate) struct TimedClaims<'a, P: Platform> {
    own: OwnRange<'a, P>,
    rate: BlockRate,
    /// Length of the running block, and when it started.
    block: usize,
    block_started: u64,
    /// The time of the blocks before it.
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

/// An estimate of how fast one participant goes, which gives the length of its next block.
///
/// A block's time includes a claim, and the cost of a claim is known only roughly. So if a block
/// takes its predicted time, within one such cost, the estimate stays. Without this rule, loops
/// whose iterations are much cheaper than a claim would seem to slow down with each short block.
///
/// It believes a slow block at once, also if the system had put the thread aside in it. Such a block is
/// followed by some ten claims of few iterations, since each later block halves the error. To doubt a slow
/// block would be dearer: where iterations have become slower, the next block would be as much too long.
///
/// A guess is tried by a block of one iteration. If that took longer than predicted, it may have fetched
/// what later iterations find in the cache. So a block of [`SECOND_TRY`] iterations follows, which decides,
/// unless it could be longer than any block may be.
pub(crate) struct BlockRate {
    /// Ticks an iteration, of late; 0 before the first measurement.
    ticks: f32,
    /// Ticks that a claim costs.
    claim: u64,
    max_ticks: f32,
    /// If not 0, the next block has this number of iterations and tries the guess.
    tries: usize,
}

/// Iterations of the second block that tries a guess: as many words as a line of memory has.
const SECOND_TRY: usize = 8;

impl BlockRate {
    /// An iteration is guessed to take `ticks` (0: nothing is known), a claim costs `claim` ticks,
    /// and a block may take `max_ticks`. `tries`: the first block is one iteration, which tries the
    /// guess.
    pub(crate) fn new(ticks: f32, claim: u64, max_ticks: f32, tries: bool) -> Self {
        Self {
            ticks,
            claim,
            max_ticks,
            tries: usize::from(tries && ticks > 0.0),
        }
    }

    /// A block of `n` iterations took `ticks`, with its claim.
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

    /// Iterations for the next block, with `left` in the own range.
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

    /// Fewer iterations than this are done before a thief has fetched them: a
    /// steal moves two lines, and a line takes longer than a claim.
    fn too_few_to_steal(&self) -> usize {
        if self.ticks == 0.0 {
            0
        } else {
            (4.0 * self.claim as f32 / self.ticks) as usize
        }
    }
}

/// Ticks that a claim costs on this machine, clock, arithmetic and call
/// included: measured by running a loop that does nothing else.
pub(crate) fn measure_claim<P: Platform>() -> u64 {
    const CLAIMS: usize = 32;
    let clusters = Clusters::new(&[0]);
    let holders = [HoldersWord::<P>::new()];
    let shards = Shards::new(&clusters, &holders, |word| word);
    let body = |_, block: Range<usize>| P::compute(block.len() as u64);
    let pass = || {
        let ranges = Ranges::new(&shards, &clusters, CLAIMS, 0, 1, clusters.all());
        // Iterations predicted to be endless are claimed one by one.
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
