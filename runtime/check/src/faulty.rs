//! A platform with one fault: it gives a protocol one mistake without a copy of its code.

use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform, forward};
use std::marker::PhantomData;
use std::time::Duration;

/// The platform `P` with the fault `F`.
///
/// Production code on this platform is production code with that fault: a claim that loads and stores instead of a
/// fetch-and-add, or a missing fence. If a check passes with the fault, the check checks nothing.
///
/// Use it in models only. Elsewhere, for example over [`Native`](manycore_platform::Native), a program on it can
/// corrupt memory, even in safe code.
///
/// ```
/// use manycore_check::{Faulty, Loom, TornAdd, caught, loom_model, team};
/// use manycore_platform::{Atomic, AtomicInteger, Ordering::Relaxed, Platform};
///
/// fn counts<P: Platform>() {
///     let sum = P::AtomicU32::new(0);
///     team::<P>(2, |_| {
///         sum.fetch_add(1, Relaxed);
///     });
///     assert_eq!(sum.load(Relaxed), 2);
/// }
/// loom_model(None, counts::<Loom>);
/// caught(|| loom_model(None, counts::<Faulty<Loom, TornAdd>>));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Faulty<P, F>(PhantomData<(P, F)>);

/// The fault of a [`Faulty`] platform.
///
/// ```
/// use manycore_check::{Fault, TornCas};
///
/// assert!(TornCas::TORN_CAS && !TornCas::NO_FENCE);
/// ```
pub trait Fault: Send + Sync + 'static {
    /// Additions and subtractions are a load and a store.
    const TORN_ADD: bool = false;
    /// Bitwise operations are a load and a store.
    const TORN_BITS: bool = false;
    /// Swaps are a load and a store.
    const TORN_SWAP: bool = false;
    /// A compare-and-swap compares and then stores, in two steps.
    const TORN_CAS: bool = false;
    /// Fences do nothing.
    const NO_FENCE: bool = false;
    /// There are no asymmetric fences. This is no fault, but the protocols' other path.
    const NO_LIGHT_FENCES: bool = false;
    /// The heavy half of an asymmetric fence does nothing.
    const NO_HEAVY_FENCE: bool = false;
    /// Every access to an atomic is relaxed.
    const RELAXED: bool = false;
    /// Wake-ups do nothing.
    const DEAF: bool = false;
}

macro_rules! fault {
    ($(#[$doc:meta])* $name:ident, $fault:ident) => {
        $(#[$doc])*
        ///
        /// ```
        /// use manycore_check::{Fault,
        #[doc = concat!(" ", stringify!($name), "};")]
        #[doc = concat!(" assert!(", stringify!($name), "::", stringify!($fault), ");")]
        /// ```
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Fault for $name {
            const $fault: bool = true;
        }
    };
}

fault!(
    /// The fault of a claim that loads and then stores.
    TornAdd,
    TORN_ADD
);
fault!(
    /// The fault of code that sets one of several flags in a word and rewrites the others with old values.
    TornBits,
    TORN_BITS
);
fault!(
    /// The fault of code that looks at a flag and then sets it.
    TornSwap,
    TORN_SWAP
);
fault!(
    /// The fault of a steal that compares and then stores.
    TornCas,
    TORN_CAS
);
fault!(
    /// The fault of a sleep protocol without its fences.
    NoFence,
    NO_FENCE
);
fault!(
    /// No fault: a system that refuses asymmetric fences.
    Fenced,
    NO_LIGHT_FENCES
);
fault!(
    /// The fault of a thief that does not pay for the owner's fence.
    NoHeavyFence,
    NO_HEAVY_FENCE
);
fault!(
    /// The fault of publishing by relaxed accesses.
    Relaxed,
    RELAXED
);
fault!(
    /// A futex that loses wake-ups.
    Deaf,
    DEAF
);

/// An atomic of a faulty platform.
pub struct FaultyCell<A, F> {
    cell: A,
    fault: PhantomData<F>,
}

impl<A, F: Fault> FaultyCell<A, F> {
    fn order(order: Ordering) -> Ordering {
        if F::RELAXED { Ordering::Relaxed } else { order }
    }
}

impl<T: Copy, A: Atomic<T>, F: Fault> Atomic<T> for FaultyCell<A, F> {
    fn new(value: T) -> Self {
        Self {
            cell: A::new(value),
            fault: PhantomData,
        }
    }

    fn load(&self, order: Ordering) -> T {
        self.cell.load(Self::order(order))
    }

    fn store(&self, value: T, order: Ordering) {
        self.cell.store(value, Self::order(order));
    }

    fn swap(&self, value: T, order: Ordering) -> T {
        if F::TORN_SWAP {
            let before = self.cell.load(Ordering::SeqCst);
            self.cell.store(value, Ordering::SeqCst);
            return before;
        }
        self.cell.swap(value, Self::order(order))
    }

    fn compare_exchange(
        &self,
        current: T,
        new: T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<T, T> {
        if F::TORN_CAS {
            // This only compares: it stores the value that it found.
            self.cell
                .compare_exchange(current, current, Ordering::SeqCst, Ordering::SeqCst)?;
            self.cell.store(new, Ordering::SeqCst);
            return Ok(current);
        }
        self.cell
            .compare_exchange(current, new, Self::order(success), Self::order(failure))
    }
}

macro_rules! impl_integer {
    ($value:ty) => {
        impl<A: AtomicInteger<$value>, F: Fault> AtomicInteger<$value> for FaultyCell<A, F> {
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                if F::TORN_ADD {
                    let before = self.cell.load(Ordering::SeqCst);
                    self.cell
                        .store(before.wrapping_add(value), Ordering::SeqCst);
                    return before;
                }
                self.cell.fetch_add(value, Self::order(order))
            }

            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.fetch_add(value.wrapping_neg(), order)
            }

            fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                if F::TORN_BITS {
                    let before = self.cell.load(Ordering::SeqCst);
                    self.cell.store(before & value, Ordering::SeqCst);
                    return before;
                }
                self.cell.fetch_and(value, Self::order(order))
            }

            fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                if F::TORN_BITS {
                    let before = self.cell.load(Ordering::SeqCst);
                    self.cell.store(before | value, Ordering::SeqCst);
                    return before;
                }
                self.cell.fetch_or(value, Self::order(order))
            }
        }
    };
}

impl_integer!(u32);
impl_integer!(u64);
impl_integer!(usize);

impl<A: Futex, F: Fault> Futex for FaultyCell<A, F> {
    fn wait(&self, expected: u32, timeout: Option<Duration>) {
        self.cell.wait(expected, timeout);
    }

    fn wake(&self, count: u32) -> usize {
        if F::DEAF {
            return 0;
        }
        self.cell.wake(count)
    }
}

// SAFETY: without a fault (`Fenced`) this is `P`, which keeps the promises. A fault breaks one promise on purpose. The
// checker, or the model's own assertions, must stop a broken protocol before it corrupts memory. `Faulty` says so.
unsafe impl<P: Platform, F: Fault> Platform for Faulty<P, F> {
    type AtomicU32 = FaultyCell<P::AtomicU32, F>;
    type AtomicU64 = FaultyCell<P::AtomicU64, F>;
    type AtomicUsize = FaultyCell<P::AtomicUsize, F>;
    type AtomicBool = FaultyCell<P::AtomicBool, F>;
    type AtomicPtr<T> = FaultyCell<P::AtomicPtr<T>, F>;
    type Futex = FaultyCell<P::Futex, F>;

    forward!(P: threads slot rest);

    fn fence(order: Ordering) {
        if !F::NO_FENCE {
            P::fence(order);
        }
    }

    fn light_fence() {
        if !F::NO_FENCE {
            P::light_fence();
        }
    }

    fn untested_light_fence() {
        if !F::NO_FENCE && !F::NO_LIGHT_FENCES {
            P::untested_light_fence();
        }
    }

    fn heavy_fence() {
        if !F::NO_FENCE && !F::NO_HEAVY_FENCE {
            P::heavy_fence();
        }
    }

    fn fence_after_rmw() {
        if !F::NO_FENCE {
            P::fence_after_rmw();
        }
    }

    fn has_light_fences() -> bool {
        !F::NO_LIGHT_FENCES && P::has_light_fences()
    }

    fn spin_while(word: &Self::Futex, value: u32, until: u64) -> u32 {
        P::spin_while(&word.cell, value, until)
    }
}
