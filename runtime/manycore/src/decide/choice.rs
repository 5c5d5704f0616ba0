//! Which of two ways a loop is run next: shared with other threads, or by its caller alone.
//!
//! # The rule
//!
//! The choice keeps an account of what sharing has saved, in time. Each shared run adds the time
//! that the caller alone takes, and subtracts the time that the run took. A shared phase ends in two
//! cases:
//!
//! * The account is overdrawn: a few runs lost more than the others saved. The system put a helper
//!   aside in the middle of an iteration, and the caller had to wait for it.
//! * Runs typically save nothing: helpers fight over the same lines.
//!
//! The caller then runs the loop alone until these runs have taken [`RETURN`] times what was lost, at
//! most [`LONGEST_NS`]. Early phases that fail are paid for less: the factor begins at 1 and doubles with each
//! failure in a row. After that a new shared phase begins.
//!
//! While the loop is shared, the caller runs it alone now and then, to know what that takes. These
//! trials cost at most 1 part in [`TRIALS`] of the time.
//!
//! # The bound
//!
//! Let A be the time of all runs if the caller runs them alone, and S the time if all are shared.
//!
//! *Against A.* A phase that fails with a loss of L is followed by runs alone that take RETURN L, once the
//! factor has grown. The account forgets savings but no losses, so a phase never loses more than it
//! says. All failed phases therefore cost A / RETURN together, and the trials A / TRIALS. Three
//! terms do not grow with A: what the first phase may lose ([`FIRST_NS`]), the five phases until the factor has
//! grown, and the loss of the last phase. The last loss is at most what the account may hold, which is twice
//! the longest time that a helper was put aside, and one such time.
//!
//! *Against S.* In a shared phase only trials run alone. Assume that a shared run saves time on
//! average, and that the system puts a helper aside for M at a time. If the runs between two such times save M,
//! the account never runs empty after the first of them. Only a phase that begins too late before such
//! a time fails, and the factor 1 makes the first failure cheap.
//!
//! *Changes.* Three runs find that a loop gains no more. If losses become frequent, the account is empty after
//! two of the longest. A loop that begins to gain is found when the runs alone have taken the factor
//! times the last loss.
//!
//! `conserving/regret` measures this on the simulated chip, beside other processes.

use super::{Reason, Recent};

/// After a shared phase that lost some time, the caller runs the loop alone for this many times that
/// long.
const RETURN: f32 = 32.0;
/// The longest time that the caller runs the loop alone, in ns.
const LONGEST_NS: f32 = 2e9;
/// Runs alone after a shared phase, at least.
const FEWEST_ALONE: f32 = 8.0;
/// Trials of the other way take 1 part in this many of the time.
const TRIALS: f32 = 400.0;
/// An unknown loop may lose so much, in ns, before it stays with its caller.
const FIRST_NS: f32 = 1e6;
/// Sharing gains if it typically takes less than this part of the caller's time alone.
const GAINS: f32 = 0.95;
/// The choice forgets two thirds of a loss in this time of shared runs, in ns.
const FORGET_NS: f32 = 2e9;
/// The system may have put the caller aside if its own iterations took this many times as long as
/// alone, and [`ASIDE_NS`] in addition.
const ASIDE: f32 = 4.0;
/// In ns.
const ASIDE_NS: f32 = 20_000.0;

/// How a loop is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Shared,
    Alone,
}

/// A shared run of `n` iterations; times in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) n: usize,
    /// From its beginning to its end.
    pub(crate) took: f32,
    /// How long the caller worked in it, and on how many iterations.
    pub(crate) own: f32,
    pub(crate) own_n: usize,
    /// Whether the system put the caller aside meanwhile: the run counts for neither way.
    pub(crate) aside: bool,
    /// Whether a helper had to be woken, which typical runs have no need of.
    pub(crate) woken: bool,
}

/// The unit of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    pub(crate) ticks_per_ns: f32,
}

/// The times of one loop both ways, in six words. Callers of the same loop write each word
/// without regard to each other: a mixture of two callers' words is an estimate too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Choice {
    /// Ticks an iteration when the caller runs the loop alone.
    alone: Recent,
    /// Ticks an iteration of a shared run, its beginning to its end, in this phase.
    shared: Recent,
    /// Ticks an iteration of a shared run whose caller had to wake a helper.
    woken: Recent,
    /// Ticks that sharing has saved in this phase.
    balance: f32,
    /// The most that one shared run has lost of late.
    worst: f32,
    /// Ticks that runs alone have to take before the next shared phase; 0: this is one.
    due: f32,
    /// Ticks that a trial may cost.
    trial: f32,
    /// The price factor of the next failed phase.
    patience: f32,
    /// The balance at the beginning of the phase; 0 in the first phase.
    credit: f32,
}

impl Choice {
    /// An iteration is believed to take `each` ticks.
    pub(crate) fn new(each: f32, units: Units) -> Self {
        Self {
            alone: Recent::of(each),
            shared: Recent::default(),
            woken: Recent::default(),
            balance: FIRST_NS * units.ticks_per_ns,
            worst: FIRST_NS / 2.0 * units.ticks_per_ns,
            due: 0.0,
            // The first trial comes at once: `each` may be the time of a shared iteration.
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

    /// Ticks an iteration typically takes the caller alone.
    #[inline]
    pub(crate) fn each_alone(self) -> f32 {
        self.alone.typical().unwrap_or(0.0)
    }

    /// Whether runs alone have taken about the same of late.
    #[inline]
    pub(crate) fn is_settled(self) -> bool {
        self.alone.agree()
    }

    /// How a run of `n` iterations begins.
    #[inline]
    pub(crate) fn next(self, n: usize) -> Way {
        if self.due > 0.0 || self.is_trial_due(n) {
            Way::Alone
        } else {
            Way::Shared
        }
    }

    /// Why [`next`](Self::next) says that the caller runs the loop alone.
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

    /// The cost of a trial of `n` iterations. A trial counts as one run at least, so that trials are
    /// rare also where they cost nothing.
    fn price(self, n: usize) -> f32 {
        let shared = self.shared.typical().unwrap_or(0.0);
        (self.each_alone() - shared).max(shared) * n as f32
    }

    /// A time of `n` iterations that one thread ran alone, of `took` ticks.
    #[inline]
    pub(crate) fn saw_alone(self, n: usize, took: f32) -> Self {
        let alone = self.alone.push(took / n as f32);
        Self { alone, ..self }
    }

    /// Whether `n` iterations took the caller so long that it may have been put aside.
    #[inline]
    pub(crate) fn is_suspicious(self, n: usize, took: f32, units: Units) -> bool {
        let slack = ASIDE_NS * units.ticks_per_ns;
        took > ASIDE * self.each_alone() * n as f32 + slack
    }

    /// Whether the loop gains by waking a helper for it, if that is known.
    pub(crate) fn gains_woken(self) -> Option<bool> {
        let woken = self.woken.typical()?;
        (self.woken.count() >= 2).then_some(woken < GAINS * self.each_alone())
    }

    /// The caller ran all `n` iterations alone, as [`next`](Self::next) said; `aside`: as in [`Run`].
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
        // The caller alone may turn out to be slower than it was believed to be.
        if after.due - took <= 0.0 || after.gains() {
            return after.begin_shared(n);
        }
        Self {
            due: after.due - took,
            ..after
        }
    }

    /// Whether sharing has typically saved something in the last shared phase.
    fn gains(self) -> bool {
        let (alone, shared) = (self.each_alone(), self.shared.typical());
        self.shared.count() >= 3 && shared.is_some_and(|shared| shared < GAINS * GAINS * alone)
    }

    fn begin_shared(self, n: usize) -> Self {
        // One run is not enough to end it again, unless it took twice as long as alone.
        let credit = self.each_alone() * n as f32;
        Self {
            due: 0.0,
            balance: credit,
            credit,
            shared: Recent::default(),
            ..self
        }
    }

    /// The loop was shared.
    pub(crate) fn ran_shared(mut self, run: Run, units: Units) -> Self {
        let n = run.n as f32;
        let own = run.own / run.own_n.max(1) as f32;
        // Alone an iteration takes no longer than shared.
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
            // A phase begins with a wake-up, which the runs after it do not need. It is paid for in
            // the end.
            self.credit -= saved;
            return self;
        }
        if run.own_n == run.n && !run.woken {
            // No helper came: all that it cost is the post.
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
            // The typical run of this phase gained, and says nothing of the next.
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
