//! `adaptive`, the default: finds out what the loop costs while it runs, and
//! asks nothing of the user.
//!
//! * A loop that has run before is judged by what it cost then (`CallSites`). One
//!   too short for a second thread runs inline; its first iteration is timed, and
//!   what follows now and then (`predicted`), and once it takes too long the rest is
//!   posted.
//! * A loop that is long enough runs inline all the same, likewise watched, while
//!   sharing it has not gained (`speedup`), and while all workers sleep and waking one
//!   would cost more than it brings.
//! * An unknown loop runs inline, one iteration, two, four, until it has lasted
//!   longer than posting costs; then the rest is posted. A few iterations that
//!   might each be long are posted at once.
//! * A posted loop is sharded. Each participant times every block and sizes the
//!   next by time, not by count, as the balance of claims and waits says (`claim_time`) for
//!   what is left of its range and what a claim costs on this machine.
//!
//! Memory traffic of a claim: one locked instruction on the participant's own
//! line, and one read of the clock; about 20 ns, no transfer. `Registry::post` has the
//! traffic of a launch.

use super::launch::Wake;
use super::predicted::{Predicted, Slow};
use crate::partition::{
    ALONE, BlockRate, Body, CallSite, FixedBlock, Partition, Ranges, Report, Speedup, TimedClaims,
};
use crate::pool::{Context, Registry};
use manycore_platform::{Atomic, Ordering, Platform};
use std::num::NonZeroUsize;

/// Work below this, in ns, is not worth posting even to a spinning worker: the
/// post, the worker's arrival and the wait for it cost some 0.4 us.
const POST_NS: f32 = 1_000.0;
/// What a post costs before its clock starts, in ns.
const LAUNCH_NS: f32 = 100.0;
/// Where sharing has not gained, work up to this, in ns, stays with the caller: about
/// what waking somebody takes. Longer work is posted whatever came of it.
const DOUBTED_NS: f32 = 60_000.0;
/// A loop that takes less than this share of the caller's time alone has gained by its
/// helpers.
const GAINS: f32 = 0.9;
/// ... for this many times [`DOUBTED_NS`] in a row, at most.
const MOST_ALONE: f32 = 300.0;
/// Iterations that take longer than this, in ns, are hardly slower for being shared:
/// their time is trusted even if it was not measured by a thread that runs alone.
const COARSE_NS: f32 = 500.0;
/// The longest block, in ns. However much is left, what one block may hide from
/// thieves should be small beside any loop that has blocks this long, and claims
/// every 16 us cost 0.3%.
const MAX_BLOCK_NS: f32 = 16_000.0;
/// Iterations for each thread below which an unknown loop is posted unseen:
/// running one inline first would lose more than the post costs.
const FEW: usize = 32;
/// Iterations for each thread up to which each is claimed by itself.
const FEW_BLOCKS: usize = 2;

/// One loop on its way to be run.
struct Launch<'a, P: Platform> {
    pool: &'a Registry<P>,
    body: Body<'a>,
    start: usize,
    n: usize,
    call_site: CallSite,
    /// Ticks an iteration took the last time.
    known: Option<f32>,
}

/// Runs `body` over `start..start + n`, `n > 0`.
///
/// Inlined into its only caller, which spares a short loop some 20 instructions.
#[inline(always)]
pub(crate) fn run<P: Platform>(pool: &Registry<P>, start: usize, n: usize, body: Body<'_>) {
    if pool.shared().threads() == 1 || n == 1 {
        return body.run(ALONE, start..start + n);
    }
    let call_site = CallSite::new(body.address(), n);
    let known = pool.shared().call_sites().recall(call_site);
    let launch = Launch {
        pool,
        body,
        start,
        n,
        call_site,
        known,
    };
    match known {
        Some(each) => launch.run_known(each),
        None => launch.run_unknown(),
    }
}

impl<P: Platform> Launch<'_, P> {
    fn post_ticks(&self) -> f32 {
        POST_NS * self.pool.shared().ticks_per_ns()
    }

    /// Runs iterations `from..to` on this thread.
    #[inline]
    fn run_inline(&self, from: usize, to: usize) {
        self.body.run(ALONE, self.start + from..self.start + to);
    }

    /// Ticks that iterations `from..to` take.
    #[inline]
    fn time(&self, from: usize, to: usize) -> f32 {
        let before = P::now();
        self.run_inline(from, to);
        P::now().saturating_sub(before) as f32
    }

    /// Runs a loop whose iterations are predicted to take `each` ticks.
    #[inline]
    fn run_known(&self, each: f32) {
        let work = self.n as f32 * each;
        if work < self.post_ticks() {
            self.run_short(each);
        } else {
            self.run_long(each, work);
        }
    }

    /// Runs a loop inline that takes too little to be posted, unless it takes longer
    /// today.
    ///
    /// Mostly two clock reads and no division: this is what a loop of a few hundred
    /// nanoseconds pays for the chance to be parallel.
    #[inline]
    fn run_short(&self, each: f32) {
        match self.predicted(each).run_short() {
            Ok(Some(took)) => {
                let expected = each * self.n as f32;
                if (took - expected).abs() > expected / 4.0 {
                    let mean = took / self.n as f32;
                    self.pool
                        .shared()
                        .call_sites()
                        .learn(self.call_site, self.known, mean);
                }
            }
            Ok(None) => {}
            Err(slow) => self.give_up(&slow),
        }
    }

    /// Runs a loop that is long enough to be posted: inline all the same if that has
    /// not gained lately, or if all workers sleep and it does not pay to wake one.
    fn run_long(&self, each: f32, work: f32) {
        let pool = self.pool;
        if Context::is_in_loop(pool.shared()) {
            // Whether anybody comes depends on the loop around it, and on when.
            if let Some(shared) = self.share(0, each, Wake::IfPays(work)) {
                pool.shared()
                    .call_sites()
                    .learn(self.call_site, self.known, shared.each);
            }
            return;
        }
        let speedup = pool.shared().call_sites().speedup(self.call_site);
        if speedup.is_due() && each < COARSE_NS * pool.shared().ticks_per_ns() {
            return self.run_measuring();
        }
        if work < DOUBTED_NS * pool.shared().ticks_per_ns() && speedup.is_alone() {
            if self.run_alone(each).is_some() {
                pool.shared()
                    .call_sites()
                    .set_speedup(self.call_site, speedup.stayed());
            }
            return;
        }
        let mut wake = Wake::IfPays(work);
        if pool.all_asleep() {
            if !pool.shared().idle().pays_to_wake(work) {
                if let Some((started, ended)) = self.run_alone(each) {
                    // The next one may be met by a worker that expects it.
                    pool.shared()
                        .idle()
                        .loop_ended(self.body.caller(), started, ended);
                }
                return;
            }
            wake = Wake::Paid(work);
        }
        self.post(0, each, wake);
    }

    fn predicted(&self, each: f32) -> Predicted<'_, P> {
        let range = self.start..self.start + self.n;
        Predicted::new(self.pool.shared(), self.body, range, each)
    }

    /// Runs a loop inline; when it began and ended, if it did not take longer than
    /// predicted.
    fn run_alone(&self, each: f32) -> Option<(u64, u64)> {
        let started = P::now();
        match self.predicted(each).run(started) {
            Ok(took) => {
                let mean = took / self.n as f32;
                self.pool
                    .shared()
                    .call_sites()
                    .learn(self.call_site, self.known, mean);
                Some((started, started + took as u64))
            }
            Err(slow) => {
                self.give_up(&slow);
                None
            }
        }
    }

    /// A loop that is predicted short turns out to be long: posts what is left.
    #[cold]
    fn give_up(&self, slow: &Slow) {
        #[cfg(test)]
        if crate::conserving::fault::is(crate::conserving::fault::Fault::SerialForEver) {
            return self.run_inline(slow.done, self.n);
        }
        let call_sites = self.pool.shared().call_sites();
        // Whatever came of posting it, today it is another loop.
        call_sites.set_speedup(self.call_site, Speedup::new().unmeasured());
        let each = slow.took / slow.done as f32;
        if slow.done + 1 == self.n {
            self.run_inline(slow.done, self.n);
            call_sites.learn(self.call_site, self.known, each);
            return;
        }
        let wake = Wake::IfPays(self.work(slow.done, each));
        if let Some(shared) = self.share(slow.done, each, wake) {
            // Not what led here: that may have been an interrupt.
            call_sites.learn(self.call_site, self.known, shared.each);
        }
    }

    /// Runs a loop of which nothing is known, or only what it was with half or twice
    /// as many iterations.
    #[cold]
    fn run_unknown(&self) {
        let pool = self.pool;
        if let Some(each) = pool
            .shared()
            .call_sites()
            .recall_near(self.body.address(), self.n)
        {
            pool.shared().call_sites().learn(self.call_site, None, each);
            let known = Some(each);
            Launch { known, ..*self }.run_known(each);
        } else if self.n <= FEW * pool.shared().allowed() {
            if let Some(shared) = self.share(0, 0.0, Wake::Always) {
                pool.shared()
                    .call_sites()
                    .learn(self.call_site, None, shared.each);
                pool.shared()
                    .call_sites()
                    .set_speedup(self.call_site, Speedup::new().unmeasured());
            }
        } else {
            self.run_measuring();
        }
    }

    /// Runs a loop inline until it proves long, and posts the rest.
    #[cold]
    fn run_measuring(&self) {
        let (mut done, mut block, mut spent) = (0, 1_usize, 0.0);
        while spent < self.post_ticks() && done < self.n {
            let to = self.n.min(done.saturating_add(block));
            spent += self.time(done, to);
            done = to;
            block = block.saturating_mul(2);
        }
        let call_sites = self.pool.shared().call_sites();
        let each = spent / done as f32;
        // What was known may be the time of a shared iteration: a fall is trusted at
        // once.
        let before = self.known.filter(|&known| known < each);
        call_sites.learn(self.call_site, before, each);
        call_sites.set_speedup(
            self.call_site,
            call_sites.speedup(self.call_site).measured(),
        );
        if done < self.n {
            self.post(done, each, Wake::IfPays(self.work(done, each)));
        }
    }

    /// Ticks that the iterations from `done` take, at `each`.
    fn work(&self, done: usize, each: f32) -> f32 {
        (self.n - done) as f32 * each
    }

    /// Runs a loop nested in another inline while every worker is busy: nobody
    /// would come. Returns how far it got when somebody could.
    fn run_while_all_busy(&self, mut done: usize) -> usize {
        let long = 20.0 * self.post_ticks();
        let mut block = 1_usize;
        while done < self.n && !self.pool.has_idle_permit() {
            let to = self.n.min(done.saturating_add(block));
            let took = self.time(done, to);
            block = if took < long {
                block.saturating_mul(2)
            } else {
                // What was short before is long now: as many as are short at this
                // rate.
                ((block as f32 * long / took) as usize).max(1)
            };
            done = to;
        }
        done
    }

    /// As `run_while_all_busy`. The iterations may wait, and the thread come back to another
    /// permit.
    fn run_before_posting(&self, done: usize) -> usize {
        #[cfg(test)]
        if crate::conserving::fault::is(crate::conserving::fault::Fault::StaleRank) {
            let shared = self.pool.shared();
            return Context::with_stale_permit(shared, || self.run_while_all_busy(done));
        }
        self.run_while_all_busy(done)
    }

    /// Posts the iterations from `done`, of about `each` ticks, and learns from it.
    fn post(&self, done: usize, each: f32, wake: Wake) {
        let Some(shared) = self.share(done, each, wake) else {
            return;
        };
        let pool = self.pool;
        let work = self.work(done, each);
        // Where nobody came, the price was the post. Whoever had to be woken came late:
        // that says nothing of the loops to come.
        let woken = matches!(wake, Wake::Paid(_));
        if !woken && (shared.helped || work < 4.0 * self.post_ticks()) {
            let took = shared.took + LAUNCH_NS * pool.shared().ticks_per_ns();
            if took < GAINS * work {
                pool.shared().idle().helped();
            }
            let most = DOUBTED_NS * pool.shared().ticks_per_ns() * MOST_ALONE / work;
            let speedup = pool.shared().call_sites().speedup(self.call_site);
            let speedup = speedup.posted(took / work, most as u16);
            pool.shared()
                .call_sites()
                .set_speedup(self.call_site, speedup);
        }
        // Alone an iteration does not take longer than shared. Whether it takes less
        // is another matter: see `Speedup`.
        if shared.each < each {
            pool.shared()
                .call_sites()
                .learn(self.call_site, Some(each), shared.each);
        }
    }

    /// Shares the iterations from `done`, of about `each` ticks (0: unknown), with
    /// who comes; `None`: they were run inline.
    fn share(&self, mut done: usize, each: f32, wake: Wake) -> Option<Measured> {
        let pool = self.pool;
        if Context::is_in_loop(pool.shared()) {
            done = self.run_before_posting(done);
            if done == self.n {
                return None;
            }
        }
        let n = self.n - done;
        let range = self.start + done..self.start + self.n;
        let threads = pool.shared().allowed();
        if n <= FEW_BLOCKS * threads {
            // Few iterations, each long enough for a claim of its own, from
            // one counter: its line is fetched once, with the frame, and
            // whoever claims the last iteration leaves without another look.
            let few = FixedBlock::<P>::new(n, NonZeroUsize::MIN, pool.shared().threads());
            let Some(ticks) = pool.post(self.body, range, wake, |_, _| few) else {
                self.run_inline(done, self.n);
                return None;
            };
            return Some(Measured {
                took: ticks as f32,
                each: ticks as f32 * threads.min(n) as f32 / n as f32,
                helped: true,
            });
        }
        let measured = P::AtomicU32::new(0);
        let mine = P::AtomicUsize::new(0);
        let report = Report::to(&measured, &mine);
        let ticks = pool.post(self.body, range, wake, |slot, caller| Adaptive {
            ranges: Ranges::new(slot.shards(pool.shared().threads()), n, caller, threads),
            guess: each,
            claim: pool.shared().claim_ticks(),
            max_ticks: MAX_BLOCK_NS * pool.shared().ticks_per_ns(),
            caller,
            pool,
            wake,
            report,
        });
        let Some(ticks) = ticks else {
            self.run_inline(done, self.n);
            return None;
        };
        let each = f32::from_bits(measured.load(Ordering::Relaxed));
        (each > 0.0).then(|| Measured {
            took: ticks as f32,
            each,
            helped: mine.load(Ordering::Relaxed) < n,
        })
    }
}

/// What came of sharing a loop.
struct Measured {
    /// Ticks until all of it was done.
    took: f32,
    /// Ticks that an iteration took the caller.
    each: f32,
    /// Whether somebody came, as far as can be told.
    helped: bool,
}

impl<P: Platform> Registry<P> {
    /// Whether all sleep, or are to be found, that could help the caller, as a hint.
    fn all_asleep(&self) -> bool {
        let asleep =
            self.sleepers() as usize + usize::from(self.shared().caller_slot().is_vacant());
        asleep >= self.shared().threads() - 1 || self.is_lacking()
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
    pool: &'a Registry<P>,
    wake: Wake,
    report: Report<'a, P>,
}

impl<P: Platform> Partition for Adaptive<'_, P> {
    type Claims<'a>
        = TimedClaims<'a, P>
    where
        Self: 'a;

    fn claims(&self, rank: usize) -> TimedClaims<'_, P> {
        // Nobody is left asleep on a guess that was not tried: it is between blocks that
        // the caller of a loop thinks better of it. Asked after the post has decided: who
        // falls asleep later looks for posted loops first.
        let tries = rank == self.caller && self.pool.lets_sleep(self.wake);
        let rate = BlockRate::new(self.guess, self.claim, self.max_ticks, tries);
        let report = (rank == self.caller).then_some(self.report);
        TimedClaims::new(self.ranges.own(rank), rate, report)
    }
}
