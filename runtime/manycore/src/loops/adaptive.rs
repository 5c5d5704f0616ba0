//! `adaptive`, the default: finds out what the loop costs while it runs, and
//! asks nothing of the user.
//!
//! * A loop that has run before is judged by what it cost then (`CallSites`). One
//!   too short for a second thread runs inline; its first iteration is timed, and
//!   what follows now and then (`predicted`), and once it takes too long the rest is
//!   posted.
//! * A loop that is long enough runs inline too, watched by the clock, in three cases: sharing it has not
//!   gained so far (`decide`); the pool measures the inline time again; or all workers sleep and waking a
//!   worker would cost more than it gains.
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

/// Iterations for each thread below which an unknown loop is posted unseen:
/// running one inline first would lose more than the post costs.
const FEW: usize = 32;

/// One loop on its way to be run.
pub(super) struct Launch<'a, P: Platform> {
    pub(super) pool: &'a Registry<P>,
    pub(super) inline: Inline<'a, P>,
    pub(super) n: usize,
    call_site: CallSite,
    /// Whether a thread has run two of few iterations, one after the other.
    pub(super) in_turn: Cell<bool>,
}

/// Runs `body` over `start..start + n`, `n > 0`.
///
/// Inlined into its only caller, which spares a short loop some 20 instructions.
#[inline(always)]
pub(crate) fn run<P: Platform>(pool: &Registry<P>, start: usize, n: usize, body: Body<'_>) {
    if pool.shared().is_special() || n == 1 {
        return run_special(pool, start, n, body);
    }
    run_shareable(pool, start, n, body);
}

/// Runs a loop that no other thread can take part in, or a loop that is to be explained.
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

/// Runs a loop of no more iterations than threads. They may all wait for each other. So nothing is known of
/// such a loop before one thread has run two of its iterations, and the pool's monitor watches a caller
/// that runs iterations by itself.
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
            call_site: CallSite::new(inline.body.address(), n),
            in_turn: Cell::new(false),
        }
    }

    /// The predicted ticks of an iteration.
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

    /// Runs iterations `from..to` on this thread.
    #[inline]
    pub(super) fn run_inline(&self, from: usize, to: usize) {
        self.inline.run(from, to);
    }

    /// Ticks that iterations `from..to` take.
    #[inline]
    pub(super) fn time(&self, from: usize, to: usize) -> f32 {
        let before = P::now();
        self.run_inline(from, to);
        P::now().saturating_sub(before) as f32
    }

    /// Runs a loop with a prediction: an iteration takes `each` ticks.
    #[inline(always)]
    fn run_known(&self, each: f32) -> Reason {
        let work = self.n as f32 * each;
        if work < self.post_ticks() {
            self.run_short(each)
        } else {
            self.run_long(each, work)
        }
    }

    /// Runs a loop inline that takes too little to be posted, unless it takes longer
    /// today.
    ///
    /// Mostly two clock reads and no division: this is what a loop of a few hundred
    /// nanoseconds pays for the chance to be parallel.
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

    /// Whether this thread was put aside since this was last asked, or may have been: `n` of its
    /// iterations took `took` ticks.
    pub(super) fn was_aside(&self, choice: Choice, n: usize, took: f32) -> bool {
        choice.is_suspicious(n, took, self.pool.shared().call_sites().units())
            && Context::worker_of(self.pool).is_some_and(|worker| worker.was_put_aside())
    }

    /// Runs a loop that is long enough to be posted. It still runs inline if that is the better way, or if
    /// all workers sleep and waking one does not pay.
    fn run_long(&self, each: f32, work: f32) -> Reason {
        let pool = self.pool;
        if Context::is_in_loop(pool.shared()) {
            // Whether a helper comes depends on the outer loop and on the moment.
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
        let woken = pool.all_asleep(pool.would_invite(work, self.n));
        if woken {
            let idle = pool.shared().idle();
            let pays = match choice.gains_woken() {
                Some(true) => true,
                Some(false) => idle.has_missed(work),
                None => idle.pays_to_wake(work),
            };
            if !pays {
                return match self.run_alone(each) {
                    Ok((started, took)) => {
                        self.update(|choice| choice.saw_alone(self.n, took));
                        // The next one may be met by a worker that expects it.
                        let ended = started + took as u64;
                        idle.loop_ended(self.inline.body.caller(), started, ended);
                        Reason::Asleep
                    }
                    Err(slow) => self.give_up(&slow),
                };
            }
        }
        let wake = if woken {
            Wake::Now(work)
        } else {
            pool.wakes(work, self.n)
        };
        self.post(0, each, wake, woken)
    }

    /// Runs a loop inline because `choice` says so.
    fn run_chosen_alone(&self, each: f32, choice: Choice) -> Reason {
        let pool = self.pool;
        let reason = choice.why_alone();
        // A trial is one run among shared ones.
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

    /// Runs a loop inline; when it began and the ticks that it took, if that was not longer than
    /// predicted.
    fn run_alone(&self, each: f32) -> Result<(u64, f32), Slow> {
        let started = P::now();
        let took = self.predicted(each).run(started)?;
        Ok((started, took))
    }

    /// A loop that is predicted short turns out to be long: posts what is left.
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

    /// Runs an unknown loop, or a loop that is known only with half or twice as many iterations.
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
        } else if self.n <= FEW * threads {
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
        let each = spent / done as f32;
        self.pool.shared().call_sites().begin(self.call_site, each);
        if done < self.n {
            let wake = (self.pool).wakes(self.work(done, each), self.n - done);
            self.post(done, each, wake, false);
        }
    }

    /// Ticks that the iterations from `done` take, at `each`.
    pub(super) fn work(&self, done: usize, each: f32) -> f32 {
        (self.n - done) as f32 * each
    }
}
