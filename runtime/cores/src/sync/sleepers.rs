//! A count of sleeping threads that publishers read, in two forms that differ in their fences.

use manycore_platform::{Atomic, AtomicInteger, Native, Ordering, Platform};
use std::marker::PhantomData;
use std::sync::atomic;

/// The two fences of a protocol with two sides. A publisher publishes and then checks whether the other side sleeps. A
/// sleeper announces its sleep and then checks what is published.
///
/// The contract: if a publisher passes its fence and a sleeper passes its own, at least one of them sees, after its
/// own fence, the other's writes before the other's fence.
pub trait Fences: Send + Sync + 'static {
    /// The fence of a thread that has published.
    fn publisher<P: Platform>();

    /// The fence of a thread that has announced its sleep.
    fn sleeper<P: Platform>();
}

/// Both sides make a full fence. This form is for publishers that have just made an atomic read-modify-write. On
/// machines with locked instructions, their fence is free.
#[derive(Debug)]
pub enum AfterRmw {}

impl Fences for AfterRmw {
    #[inline(always)]
    fn publisher<P: Platform>() {
        P::fence_after_rmw();
    }

    fn sleeper<P: Platform>() {
        P::fence_after_rmw();
    }
}

/// Sleepers make a heavy fence, and publishers a light fence. This form is for publishers that only store.
#[derive(Debug)]
pub enum Asymmetric {}

impl Fences for Asymmetric {
    #[inline(always)]
    fn publisher<P: Platform>() {
        P::light_fence();
    }

    fn sleeper<P: Platform>() {
        P::heavy_fence();
    }
}

/// The number of threads that sleep or are about to. Only sleepers write it. So if the count has its own cache line, or
/// shares the line of the word that publishers write, a publisher's read transfers no line while no thread sleeps.
///
/// # Why no wake-up is lost
///
/// A publisher publishes (P1), makes its fence (P2) and reads the count (P3). If the count is not 0, the publisher
/// changes the word that sleepers sleep on, unless P1 has changed it, and wakes the sleepers (P4).
///
/// A sleeper counts itself (S1), makes its fence (S2) and looks at what is published (S3). If nothing is published,
/// the sleeper sleeps while that word is as S3 saw it (S4).
///
/// By the contract of [`Fences`], S3 sees what P1 published, and the sleeper stays awake, or P3 sees the sleeper, and
/// P4 follows. The futex compares the word and falls asleep in one step. So P4 finds the sleeper asleep, or the word
/// has changed and the sleeper does not fall asleep. `sync::checked` checks both forms, with each fence left out.
pub struct Sleepers<P: Platform, F: Fences> {
    count: P::AtomicU32,
    fences: PhantomData<F>,
}

impl<P: Platform, F: Fences> Sleepers<P, F> {
    #[expect(clippy::new_without_default, reason = "no caller wants a default one")]
    /// Makes a count of no sleepers.
    pub fn new() -> Self {
        Self {
            count: P::AtomicU32::new(0),
            fences: PhantomData,
        }
    }

    /// Names the cache line for a simulator, which counts the accesses to it.
    pub fn name(&self, name: &'static str) {
        P::name(&self.count, name);
    }

    /// Does P2 and P3. Returns the number of threads that may sleep.
    #[inline(always)]
    pub fn after_publishing(&self) -> u32 {
        F::publisher::<P>();
        self.after_fence()
    }

    /// Does P3 alone, for a publisher that has made a full fence already.
    #[inline(always)]
    pub fn after_fence(&self) -> u32 {
        // Relaxed: the fences on both sides order the load, and the count publishes no data.
        self.count.load(Ordering::Relaxed)
    }

    /// Does S1 and S2. Then calls `section`, which looks and sleeps.
    #[inline]
    pub fn sleep<R>(&self, section: impl FnOnce() -> R) -> R {
        // Relaxed: the fence orders the addition before the looks of `section`, and the addition publishes nothing.
        self.count.fetch_add(1, Ordering::Relaxed);
        F::sleeper::<P>();
        let result = section();
        // Relaxed: a publisher that still counts this thread only wakes in vain.
        self.count.fetch_sub(1, Ordering::Relaxed);
        result
    }
}

impl<F: Fences> Sleepers<Native, F> {
    /// As [`new`](Self::new), for statics.
    #[must_use]
    pub const fn native() -> Self {
        Self {
            count: atomic::AtomicU32::new(0),
            fences: PhantomData,
        }
    }

    /// Forgets the sleepers: see [`Bell::forget_sleepers`](super::Bell::forget_sleepers).
    pub(super) fn forget(&self) {
        // Relaxed: the process has one thread.
        self.count.store(0, atomic::Ordering::Relaxed);
    }
}
