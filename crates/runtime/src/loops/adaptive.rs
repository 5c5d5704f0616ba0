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
//!   next by time, not by count, as the cost model says (`cost::claim_time`) for
//!   what is left of its range and what a claim costs on this machine.
//!
//! Memory traffic of a claim: one locked instruction on the participant's own
//! line, and one read of the clock; about 20 ns, no transfer. Of launching: see
//! `Shared::post`.

use super::fixed_block::FixedBlock;
use super::launch::{Body, Wake};
use super::partition::{Claims, Partition};
use super::sharded::{Own, Ranges, Shards};
use super::sites::Site;
use crate::cost::claim_time;
use crate::pool::{Context, Shared};
use manycore_platform::{Atomic, Ordering, Platform};
use std::num::NonZeroUsize;
use std::ops::Range;

/// Work below this, in ns, is not worth posting even to a spinning worker: the
/// post, the worker's arrival and the wait for it cost some 0.4 us.
const POST_NS: f32 = 1_000.0;
/// The longest block, in ns. However much is left, what one block may hide from
/// thieves should be small beside any loop that has blocks this long, and claims
/// every 16 us cost 0.3%.
const MAX_BLOCK_NS: f32 = 16_000.0;
/// Iterations for each thread below which an unknown loop is posted unseen:
/// running one inline first would lose more than the post costs.
const FEW: usize = 32;
/// Iterations for each thread up to which each is claimed by itself.
const FEW_BLOCKS: usize = 2;

/// Iterations up to which a short loop is timed whole; of a longer one the
/// first eighth is.
const WHOLE: usize = 64;

/// One loop on its way to be run.
struct Launch<'a, P: Platform> {
    pool: &'a Shared<P>,
    body: Body<'a>,
    start: usize,
    n: usize,
    site: Site,
    /// Ticks an iteration took the last time.
    known: Option<f32>,
}

/// Runs `body` over `start..start + n`, `n > 0`.
pub(crate) fn run<P: Platform>(pool: &Shared<P>, start: usize, n: usize, body: Body<'_>) {
    if pool.threads == 1 || n == 1 {
        return body.run(Context::current(pool).rank, start..start + n);
    }
    let site = Site::new(body.address(), n);
    let known = pool.sites.recall(site);
    let launch = Launch {
        pool,
        body,
        start,
        n,
        site,
        known,
    };
    match known {
        Some(each) if n as f32 * each < launch.post_ticks() => launch.run_short(each),
        Some(each) => launch.post(0, each),
        None if n <= FEW * pool.allowed() => launch.post(0, 0.0),
        None => launch.run_unknown(),
    }
}

impl<P: Platform> Launch<'_, P> {
    fn post_ticks(&self) -> f32 {
        POST_NS * self.pool.ticks_per_ns
    }

    /// Runs iterations `from..to` on this thread.
    #[inline]
    fn run_inline(&self, from: usize, to: usize) {
        let rank = Context::current(self.pool).rank;
        self.body.run(rank, self.start + from..self.start + to);
    }

    /// Ticks that iterations `from..to` take.
    #[inline]
    fn time(&self, from: usize, to: usize) -> f32 {
        let before = P::now();
        self.run_inline(from, to);
        P::now().saturating_sub(before) as f32
    }

    /// Runs a loop inline that took `each` ticks an iteration, too little to be
    /// posted; and posts the rest if it takes longer today.
    ///
    /// Two clock reads and no division: this is what a loop of a few hundred
    /// nanoseconds pays for the chance to be parallel.
    fn run_short(&self, each: f32) {
        let head = if self.n < WHOLE { self.n } else { self.n / 8 };
        let took = self.time(0, head);
        let expected = each * head as f32;
        if (took - expected).abs() > expected / 4.0 {
            self.pool
                .sites
                .learn(self.site, self.known, took / head as f32);
        }
        if head < self.n {
            if took * self.n as f32 <= self.post_ticks() * 2.0 * head as f32 {
                self.run_inline(head, self.n);
            } else {
                self.post(head, took / head as f32);
            }
        }
    }

    /// Runs a loop inline until it proves long, and posts the rest.
    fn run_unknown(&self) {
        let (mut done, mut block, mut spent) = (0, 1_usize, 0.0);
        while spent < self.post_ticks() && done < self.n {
            let to = self.n.min(done.saturating_add(block));
            spent += self.time(done, to);
            done = to;
            block = block.saturating_mul(2);
        }
        let each = spent / done as f32;
        if done < self.n {
            self.post(done, each);
        } else {
            self.pool.sites.learn(self.site, None, each);
        }
    }

    /// Runs a loop nested in another inline while every worker is busy: nobody
    /// would come. Returns how far it got when somebody could.
    fn run_while_all_busy(&self, mut done: usize) -> usize {
        let long = 20.0 * self.post_ticks();
        let mut block = 1_usize;
        while done < self.n && !self.pool.anyone_idle() {
            let to = self.n.min(done.saturating_add(block));
            if self.time(done, to) < long {
                block = block.saturating_mul(2);
            }
            done = to;
        }
        done
    }

    /// Posts the iterations from `done`, of about `each` ticks (0: unknown).
    fn post(&self, mut done: usize, each: f32) {
        let pool = self.pool;
        let context = Context::current(pool);
        if context.running.is_some() {
            done = self.run_while_all_busy(done);
            if done == self.n {
                return;
            }
        }
        let n = self.n - done;
        let Some(slot) = pool.board.take(context.rank) else {
            return self.run_inline(done, self.n);
        };
        let range = self.start + done..self.start + self.n;
        let wake = if each > 0.0 {
            Wake::IfPays(n as f32 * each)
        } else {
            Wake::Always
        };
        let threads = pool.allowed();
        let measured = if n <= FEW_BLOCKS * threads {
            // Few iterations, each long enough for a claim of its own, from
            // one counter: its line is fetched once, with the frame, and
            // whoever claims the last iteration leaves without another look.
            let few = FixedBlock::<P>::new(n, NonZeroUsize::MIN, pool.threads);
            let ticks = pool.post(slot.index(), &context, self.body, range, few, wake);
            ticks as f32 * threads.min(n) as f32 / n as f32
        } else {
            let measured = P::AtomicU32::new(0);
            let adaptive = Adaptive {
                ranges: Ranges::new(
                    pool.board.slot(slot.index()).shards(pool.threads),
                    n,
                    context.rank,
                    threads,
                ),
                guess: each,
                claim: pool.claim_ticks,
                max_ticks: MAX_BLOCK_NS * pool.ticks_per_ns,
                caller: context.rank,
                measured: &measured,
            };
            pool.post(slot.index(), &context, self.body, range, adaptive, wake);
            f32::from_bits(measured.load(Ordering::Relaxed))
        };
        if measured > 0.0 {
            pool.sites.learn(self.site, self.known, measured);
        }
    }
}

struct Adaptive<'a, P: Platform> {
    ranges: Ranges<'a, P>,
    /// Ticks an iteration may take; 0 if nothing is known.
    guess: f32,
    /// Ticks that a claim costs, and that a block may take at most.
    claim: u64,
    max_ticks: f32,
    caller: usize,
    /// What it took the caller on average, as the bits of an f32.
    measured: &'a P::AtomicU32,
}

impl<P: Platform> Partition for Adaptive<'_, P> {
    type Claims<'a>
        = AdaptiveClaims<'a, P>
    where
        Self: 'a;

    fn claims(&self, rank: usize) -> AdaptiveClaims<'_, P> {
        let pace = Pace {
            ticks: self.guess,
            claim: self.claim,
            max_ticks: self.max_ticks,
        };
        let report = (rank == self.caller).then_some(self.measured);
        AdaptiveClaims::new(self.ranges.own(rank), pace, report)
    }
}

struct AdaptiveClaims<'a, P: Platform> {
    own: Own<'a, P>,
    pace: Pace,
    /// Where the caller leaves its measurement.
    report: Option<&'a P::AtomicU32>,
    started: u64,
    iterations: usize,
    /// Length of the running block, and when it started.
    block: usize,
    block_started: u64,
}

impl<'a, P: Platform> AdaptiveClaims<'a, P> {
    fn new(own: Own<'a, P>, pace: Pace, report: Option<&'a P::AtomicU32>) -> Self {
        let started = P::now();
        Self {
            own,
            pace,
            report,
            started,
            iterations: 0,
            block: 0,
            block_started: 0,
        }
    }
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
            let ticks = now.saturating_sub(self.started) as f32 / self.iterations as f32;
            report.store(ticks.to_bits(), Ordering::Relaxed);
        }
        None
    }

    fn abandon(self) -> bool {
        self.own.abandon()
    }
}

/// How fast one participant goes, and so how many iterations make a block.
struct Pace {
    /// Ticks an iteration, of late; 0 before the first measurement.
    ticks: f32,
    /// Ticks that a claim costs.
    claim: u64,
    max_ticks: f32,
}

impl Pace {
    /// A block of `n` iterations took `ticks`.
    #[inline]
    fn took(&mut self, n: usize, ticks: u64) {
        let sample = ticks as f32 / n as f32;
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
    let shards = Shards::new(1);
    let body = |_, block: Range<usize>| P::compute(block.len() as u64);
    let pass = || {
        let measured = P::AtomicU32::new(0);
        let ranges = Ranges::new(&shards, CLAIMS, 0, 1);
        // Iterations believed to be endless are claimed one by one.
        let pace = Pace {
            ticks: f32::MAX,
            claim: 0,
            max_ticks: 1.0,
        };
        let mut claims = AdaptiveClaims::<P>::new(ranges.own(0), pace, Some(&measured));
        let before = P::now();
        while let Some(block) = claims.next() {
            claims.pace.ticks = f32::MAX;
            Body::new(&body).run(0, block);
        }
        P::now().saturating_sub(before) / CLAIMS as u64
    };
    // The first pass warms the caches.
    pass();
    pass().min(pass())
}
