//! `adaptive`, the default: finds out what the loop costs while it runs, and
//! asks nothing of the user.
//!
//! * A loop that has run before is judged by what it cost then (`Sites`). One
//!   too short for a second thread runs inline; its first eighth is timed, and
//!   if that took too long the rest is posted.
//! * An unknown loop runs inline, one iteration, two, four, until it has lasted
//!   longer than posting costs; then the rest is posted. A few iterations that
//!   might each be long are posted at once.
//! * A posted loop is sharded. Each participant times every block and sizes the
//!   next by time, not by count: a fixed fraction of what is left of its range,
//!   between bounds where the claim costs too much and where too much could be
//!   held up in one block.
//!
//! Memory traffic of a claim: one locked instruction on the participant's own
//! line, and one read of the clock; about 20 ns, no transfer. Of launching: see
//! `Shared::post`.

use super::launch::{Body, Call};
use super::partition::{Claims, Partition};
use super::sharded::{Own, Ranges};
use super::sites::Site;
use crate::pool::{Context, Shared};
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::ops::Range;

/// Work below this, in ns, is not worth posting even to a spinning worker: the
/// post, the worker's arrival and the wait for it cost some 0.4 us.
const POST_NS: f64 = 1_000.0;
/// The shortest block, in ns: the claim's 20 ns are a fifteenth of it, and the
/// loop ends within such a block.
const MIN_BLOCK_NS: f64 = 300.0;
/// The longest: claims cost 0.3%, and what one block may hide from thieves is
/// small beside any loop that has blocks this long.
const MAX_BLOCK_NS: f64 = 8_000.0;
/// A block is this fraction of what is left of the participant's range.
const FRACTION: f64 = 1.0 / 3.0;
/// Iterations for each thread below which an unknown loop is posted unseen:
/// running one inline first would lose more than the post costs.
const FEW: usize = 32;

/// Runs `body` over `start..start + n`, `n > 0`.
pub(crate) fn run<P: Platform>(pool: &Shared<P>, start: usize, n: usize, body: Body<'_>) {
    if pool.threads == 1 || n == 1 {
        return body.run(Context::current(pool).rank, start..start + n);
    }
    let site = Site::new(body.address(), n);
    let post_ticks = POST_NS * P::ticks_per_ns();
    let known = pool.sites.recall(site);
    let mut done = 0;
    let mut ticks = known.map(f64::from);
    match known {
        Some(ticks_each) if n as f64 * f64::from(ticks_each) < post_ticks => {
            let rank = Context::current(pool).rank;
            done = if n < 64 { n } else { n / 8 };
            let measured = time::<P>(done, || body.run(rank, start..start + done));
            pool.sites.learn(site, known, measured as f32);
            if done == n || (n - done) as f64 * measured < post_ticks {
                return body.run(rank, start + done..start + n);
            }
            ticks = Some(measured);
        }
        Some(_) => {}
        None if n <= FEW * pool.threads => {}
        None => {
            let rank = Context::current(pool).rank;
            let (mut block, mut spent) = (1, 0.0);
            while spent < post_ticks && done < n {
                block = block.min(n - done);
                let from = start + done;
                spent += block as f64 * time::<P>(block, || body.run(rank, from..from + block));
                done += block;
                block *= 2;
            }
            ticks = Some(spent / done as f64);
            if done == n {
                pool.sites.learn(site, None, (spent / n as f64) as f32);
                return;
            }
        }
    }
    run_posted(pool, start + done, n - done, body, site, known, ticks);
}

/// Ticks an iteration, of a block of `n`.
fn time<P: Platform>(n: usize, block: impl FnOnce()) -> f64 {
    let before = P::now();
    block();
    P::now().saturating_sub(before) as f64 / n as f64
}

fn run_posted<P: Platform>(
    pool: &Shared<P>,
    start: usize,
    n: usize,
    body: Body<'_>,
    site: Site,
    known: Option<f32>,
    ticks: Option<f64>,
) {
    let context = Context::current(pool);
    // In the body of another loop, with every worker busy, nobody would come.
    let alone = context.running.is_some() && !pool.anyone_idle();
    let slot = if alone {
        None
    } else {
        pool.board.take(context.rank)
    };
    let Some(slot) = slot else {
        let each = time::<P>(n, || body.run(context.rank, start..start + n));
        return pool.sites.learn(site, known, each as f32);
    };
    let shards = pool.board.slot(slot).shards(pool.threads);
    let adaptive = Adaptive {
        ranges: Ranges::new(shards, n, context.rank),
        caller: context.rank,
        guess: ticks.unwrap_or(0.0),
        measured: CachePadded::new(P::AtomicU64::new(0)),
    };
    let wake = match ticks {
        Some(each) => pool.idle.pays_to_wake(n as f64 * each),
        None => true,
    };
    let now = P::now();
    pool.idle.loop_starts(now);
    let call = Call {
        helpers: (pool.threads - 1).min(n - 1).max(1),
        wake,
    };
    pool.post(slot, &context, body, start, &adaptive, call);
    pool.idle.loop_ends(P::now());
    let measured = f64::from_bits(adaptive.measured.load(Ordering::Relaxed));
    if measured > 0.0 {
        pool.sites.learn(site, known, measured as f32);
    }
}

struct Adaptive<'a, P: Platform> {
    ranges: Ranges<'a, P>,
    caller: usize,
    /// Ticks an iteration may take; 0 if nothing is known.
    guess: f64,
    /// What it took the caller on average, as the bits of an f64.
    measured: CachePadded<P::AtomicU64>,
}

impl<P: Platform> Partition for Adaptive<'_, P> {
    type Claims<'a>
        = AdaptiveClaims<'a, P>
    where
        Self: 'a;

    fn claims(&self, rank: usize) -> AdaptiveClaims<'_, P> {
        AdaptiveClaims {
            own: self.ranges.own(rank),
            pace: Pace::new::<P>(self.guess),
            report: (rank == self.caller).then_some(&self.measured),
            started: P::now(),
            iterations: 0,
            block: 0,
            block_started: 0,
        }
    }
}

struct AdaptiveClaims<'a, P: Platform> {
    own: Own<'a, P>,
    pace: Pace,
    /// Where the caller leaves its measurement.
    report: Option<&'a P::AtomicU64>,
    started: u64,
    iterations: usize,
    /// Length of the running block, and when it started.
    block: usize,
    block_started: u64,
}

impl<P: Platform> Claims for AdaptiveClaims<'_, P> {
    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        let mut now = P::now();
        if self.block > 0 {
            self.iterations += self.block;
            self.pace
                .took(self.block, now.saturating_sub(self.block_started));
        }
        loop {
            let count = self.pace.block(self.own.left());
            if let Some(block) = self.own.claim(count) {
                self.block = block.len();
                self.block_started = now;
                return Some(block);
            }
            if !self.own.steal(self.pace.too_few_to_steal()) {
                break;
            }
            now = P::now();
        }
        if let Some(report) = self.report
            && self.iterations > 0
        {
            let ticks = now.saturating_sub(self.started) as f64 / self.iterations as f64;
            report.store(ticks.to_bits(), Ordering::Relaxed);
        }
        None
    }
}

/// How fast one participant goes, and so how many iterations make a block.
struct Pace {
    /// Ticks an iteration, of late; 0 before the first measurement.
    ticks: f64,
    min_ticks: f64,
    max_ticks: f64,
}

impl Pace {
    fn new<P: Platform>(guess: f64) -> Self {
        let per_ns = P::ticks_per_ns();
        Self {
            ticks: guess,
            min_ticks: MIN_BLOCK_NS * per_ns,
            max_ticks: MAX_BLOCK_NS * per_ns,
        }
    }

    /// A block of `n` iterations took `ticks`.
    #[inline]
    fn took(&mut self, n: usize, ticks: u64) {
        let sample = ticks as f64 / n as f64;
        self.ticks = if self.ticks == 0.0 {
            sample
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
        let target = (left as f64 * self.ticks * FRACTION).clamp(self.min_ticks, self.max_ticks);
        // Saturates, as float casts do.
        ((target / self.ticks) as usize).max(1)
    }

    /// Fewer iterations than this are done before a thief has fetched them.
    fn too_few_to_steal(&self) -> usize {
        if self.ticks == 0.0 {
            0
        } else {
            (self.min_ticks / self.ticks) as usize
        }
    }
}
