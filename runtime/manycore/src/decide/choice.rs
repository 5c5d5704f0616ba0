//! Decides whether the next run of a loop is shared with other threads or runs on its caller alone.
//!
//! # The rule
//!
//! The choice keeps an account of the time that sharing has saved. Each shared run adds the time that the caller
//! alone would take, and subtracts the time that the run took. A shared phase ends in two cases:
//!
//! * The account is overdrawn: a few runs lost more time than the others saved. This happens if the operating
//!   system puts a helper aside in the middle of an iteration, since the caller must wait for that helper.
//! * Runs typically save nothing, for example because helpers compete for the same cache lines.
//!
//! The caller then runs the loop alone until these runs have taken the lost time multiplied by a factor, but at most
//! [`LONGEST_NS`]. The factor begins at 1 and grows with each failure in a row, up to [`RETURN`]. After that, a new
//! shared phase begins.
//!
//! In a shared phase, the caller runs the loop alone now and then to measure the time of such a run. These trials cost
//! at most 1 / [`TRIALS`] of the total time.
//!
//! # The bound
//!
//! Let A be the time of all runs if the caller runs all of them alone, and S their time if all of them are shared.
//!
//! *Against A.* Once the factor has grown, a phase that fails with a loss of L is followed by runs alone that take
//! `RETURN` times L. The account forgets savings but no losses, so a phase never loses more than the account says. All
//! failed phases together therefore cost A / RETURN, and the trials cost A / TRIALS. Three terms do not grow with A:
//! what the first phase may lose ([`FIRST_NS`]), the loss of the phases (at most five) before the factor has grown,
//! and the loss of the last phase. That loss is at most three times the longest time that a helper was put aside: the
//! account may hold two such times, and the last run may lose one more.
//!
//! *Against S.* In a shared phase, the caller runs only trials alone. Assume that the operating system puts a helper
//! aside for a time M at each such event. If the runs between two such events save M on average, the account never
//! runs empty after the first event. A phase only fails if it begins shortly before an event, and the factor 1 makes
//! the first failure cheap.
//!
//! *Changes.* If sharing a loop no longer saves time, three runs show this. If losses become frequent, the account is
//! empty after two of the longest losses. If sharing begins to save time, the choice finds this out once the runs
//! alone have taken the factor times the last loss.
//!
//! `conserving/regret` measures this on the simulated chip, with other processes on its cores.

use super::{Reason, Recent};

/// After a shared phase that lost some time, the caller runs the loop alone for at most this many times the lost
/// time.
const RETURN: f32 = 32.0;
/// The longest time that the caller runs the loop alone, in ns.
const LONGEST_NS: f32 = 2e9;
/// The least number of runs alone after a shared phase.
const FEWEST_ALONE: f32 = 8.0;
/// Trials take at most the total time divided by this number.
const TRIALS: f32 = 400.0;
/// An unknown loop may lose this much time, in ns, before it runs on its caller alone.
const FIRST_NS: f32 = 1e6;
/// Sharing pays if a shared run typically takes less than this part of the time that the caller alone takes.
const GAINS: f32 = 0.95;
/// The choice forgets two thirds of a loss in this time of shared runs, in ns.
const FORGET_NS: f32 = 2e9;
/// If the caller's iterations took more than this many times their usual time plus [`ASIDE_NS`], the operating
/// system may have put the caller aside.
const ASIDE: f32 = 4.0;
/// A part of the limit that [`ASIDE`] describes, in ns.
const ASIDE_NS: f32 = 20_000.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Shared,
    Alone,
}

/// A shared run of `n` iterations. Times are in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) n: usize,
    /// The time from the beginning to the end of the run.
    pub(crate) took: f32,
    /// How long the caller worked in the run.
    pub(crate) own: f32,
    /// How many iterations the caller ran.
    pub(crate) own_n: usize,
    /// Whether the operating system put the caller aside during the run. If so, the run is not counted.
    pub(crate) aside: bool,
    /// Whether the caller had to wake a helper. In most runs a helper is awake.
    pub(crate) woken: bool,
}

/// The unit of the times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    pub(crate) ticks_per_ns: f32,
}

/// The times of one loop, shared and alone, in six words. Two callers of the same loop may write at the same time.
/// A mixture of their words is still an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Choice {
    /// The ticks of an iteration when the caller runs the loop alone.
    alone: Recent,
    /// The ticks of a shared run, divided by its iterations, in this phase.
    shared: Recent,
    /// The ticks of a shared run whose caller had to wake a helper, divided by its iterations.
    woken: Recent,
    /// The account: the ticks that sharing has saved in this phase.
    balance: f32,
    /// The most ticks that one shared run has lost lately.
    worst: f32,
    /// The ticks that runs alone must take before the next shared phase begins, or 0 in a shared phase.
    due: f32,
    /// The ticks that a trial may cost.
    trial: f32,
    /// The factor by which the loss of the next failed phase is multiplied.
    patience: f32,
    /// The balance at the beginning of the phase, or 0 in the first phase.
    credit: f32,
}

impl Choice {
    /// The choice for a loop whose iterations are thought to take `each` ticks.
    pub(crate) fn new(each: f32, units: Units) -> Self {
        Self {
            alone: Recent::of(each),
            shared: Recent::default(),
            woken: Recent::default(),
            balance: FIRST_NS * units.ticks_per_ns,
            worst: FIRST_NS / 2.0 * units.ticks_per_ns,
            due: 0.0,
            // The first trial comes as soon as possible, since `each` may be the time of a shared iteration.
            trial: f32::MAX,
            patience: 1.0,
            credit: 0.0,
        }
    }

    pub(crate) fn words(self) -> [u64; 6] {
        let pair = |low: f32, high: f32| u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32;
        [
            self.alone.bits(),
            self.shared.bits(),
            self.woken.bits(),
            pair(self.balance, self.worst),
            pair(self.due, self.trial),
            pair(self.patience, self.credit),
        ]
    }

    pub(crate) fn of_words([alone, shared, woken, account, plan, more]: [u64; 6]) -> Self {
        let low = |pair: u64| f32::from_bits(pair as u32);
        let high = |pair: u64| f32::from_bits((pair >> 32) as u32);
        Self {
            alone: Recent::of_bits(alone),
            shared: Recent::of_bits(shared),
            woken: Recent::of_bits(woken),
            balance: low(account),
            worst: high(account),
            due: low(plan),
            trial: high(plan),
            patience: low(more),
            credit: high(more),
        }
    }

    /// Returns the ticks that an iteration typically takes the caller alone.
    #[inline]
    pub(crate) fn each_alone(self) -> f32 {
        self.alone.typical().unwrap_or(0.0)
    }

    /// Whether recent runs alone have taken about the same time.
    #[inline]
    pub(crate) fn is_settled(self) -> bool {
        self.alone.agree()
    }

    /// Returns how the next run, of `n` iterations, begins.
    #[inline]
    pub(crate) fn next(self, n: usize) -> Way {
        if self.due > 0.0 || self.is_trial_due(n) {
            Way::Alone
        } else {
            Way::Shared
        }
    }

    /// Returns why [`next`](Self::next) says that the caller runs the loop alone.
    pub(crate) fn why_alone(self) -> Reason {
        match (self.due > 0.0, self.shared.count()) {
            (false, _) => Reason::Trial,
            (true, 0) => Reason::Delayed,
            (true, _) => Reason::NoGain,
        }
    }

    fn is_trial_due(self, n: usize) -> bool {
        self.shared.count() >= 3 && self.trial >= self.price(n)
    }

    /// Returns the price of a trial of `n` iterations. The price is at least the time of a shared run, so trials
    /// are rare even if they cost nothing.
    fn price(self, n: usize) -> f32 {
        let shared = self.shared.typical().unwrap_or(0.0);
        (self.each_alone() - shared).max(shared) * n as f32
    }

    /// Records that one thread alone ran `n` iterations in `took` ticks.
    #[inline]
    pub(crate) fn saw_alone(self, n: usize, took: f32) -> Self {
        let alone = self.alone.push(took / n as f32);
        Self { alone, ..self }
    }

    /// Whether `n` iterations took the caller so long that the operating system may have put it aside.
    #[inline]
    pub(crate) fn is_suspicious(self, n: usize, took: f32, units: Units) -> bool {
        let slack = ASIDE_NS * units.ticks_per_ns;
        took > ASIDE * self.each_alone() * n as f32 + slack
    }

    /// Whether waking a helper for the loop saves time, or `None` if this is unknown.
    pub(crate) fn gains_woken(self) -> Option<bool> {
        let woken = self.woken.typical()?;
        (self.woken.count() >= 2).then_some(woken < GAINS * self.each_alone())
    }

    /// Records that the caller ran all `n` iterations alone, as [`next`](Self::next) said. `aside` is as in [`Run`].
    pub(crate) fn ran_alone(self, n: usize, took: f32, aside: bool) -> Self {
        let after = if aside { self } else { self.saw_alone(n, took) };
        if self.due == 0.0 {
            let price = self.price(n);
            let trial = if self.trial == f32::MAX {
                0.0
            } else {
                (self.trial - price).max(0.0)
            };
            return Self { trial, ..after };
        }
        // The time of the caller alone may have turned out to be longer than the choice had assumed.
        if after.due - took <= 0.0 || after.gains() {
            return after.begin_shared(n);
        }
        Self {
            due: after.due - took,
            ..after
        }
    }

    /// Whether sharing has typically saved time in the last shared phase.
    fn gains(self) -> bool {
        let (alone, shared) = (self.each_alone(), self.shared.typical());
        self.shared.count() >= 3 && shared.is_some_and(|shared| shared < GAINS * GAINS * alone)
    }

    fn begin_shared(self, n: usize) -> Self {
        // With this credit, one run does not end the phase again, unless it takes twice as long as a run alone.
        let credit = self.each_alone() * n as f32;
        Self {
            due: 0.0,
            balance: credit,
            credit,
            shared: Recent::default(),
            ..self
        }
    }

    pub(crate) fn ran_shared(mut self, run: Run, units: Units) -> Self {
        let n = run.n as f32;
        let own = run.own / run.own_n.max(1) as f32;
        // An iteration takes no longer alone than in a shared run.
        if run.own_n > 0 && own < self.each_alone() {
            self.alone = self.alone.push(own);
        }
        let each = self.each_alone();
        let alone = each * n;
        self.trial += run.took / TRIALS;
        if run.aside {
            return self;
        }
        if run.woken {
            self.woken = self.woken.push(run.took / n);
        }
        let saved = alone - run.took;
        let is_first = self.credit > 0.0 && self.balance == self.credit;
        if run.woken && is_first && saved < 0.0 {
            // The first run of a phase wakes helpers, and later runs need not. The end of the phase accounts for
            // that loss.
            self.credit -= saved;
            return self;
        }
        if run.own_n == run.n && !run.woken {
            // No helper joined, so the run lost only the cost of the post.
            self.balance += saved.min(0.0).max(-0.05 * alone);
            return self;
        }
        if !run.woken {
            self.shared = self.shared.push(run.took / n);
        }
        let forget = run.took / (FORGET_NS * units.ticks_per_ns);
        self.worst = self.worst.max(-saved) * (1.0 - forget).max(0.0);
        self.balance += saved;
        let full = (2.0 * self.worst).max(4.0 * alone) + self.credit;
        if self.balance >= full {
            self.balance = full;
            self.patience = 1.0;
        }
        let shared = self.shared.typical().unwrap_or(0.0);
        let gains_nothing = shared > GAINS * each;
        let in_vain = self.shared.count() >= 3 && gains_nothing;
        if self.balance >= 0.0 && !in_vain {
            return self;
        }
        let lost = if in_vain {
            (shared - each).max(0.0) * n * 3.0
        } else {
            0.0
        };
        let overdrawn = if self.balance < 0.0 {
            self.credit - self.balance
        } else {
            0.0
        };
        if self.balance < 0.0 {
            // Forget that the typical run of this phase saved time, since this says nothing about the next phase.
            self.shared = Recent::default();
        }
        let due = self.patience * lost.max(overdrawn);
        let due = due
            .max(FEWEST_ALONE * alone)
            .min(LONGEST_NS * units.ticks_per_ns);
        let patience = (if gains_nothing { 4.0 } else { 2.0 } * self.patience).min(RETURN);
        Self {
            due,
            patience,
            ..self
        }
    }
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
