//! Notes the time at which each phase ends.

use super::account::Account;
use super::extent::{Extent, Half};
use super::world::PackingWorld;
use manycore_programs::spmd::{Phase, Worksharing};
use std::marker::PhantomData;
use std::ops::Range;

/// The notes of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    /// When the counted part began, and when each of its barriers was passed, in ticks.
    pub(super) passed: Vec<u64>,
    /// The account (how the cores spent their time) of that part.
    pub(super) account: Account,
    /// The number of barriers in the steps before the counted part. The next field has the ticks and the account of
    /// these steps.
    pub(super) skipped: usize,
    pub(super) settling: (u64, Account),
    /// The margin of a step's mean time, if the run ended because the margin was small enough.
    pub(super) margin: Option<f64>,
    /// The ticks and the account of the part before the first step.
    pub(super) prelude: (u64, Account),
}

/// Shares phases through another [`Worksharing`], and notes when each ends.
pub(super) struct Noted<'a, W> {
    inner: &'a mut dyn Worksharing,
    extent: &'a Extent,
    cores: usize,
    /// The program's start, and the end of each phase, in ticks.
    passed: Vec<u64>,
    /// The accounts at some of these times.
    accounts: Vec<(usize, Account)>,
    /// The counted part, once it is decided.
    half: Option<Half>,
    world: PhantomData<fn() -> W>,
}

impl<'a, W: PackingWorld> Noted<'a, W> {
    pub(super) fn new(inner: &'a mut dyn Worksharing, extent: &'a Extent, cores: usize) -> Self {
        let mut this = Self {
            inner,
            extent,
            cores,
            passed: Vec::new(),
            accounts: Vec::new(),
            half: None,
            world: PhantomData,
        };
        this.pass();
        this
    }

    fn pass(&mut self) {
        if self.half.is_some() {
            return;
        }
        let barrier = self.passed.len();
        let is_mark = match self.extent {
            Extent::Rest { skipped } => barrier == *skipped,
            Extent::Steady(steady) => {
                [0, steady.prelude].contains(&barrier) || steady.is_mark(barrier)
            }
        };
        if is_mark {
            self.accounts.push((barrier, W::account(self.cores)));
        }
        self.passed.push(W::now());
        if let Extent::Steady(steady) = self.extent
            && steady.is_mark(barrier)
        {
            self.half = steady.look(&self.passed);
        }
    }

    /// Completes the notes after the program's end.
    pub(super) fn finish(self) -> Notes {
        let end = W::account(self.cores);
        let account = |barrier| {
            let mut all = self.accounts.iter();
            let found = all.find(|(at, _)| *at == barrier);
            found.map_or_else(Account::default, |(_, account)| *account)
        };
        let between = |first: usize, last: usize| {
            let ticks = self.passed[last] - self.passed[first];
            (ticks, account(last).since(&account(first)))
        };
        match (self.extent, self.half) {
            (Extent::Steady(steady), Some(half)) => Notes {
                passed: self.passed[half.begin..].to_vec(),
                account: account(self.passed.len() - 1).since(&account(half.begin)),
                skipped: half.begin - steady.prelude,
                settling: between(steady.prelude, half.begin),
                margin: Some(half.margin),
                prelude: between(0, steady.prelude),
            },
            (Extent::Steady(steady), None) => Notes {
                passed: self.passed[steady.prelude..].to_vec(),
                account: end.since(&account(steady.prelude)),
                prelude: between(0, steady.prelude),
                ..Notes::default()
            },
            (Extent::Rest { skipped }, _) => Notes {
                passed: self.passed[*skipped..].to_vec(),
                account: end.since(&account(*skipped)),
                skipped: *skipped,
                ..Notes::default()
            },
        }
    }
}

// SAFETY: all calls go to `inner`, which keeps the contract.
unsafe impl<W: PackingWorld> Worksharing for Noted<'_, W> {
    fn share(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) + Sync)) {
        self.inner.share(phase, body);
        self.pass();
    }

    fn sum(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64 {
        let sum = self.inner.sum(phase, body);
        self.pass();
        sum
    }
}
