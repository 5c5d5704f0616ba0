//! The atomics of the platform: words of host memory. Their accesses take simulated time.

use super::context::{in_order, suspend, with, with_inside};
use crate::config::AtomicKind;
use crate::engine::{Asked, Engine};
use crate::memory::{Operation, Rmw, Width, Word};
use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};
use std::time::Duration;

/// Does `operation` on the word at `host`, in the order of simulated time. Returns the previous
/// value.
#[inline]
pub(super) fn access(host: usize, operation: Operation, word: Word) -> u64 {
    let hit = with_inside(|engine, core| engine.hit(core, host, operation, word));
    match hit {
        Some(value) => value,
        None => access_slowly(host, operation, word).0,
    }
}

/// The part of [`access`] for accesses that are no simple cache hits. Also returns whether a conditional store was
/// done.
#[inline(never)]
fn access_slowly(host: usize, operation: Operation, word: Word) -> (u64, bool) {
    loop {
        let asked = with(|engine, core| {
            let line = engine.line_of(host);
            engine.access(core, line, operation, word)
        });
        match asked {
            Asked::Done(value) => return (value, true),
            Asked::Again => suspend(),
            Asked::Suspend => {
                suspend();
                return with_inside(Engine::reply);
            }
        }
    }
}

/// If an LL/SC pair fails more often than this in a row, the pair is done as one read-modify-write. Cores that contend
/// to add to one word fail fewer times in a row than this.
const FAILURES: u32 = 64;

/// Repeats an LL/SC pair until its store is done or its comparison fails.
///
/// In a deterministic machine, threads that write to the line at a steady pace could take the reservation (the right to
/// the conditional store) away every time, for ever. A real machine guarantees that such a pair succeeds in the end:
/// the pair's core keeps the line until the store is done. After `FAILURES`, this machine does the same.
fn load_linked(host: usize, rmw: Rmw, word: Word) -> u64 {
    for _ in 0..=FAILURES {
        let value = access(host, Operation::Load, word);
        if let Rmw::CompareExchange { current, .. } = rmw
            && value != current
        {
            return value;
        }
        let (value, stored) = access_slowly(host, Operation::Conditional(rmw), word);
        if stored {
            return value;
        }
    }
    access(host, rmw.operation(), word)
}

/// A read-modify-write: an LL/SC pair or one access, as the machine's configuration says.
#[inline]
fn modify(host: usize, rmw: Rmw, word: Word) -> u64 {
    let pairs = with_inside(|engine, _| engine.config.atomics.kind == AtomicKind::Llsc);
    if pairs {
        load_linked(host, rmw, word)
    } else {
        access(host, rmw.operation(), word)
    }
}

/// An atomic of the platform `Simulated`, of the size of `T`.
///
/// The atomic is a word of host memory. Its address decides its cache line, so false sharing is simulated. Orderings
/// are ignored, because the machine is sequentially consistent.
///
/// ```
/// use manycore_chip::{Simulated, Simulation, config::Config};
/// use manycore_platform::{AtomicInteger, Ordering, Platform};
///
/// let machine = Config::preset("atac-64")?;
/// let run = Simulation::new(&machine).run(|| {
///     let word = <Simulated as Platform>::AtomicU64::from(41);
///     word.fetch_add(1, Ordering::Relaxed) + 1
/// })?;
/// assert_eq!(run.value, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[repr(transparent)]
pub struct Cell<T, W> {
    word: W,
    value: PhantomData<T>,
}

// SAFETY: the word is an atomic, and `T` only says what its bits mean. `std`'s atomics of all `T`
// used here are `Send` and `Sync` too.
unsafe impl<T, W: Sync> Sync for Cell<T, W> {}
// SAFETY: as above.
unsafe impl<T, W: Send> Send for Cell<T, W> {}

/// The platform's atomic of 32 bits.
pub type Cell32 = Cell<u32, AtomicU32>;
/// The platform's atomic of 64 bits.
pub type Cell64 = Cell<u64, AtomicU64>;
/// The platform's atomic of a pointer's size.
pub type CellUsize = Cell<usize, AtomicU64>;
/// The platform's atomic flag.
pub type CellBool = Cell<bool, AtomicU8>;
/// The platform's atomic pointer.
pub type CellPtr<T> = Cell<*mut T, AtomicU64>;

const _: () = assert!(
    size_of::<usize>() == 8,
    "the simulator needs a host of 64 bits"
);

/// Converts between a value and the bits of its word.
trait Bits: Copy {
    const WIDTH: Width;
    fn bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
}

macro_rules! bits {
    ($type:ty, $word:ty, $width:ident, |$value:ident| $bits:expr, |$from:ident| $back:expr $(, $generic:ident)?) => {
        impl $(<$generic>)? Bits for $type {
            const WIDTH: Width = Width::$width;
            #[inline(always)]
            fn bits(self) -> u64 { let $value = self; $bits }
            #[inline(always)]
            fn from_bits($from: u64) -> Self { $back }
        }

        impl $(<$generic>)? From<$type> for Cell<$type, $word> {
            fn from(value: $type) -> Self {
                Self { word: <$word>::new(value.bits() as _), value: PhantomData }
            }
        }

        impl $(<$generic>)? Atomic<$type> for Cell<$type, $word> {
            fn new(value: $type) -> Self {
                value.into()
            }

            #[inline]
            fn load(&self, _: Ordering) -> $type {
                Bits::from_bits(access(self.host(), Operation::Load, word_of(self)))
            }

            #[inline]
            fn store(&self, value: $type, _: Ordering) {
                access(self.host(), Operation::Store(value.bits()), word_of(self));
            }

            #[inline]
            fn swap(&self, value: $type, _: Ordering) -> $type {
                Bits::from_bits(modify(self.host(), Rmw::Swap(value.bits()), word_of(self)))
            }

            #[inline]
            fn compare_exchange(
                &self,
                current: $type,
                new: $type,
                _: Ordering,
                _: Ordering,
            ) -> Result<$type, $type> {
                let rmw = Rmw::CompareExchange { current: current.bits(), new: new.bits() };
                let old = modify(self.host(), rmw, word_of(self));
                let value = Bits::from_bits(old);
                if old == current.bits() { Ok(value) } else { Err(value) }
            }
        }
    };
}

bits!(u32, AtomicU32, Four, |value| value.into(), |bits| bits
    as u32);
bits!(u64, AtomicU64, Eight, |value| value, |bits| bits);
bits!(usize, AtomicU64, Eight, |value| value as u64, |bits| bits
    as usize);
bits!(bool, AtomicU8, One, |value| value.into(), |bits| bits != 0);
bits!(
    *mut T,
    AtomicU64,
    Eight,
    |value| value.expose_provenance() as u64,
    |bits| std::ptr::with_exposed_provenance_mut(bits as usize),
    T
);

impl<T, W> Cell<T, W> {
    #[inline(always)]
    fn host(&self) -> usize {
        (&raw const self.word).addr()
    }
}

#[inline(always)]
fn word_of<T: Bits, W>(cell: &Cell<T, W>) -> Word {
    // SAFETY: the word is an atomic of this width, and the caller borrows the cell until the
    // operation is done.
    unsafe { Word::new((&raw const cell.word).cast_mut().cast(), T::WIDTH) }
}

macro_rules! integer {
    ($type:ty, $word:ty) => {
        impl AtomicInteger<$type> for Cell<$type, $word> {
            #[inline]
            fn fetch_add(&self, value: $type, _: Ordering) -> $type {
                Bits::from_bits(modify(self.host(), Rmw::Add(value.bits()), word_of(self)))
            }

            #[inline]
            fn fetch_sub(&self, value: $type, _: Ordering) -> $type {
                let negated = value.wrapping_neg().bits();
                Bits::from_bits(modify(self.host(), Rmw::Add(negated), word_of(self)))
            }

            #[inline]
            fn fetch_and(&self, value: $type, _: Ordering) -> $type {
                Bits::from_bits(modify(self.host(), Rmw::And(value.bits()), word_of(self)))
            }

            #[inline]
            fn fetch_or(&self, value: $type, _: Ordering) -> $type {
                Bits::from_bits(modify(self.host(), Rmw::Or(value.bits()), word_of(self)))
            }
        }
    };
}

integer!(u32, AtomicU32);
integer!(u64, AtomicU64);
integer!(usize, AtomicU64);

impl Futex for Cell32 {
    fn wait(&self, expected: u32, timeout: Option<Duration>) {
        with(|engine, core| engine.enter_futex_wait(core));
        // The kernel reads the word through this core's cache.
        if self.load(Ordering::SeqCst) != expected {
            return;
        }
        in_order();
        let sleeps = with(|engine, core| {
            // All wake-ups by other cores until this time are done, and no wake-up happens before the thread is in the
            // queue. So comparing and falling asleep are one step.
            if word_of(self).peek() != u64::from(expected) {
                return false;
            }
            let ghz = engine.config.ghz;
            let cycles = timeout.map(|timeout| (timeout.as_nanos() as f64 * ghz) as u64);
            engine.futex_wait(core, self.host(), cycles);
            true
        });
        if sleeps {
            suspend();
        }
    }

    fn wake(&self, count: u32) -> usize {
        with(|engine, core| engine.enter_kernel(core));
        in_order();
        with(|engine, core| engine.futex_wake(core, self.host(), count))
    }
}

/// Spins while the word holds `value`, at most until the clock passes `until`. Returns the value of the last load.
pub(super) fn spin_while(word: &Cell32, value: u32, until: u64) -> u32 {
    loop {
        let seen = word.load(Ordering::Acquire);
        let parked = with(|engine, core| {
            if seen != value || engine.ports[core as usize].clock >= until {
                return None;
            }
            // Another thread that shares this core's caches may have written the word since the
            // load, for example while this thread was preempted.
            if word_of(word).peek() != u64::from(value) {
                return Some(false);
            }
            let address = engine.addresses.simulated(word.host());
            Some(engine.spin(core, address, until))
        });
        match parked {
            None => return seen,
            Some(true) => suspend(),
            Some(false) => {} // The line or the value has changed already: load again.
        }
    }
}
