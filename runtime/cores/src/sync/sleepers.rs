//! A count of sleeping threads for publishers, in two forms of fences.

use manycore_platform::{Atomic, AtomicInteger, CachePadded, Native, Ordering, Platform};
use std::marker::PhantomData;
use std::sync::atomic;

/// The two fences of a protocol with two sides. A publisher publishes and then checks whether the
/// other side sleeps. A sleeper announces its sleep and then checks what was published.
///
/// The contract: if a publisher passes its fence and a sleeper passes its own, at least one of them
/// sees, after its fence, what the other did before its fence.
pub trait Fences: Send + Sync + 'static {
    /// The fence for a thread that has published.
    fn publisher<P: Platform>();

    /// The fence for a thread that has said that it sleeps.
    fn sleeper<P: Platform>();
}

/// Both sides pay alike. For publishers that have just made an atomic read-modify-write: their
/// fence is free on machines with locked instructions.
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

/// Sleepers pay for both: for publishers that only store.
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

/// The number of threads that sleep or are about to, on a line of its own. Publishers read it and
/// only sleepers write it, so a look costs no transfer while no thread sleeps.
///
/// # Why no wake-up is lost
///
/// A publisher does  
///   P1 publish; P2 fence; P3 read the count; P4 if it is not 0, change the word that sleepers
///   sleep on (unless P1 has), and wake them.
///
/// A sleeper does  
///   S1 count itself; S2 fence; S3 look at what is published; S4 sleep, if there was nothing, on
///   that word as S3 saw it.
///
/// By the contract of [`Fences`] either S3 sees what P1 published, and the sleeper stays awake; or P3
/// sees the sleeper, and P4 follows. The futex compares the word and falls asleep in one step, so
/// P4 finds the sleeper asleep, or the word has changed and it does not fall asleep. Checked by
/// `sync::checked` in both forms, with each fence left out.
pub struct Sleepers<P: Platform, F: Fences> {
    count: CachePadded<P::AtomicU32>,
    fences: PhantomData<F>,
}

impl<P: Platform, F: Fences> Sleepers<P, F> {
    #[expect(clippy::new_without_default, reason = "no caller wants a default one")]
    /// A count of no sleepers.
    pub fn new() -> Self {
        Self {
            count: CachePadded::new(P::AtomicU32::new(0)),
            fences: PhantomData,
        }
    }

    /// For a simulator's accounts.
    pub fn name(&self, name: &'static str) {
        P::name(&self.count, name);
    }

    /// P2 and P3: how many may sleep, to be asked after something was published.
    #[inline(always)]
    pub fn after_publishing(&self) -> u32 {
        F::publisher::<P>();
        self.after_fence()
    }

    /// P3 alone, for a publisher that has made a full fence already.
    #[inline(always)]
    pub fn after_fence(&self) -> u32 {
        // Relaxed: ordered by the fences on both sides, and carries no data.
        self.count.load(Ordering::Relaxed)
    }

    /// S1 and S2, then `section`, which looks and sleeps.
    #[inline]
    pub fn sleep<R>(&self, section: impl FnOnce() -> R) -> R {
        // Relaxed: the fence orders it before what `section` looks at, and it publishes nothing.
        self.count.fetch_add(1, Ordering::Relaxed);
        F::sleeper::<P>();
        let result = section();
        // Relaxed: a publisher that still counts this thread makes one call too many.
        self.count.fetch_sub(1, Ordering::Relaxed);
        result
    }
}

impl<F: Fences> Sleepers<Native, F> {
    /// As [`new`](Self::new), for statics.
    #[must_use]
    pub const fn native() -> Self {
        Self {
            count: CachePadded::new(atomic::AtomicU32::new(0)),
            fences: PhantomData,
        }
    }
}
