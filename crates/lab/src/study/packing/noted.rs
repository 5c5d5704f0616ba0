//! When each phase was over.

use super::account::Account;
use super::world::PackingWorld;
use manycore_kernels::spmd::{Phase, Worksharing};
use std::marker::PhantomData;
use std::ops::Range;

/// What was noted, from when the program had settled.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    /// When it began and when each barrier was passed, in ticks.
    pub(super) passed: Vec<u64>,
    /// What the cores did meanwhile.
    pub(super) account: Account,
}

/// Shares as another does, and notes when.
pub(super) struct Noted<'a, W> {
    inner: &'a mut dyn Worksharing,
    /// Barriers until the program has settled.
    unsettled: usize,
    cores: usize,
    begin: Account,
    passed: Vec<u64>,
    world: PhantomData<fn() -> W>,
}

impl<'a, W: PackingWorld> Noted<'a, W> {
    /// Notes begin after so many barriers, and are of so many cores.
    pub(super) fn new(inner: &'a mut dyn Worksharing, unsettled: usize, cores: usize) -> Self {
        let mut this = Self {
            inner,
            unsettled: unsettled + 1,
            cores,
            begin: Account::default(),
            passed: Vec::new(),
            world: PhantomData,
        };
        this.pass();
        this
    }

    fn pass(&mut self) {
        self.unsettled = self.unsettled.saturating_sub(1);
        if self.unsettled == 0 {
            if self.passed.is_empty() {
                self.begin = W::account(self.cores);
            }
            self.passed.push(W::now());
        }
    }

    /// After the program.
    pub(super) fn finish(self) -> Notes {
        Notes {
            account: W::account(self.cores).since(&self.begin),
            passed: self.passed,
        }
    }
}

// SAFETY: whoever it stands before is one.
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
