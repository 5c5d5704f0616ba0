//! When each phase was over.

use manycore_kernels::spmd::{Phase, Worksharing};
use manycore_platform::Platform;
use std::marker::PhantomData;
use std::ops::Range;

/// Shares as another does, and notes when.
pub(super) struct Noted<'a, P> {
    inner: &'a mut dyn Worksharing,
    times: &'a mut Vec<u64>,
    platform: PhantomData<fn() -> P>,
}

impl<'a, P: Platform> Noted<'a, P> {
    /// Notes end up in `times`, in ticks.
    pub(super) fn new(inner: &'a mut dyn Worksharing, times: &'a mut Vec<u64>) -> Self {
        Self {
            inner,
            times,
            platform: PhantomData,
        }
    }
}

// SAFETY: whoever it stands before is one.
unsafe impl<P: Platform> Worksharing for Noted<'_, P> {
    fn share(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) + Sync)) {
        self.inner.share(phase, body);
        self.times.push(P::now());
    }

    fn sum(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64 {
        let sum = self.inner.sum(phase, body);
        self.times.push(P::now());
        sum
    }
}
