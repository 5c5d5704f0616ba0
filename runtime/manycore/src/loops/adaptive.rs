//! `adaptive`, the default partitioner. It measures what a loop costs while the loop runs, and the user sets
//! nothing.
//!
//! * If a loop has run before, its earlier cost decides (`CallSites`). A loop that is too short for a second thread
//!   runs inline. Its caller times the first iteration, and some later blocks (`predicted`). If the loop takes too
//!   long, the caller posts the rest.
//! * A loop that is long enough runs inline too, with the same checks, in three cases: sharing it has not saved time
//!   so far (`decide`); the pool measures the inline time again; or all workers sleep and waking a worker would cost
//!   more than it gains.
//! * The caller runs an unknown loop inline: first one iteration, then two, then four. Once this has lasted longer
//!   than posting costs, the caller posts the rest. If an unknown loop has few iterations, each may be long, so it is
//!   posted at once.
//! * A posted loop gives each participant a range. A participant times every block and chooses how long the next block
//!   should take (`claim_time`), from the iterations that are left in its range and the cost of a claim on this
//!   machine.
//!
//! A claim costs one locked instruction on the participant's own cache line and one read of the clock: about 20
//! ns, and no transfer of a line. `Registry::post` says what a launch costs.

use super::inline_run::{Inline, InlineRun};
use super::launch::Wake;
use super::predicted::{Predicted, Slow};
#[cfg(test)]
use crate::conserving::fault::{self, Fault};
use crate::decide::{Choice, Reason, Way};
use crate::partition::{ALONE, Body, CallSite};
use crate::pool::{Context, Registry};
use crate::times::{CHOSEN_NS, POST_NS};
use manycore_platform::{Native, Platform};
use std::any::TypeId;
use std::cell::Cell;

/// If an unknown loop has at most this many iterations for each thread, it is posted at once: running one iteration
/// inline first could cost more than the post.
const FEW: usize = 32;

pub(super) struct Launch<'a, P: Platform> {
    pub(super) pool: &'a Registry<P>,
    pub(super) inline: Inline<'a, P>,
    pub(super) n: usize,
    call_site: CallSite,
    /// Set if an iteration has ended before another one began. Only a loop of few iterations sets it.
    pub(super) in_turn: Cell<bool>,
}

/// Runs `body` over `start..start + n`, `n > 0`.
///
/// Inlining this into its only caller saves a short loop some 20 instructions.
#[inline(always)]
pub(crate) fn run<P: Platform>(pool: &Registry<P>, start: usize, n: usize, body: Body<'_>) {
    if pool.shared().is_special() || n == 1 {
        return run_special(pool, start, n, body);
    }
    run_shareable(pool, start, n, body);
}

/// Runs a loop that no other thread can take part in, or a loop of a pool that explains its loops (`explain`).
#[cold]
fn run_special<P: Platform>(pool: &Registry<P>, start: usize, n: usize, body: Body<'_>) {
    let started = P::now();
    let reason = if pool.shared().threads() == 1 || n == 1 {
        body.run(ALONE, start..start + n);
        Reason::OneThread
    } else {
        run_shareable(pool, start, n, body)
    };
    if let Some(explained) = pool.shared().explained() {
        let ticks = P::now().saturating_sub(started) as f64;
        // Simulated threads have stacks that cannot be walked.
        let has_stack = TypeId::of::<P>() == TypeId::of::<Native>();
        explained.note(
            body.address(),
            n,
            ticks / P::ticks_per_ns(),
            reason,
            has_stack,
        );
    }
}

/// Runs a loop of more than one iteration in a pool of more than one thread.
#[inline(always)]
fn run_shareable<P: Platform>(
    pool: &Registry<P>,
    start: usize,
    n: usize,
    body: Body<'_>,
) -> Reason {
    if n <= pool.shared().threads() {
        return run_few(pool, start, n, body);
    }
    let launch = Launch::new(pool, Inline::unwatched(body, start), n);
    match launch.recall() {
        Some(each) => launch.run_known(each),
        None => launch.run_unknown(),
    }
}

/// Runs a loop that has at most as many iterations as the pool has threads. Its iterations may all wait for each
/// other. So the loop stays unknown until an iteration has ended before another one began, and the pool's monitor
/// watches a caller that runs iterations alone.
#[inline(never)]
fn run_few<P: Platform>(pool: &Registry<P>, start: usize, n: usize, body: Body<'_>) -> Reason {
    let run = InlineRun::new(pool, body, start, n);
    let launch = Launch::new(pool, Inline::watched(&run), n);
    let known = launch.recall();
    if known.is_some() || Context::is_in_loop(pool.shared()) {
        let all = || match known {
            Some(each) => launch.run_known(each),
            None => launch.run_unknown(),
        };
        match run.watch(pool, all) {
            Some((reason, false)) => return reason,
            Some((_, true)) => {
                pool.shared().call_sites().forget(launch.call_site);
                return Reason::Shared;
            }
            None => {}
        }
    }
    Launch::new(pool, Inline::unwatched(body, start), n).run_unknown()
}

impl<'a, P: Platform> Launch<'a, P> {
    #[inline(always)]
    fn new(pool: &'a Registry<P>, inline: Inline<'a, P>, n: usize) -> Self {
        Self {
            pool,
            inline,
            n,
            call_site: CallSite::new::<P>(inline.body.address(), n),
            in_turn: Cell::new(false),
        }
    }

    /// Returns the predicted ticks of an iteration.
    #[inline]
    fn recall(&self) -> Option<f32> {
        self.pool.shared().call_sites().recall(self.call_site)
    }

    /// Whether the iterations may all wait for each other.
    pub(super) fn may_meet(&self) -> bool {
        self.n <= self.pool.shared().threads()
    }

    pub(super) fn post_ticks(&self) -> f32 {
        POST_NS * self.pool.shared().ticks_per_ns()
    }

    #[inline]
    pub(super) fn run_inline(&self, from: usize, to: usize) {
        self.inline.run(from, to);
    }

    /// Runs iterations `from..to` on this thread and returns the ticks that they took.
    #[inline]
    pub(super) fn time(&self, from: usize, to: usize) -> f32 {
        let before = P::now();
        self.run_inline(from, to);
        P::now().saturating_sub(before) as f32
    }

    /// Runs a loop whose iterations are predicted to take `each` ticks.
    #[inline(always)]
    fn run_known(&self, each: f32) -> Reason {
        let work = self.n as f32 * each;
        if work < self.post_ticks() {
            self.run_short(each)
        } else {
            self.run_long(each, work)
        }
    }

    /// Runs a loop inline, since its predicted time is too short for a post. If the loop takes longer, posts the
    /// rest.
    ///
    /// This usually costs two clock reads and no division. This is what a loop of a few hundred nanoseconds pays for
    /// the check that it is still short.
    #[inline(always)]
    fn run_short(&self, each: f32) -> Reason {
        match self.predicted(each).run_short() {
            Ok(Some(took)) => {
                let expected = each * self.n as f32;
                let differs = (took - expected).abs() > expected / 4.0;
                if differs || !self.choice().is_settled() {
                    self.update(|choice| choice.saw_alone(self.n, took));
                }
            }
            Ok(None) => {}
            Err(slow) => return self.give_up(&slow),
        }
        Reason::Short
    }

    pub(super) fn choice(&self) -> Choice {
        self.pool.shared().call_sites().choice(self.call_site)
    }

    pub(super) fn update(&self, change: impl FnOnce(Choice) -> Choice) {
        self.pool
            .shared()
            .call_sites()
            .update(self.call_site, change);
    }

    /// Whether the kernel has put this thread aside since the last check. Makes the check only if `took` ticks are
    /// suspicious for `n` iterations.
    pub(super) fn was_aside(&self, choice: Choice, n: usize, took: f32) -> bool {
        choice.is_suspicious(n, took, self.pool.shared().call_sites().units())
            && Context::worker_of(self.pool).is_some_and(|worker| worker.was_put_aside())
    }

    /// Runs a loop that is long enough to be posted. The loop still runs inline if inline runs have been faster, or if
    /// all workers sleep and waking one would cost more than it gains.
    fn run_long(&self, each: f32, work: f32) -> Reason {
        let pool = self.pool;
        if Context::is_in_loop(pool.shared()) {
            // In a nested loop it is chance whether a helper joins. So the shared time says nothing, and this records
            // only the caller's own time.
            let Some(shared) = self.share(0, each, pool.wakes(work, self.n)) else {
                return Reason::Busy;
            };
            if shared.own_n > 0 {
                self.update(|choice| choice.saw_alone(shared.own_n, shared.own));
            }
            return Reason::Shared;
        }
        #[cfg(test)]
        match () {
            () if fault::is(Fault::AlwaysSerial) => {
                self.run_inline(0, self.n);
                return Reason::Short;
            }
            () if fault::is(Fault::AlwaysShared) => {
                self.share(0, each, Wake::Always);
                return Reason::Shared;
            }
            () => {}
        }
        let choice = self.choice();
        if work < CHOSEN_NS * pool.shared().ticks_per_ns() && choice.next(self.n) == Way::Alone {
            return self.run_chosen_alone(each, choice);
        }
        let all_asleep = pool.all_asleep(pool.would_invite(work, self.n));
        if all_asleep {
            let idle = pool.shared().idle();
            let pays = match choice.gains_woken() {
                Some(true) => true,
                Some(false) => idle.add_loss(work),
                None => idle.pays_to_wake(work),
            };
            if !pays {
                return match self.run_alone(each) {
                    Ok((started, took)) => {
                        self.update(|choice| choice.saw_alone(self.n, took));
                        // From the ends of loops, a worker predicts the next loop, and wakes before it.
                        let ended = started + took as u64;
                        idle.loop_ended(self.inline.body.caller(), started, ended);
                        Reason::Asleep
                    }
                    Err(slow) => self.give_up(&slow),
                };
            }
        }
        let wake = if all_asleep {
            Wake::Now(work)
        } else {
            pool.wakes(work, self.n)
        };
        self.post(0, each, wake, all_asleep)
    }

    /// Runs a loop inline because `choice` says so.
    fn run_chosen_alone(&self, each: f32, choice: Choice) -> Reason {
        let pool = self.pool;
        let reason = choice.why_alone();
        // A trial is a single inline run among shared runs, so the helpers should stay awake.
        let invited = pool.would_invite(each * self.n as f32, self.n);
        let keeps_awake = reason == Reason::Trial && !pool.all_asleep(invited);
        let result = match self.run_alone(each) {
            Ok((_, took)) => {
                let aside = self.was_aside(choice, self.n, took);
                self.update(|choice| choice.ran_alone(self.n, took, aside));
                reason
            }
            Err(slow) => self.give_up(&slow),
        };
        if keeps_awake && pool.all_asleep(invited) {
            pool.call_helpers(1, invited);
        }
        result
    }

    fn predicted(&self, each: f32) -> Predicted<'_, P> {
        Predicted::new(self.pool.shared(), &self.inline, self.n, each)
    }

    /// Runs a loop inline. If the loop is not slower than predicted, returns when it began and the ticks that it
    /// took.
    fn run_alone(&self, each: f32) -> Result<(u64, f32), Slow> {
        let started = P::now();
        let took = self.predicted(each).run(started)?;
        Ok((started, took))
    }

    /// Posts the rest of a loop that takes longer than predicted.
    #[cold]
    fn give_up(&self, slow: &Slow) -> Reason {
        #[cfg(test)]
        if fault::is(Fault::SerialForEver) {
            self.run_inline(slow.done, self.n);
            return Reason::Short;
        }
        if !self.was_aside(self.choice(), slow.done, slow.took) {
            self.update(|choice| choice.saw_alone(slow.done, slow.took));
        }
        let each = slow.took / slow.done as f32;
        if slow.done + 1 == self.n {
            self.run_inline(slow.done, self.n);
            return Reason::Short;
        }
        let wake = (self.pool).wakes(self.work(slow.done, each), self.n - slow.done);
        self.share(slow.done, each, wake);
        Reason::Shared
    }

    /// Runs an unknown loop, or a loop of which only runs with about half or twice as many iterations are known.
    #[cold]
    fn run_unknown(&self) -> Reason {
        let pool = self.pool;
        let sites = pool.shared().call_sites();
        let threads = pool.shared().allowed();
        let may_meet = self.may_meet();
        if let Some(each) = (!may_meet)
            .then(|| sites.recall_near(self.inline.body.address(), self.n))
            .flatten()
        {
            sites.begin(self.call_site, each);
            return self.run_known(each);
        } else if may_meet || self.n <= FEW * threads {
            if let Some(shared) = self.share(0, 0.0, Wake::Always) {
                if let Some(each) = shared.each() {
                    if !may_meet || self.in_turn.get() {
                        sites.begin(self.call_site, each);
                    }
                }
            }
        } else {
            self.run_measuring();
        }
        Reason::First
    }

    /// Runs a loop inline until the run has taken longer than a post, and then posts the rest.
    #[cold]
    fn run_measuring(&self) {
        let (mut done, mut block, mut spent) = (0, 1_usize, 0.0);
        while spent < self.post_ticks() && done < self.n {
            let to = self.n.min(done.saturating_add(block));
            spent += self.time(done, to);
            done = to;
            block = block.saturating_mul(2);
        }
        let each = spent / done as f32;
        self.pool.shared().call_sites().begin(self.call_site, each);
        if done < self.n {
            let wake = (self.pool).wakes(self.work(done, each), self.n - done);
            self.post(done, each, wake, false);
        }
    }

    /// The predicted ticks of the iterations from `done` on, if each takes `each`.
    pub(super) fn work(&self, done: usize, each: f32) -> f32 {
        (self.n - done) as f32 * each
    }
}
