//! The seam of manycore: everything the runtime touches that is not private
//! memory goes through [`Platform`].
//!
//! The runtime is generic over a platform, with [`Native`] as the default
//! type parameter, so that the same pool and loop code runs on this machine's
//! cores, under a model checker (`manycore-check`), and later on a simulated
//! chip. The trait is chosen at compile time; on [`Native`] every method is a
//! `std::sync::atomic` operation, one instruction or one system call, and
//! inlines to exactly that (`ci/seam-cost.sh` counts the instructions).
//!
//! ```
//! use manycore_platform::{Atomic, AtomicInteger, Native, Ordering, Platform};
//!
//! /// Claims `block` iterations from a shared counter, on any platform.
//! fn claim<P: Platform>(next: &P::AtomicU64, block: u64) -> u64 {
//!     next.fetch_add(block, Ordering::Relaxed)
//! }
//!
//! let next = <Native as Platform>::AtomicU64::new(0);
//! assert_eq!(claim::<Native>(&next, 16), 0);
//! assert_eq!(claim::<Native>(&next, 16), 16);
//! ```

mod atomic;
mod broadcast;
mod native;

pub use atomic::{Atomic, AtomicInteger, Futex};
pub use broadcast::{Broadcast, Delivery, Filter, MatchOperation, Message, NoBroadcast};
pub use corosensei::stack::Stack;
pub use crossbeam_utils::CachePadded;
pub use native::{Native, NativeThread};
pub use std::sync::atomic::Ordering;

use std::io;
use std::time::Duration;

/// What a new thread is made with.
///
/// ```
/// use manycore_platform::{Native, Platform, ThreadSpec};
///
/// let spec = ThreadSpec { name: "worker-0".into(), ..ThreadSpec::default() };
/// let thread = Native::spawn(spec, Box::new(|| ())).unwrap();
/// Native::join(thread);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ThreadSpec {
    /// The name shown by debuggers and `ps`; the operating system may cut it.
    pub name: String,
    /// Stack size in bytes; `None` leaves the platform's default.
    pub stack_size: Option<usize>,
    /// The logical CPUs the thread may run on; empty leaves it free.
    ///
    /// [`Platform::spawn`] fails if the thread cannot be bound to them.
    pub cpus: Vec<usize>,
}

/// A world that the runtime can run in: this host, a model checker, a
/// simulated chip.
///
/// All methods are associated functions: a platform has no value, so a user of
/// the native runtime never holds or names one.
///
/// # Implementing
///
/// [`now`](Self::now) feeds decisions (how large a block, how long to spin)
/// and never correctness: a platform whose clock jumps stays correct.
/// [`Futex::wait`] may return spuriously.
///
/// ```
/// use manycore_platform::{Native, Platform};
///
/// fn elapsed<P: Platform>(work: impl FnOnce()) -> f64 {
///     let start = P::now();
///     work();
///     P::ticks_to_ns(P::now() - start)
/// }
/// assert!(elapsed::<Native>(|| ()) >= 0.0);
/// ```
pub trait Platform: Sized + Send + Sync + 'static {
    /// A 32-bit atomic integer.
    type AtomicU32: AtomicInteger<u32>;
    /// A 64-bit atomic integer.
    type AtomicU64: AtomicInteger<u64>;
    /// A pointer-sized atomic integer.
    type AtomicUsize: AtomicInteger<usize>;
    /// An atomic flag.
    type AtomicBool: Atomic<bool>;
    /// An atomic pointer.
    type AtomicPtr<T>: Atomic<*mut T>;
    /// A 32-bit atomic integer that threads can sleep on.
    type Futex: AtomicInteger<u32> + Futex;
    /// A spawned thread, to be joined.
    type Thread: Send + Sync;
    /// The hardware that broadcasts.
    type Broadcast: Broadcast;
    /// Memory that a coroutine runs on, given back when it is dropped, by whatever thread.
    type Stack: Stack + Send + 'static;

    /// An atomic fence.
    fn fence(order: Ordering);

    /// A sequentially consistent fence right after an atomic
    /// read-modify-write.
    ///
    /// Where the hardware's read-modify-write is itself a full barrier
    /// (x86-64) this only stops the compiler; elsewhere it is
    /// `fence(SeqCst)`. Sleep protocols need the fence and pay for it once.
    fn fence_after_rmw();

    /// The cheap half of an asymmetric fence: orders what this thread did
    /// before it against what it does after it, as `fence(SeqCst)` would,
    /// towards threads that call [`heavy_fence`](Self::heavy_fence) (not
    /// towards other light fences).
    ///
    /// Of two threads that each write one word, fence, and read the other's,
    /// one light and one heavy, at least one sees the other's write. On Linux,
    /// where the kernel grants `membarrier`, the light half is a test of a flag
    /// and stops only the compiler; elsewhere it is a fence.
    fn light_fence();

    /// Whether the cheap half is cheap: a matter of the compiler. Asks the system,
    /// once; the answer does not change.
    fn has_light_fences() -> bool;

    /// [`light_fence`](Self::light_fence) without its test, for those who have
    /// made sure that [`has_light_fences`](Self::has_light_fences). Where it has
    /// not, this is no fence.
    fn untested_light_fence();

    /// The dear half: a fence for every thread of the process at once, some
    /// microseconds and an interrupt of every core that runs one. For those who
    /// have nothing better to do: thieves, and threads about to sleep.
    fn heavy_fence();

    /// Tells the core that this is a spin loop (`pause`, `yield`).
    fn relax();

    /// Spins while `word` holds `value`, at most until the clock passes
    /// `until`; returns what it last read, with `Acquire` ordering.
    ///
    /// A simulator may park the spinner on the line until it is invalidated.
    fn spin_while(word: &Self::Futex, value: u32, until: u64) -> u32;

    /// Begins to fetch the line at `address`, which need not be valid, for
    /// reading; a hint.
    fn prefetch(address: *const ());

    /// Begins to fetch the line at `address`, which need not be valid, for
    /// writing; a hint.
    fn prefetch_write(address: *const ());

    /// Lets the operating system run another thread on this core.
    fn yield_now();

    /// The clock, in ticks; monotonic on one core, and close to it across
    /// cores.
    fn now() -> u64;

    /// Ticks in one nanosecond.
    fn ticks_per_ns() -> f64;

    /// Nanoseconds that `ticks` last.
    fn ticks_to_ns(ticks: u64) -> f64 {
        ticks as f64 / Self::ticks_per_ns()
    }

    /// Ticks that `duration` lasts.
    fn duration_to_ticks(duration: Duration) -> u64 {
        (duration.as_nanos() as f64 * Self::ticks_per_ns()) as u64
    }

    /// Starts a thread.
    ///
    /// # Errors
    ///
    /// What the operating system says when it cannot make the thread or bind
    /// it to [`ThreadSpec::cpus`].
    fn spawn(spec: ThreadSpec, body: Box<dyn FnOnce() + Send>) -> io::Result<Self::Thread>;

    /// Waits for a thread to end. A panic of that thread is not passed on:
    /// the runtime catches them where they matter.
    fn join(thread: Self::Thread);

    /// The core this thread is on now, as the system numbers them.
    fn core() -> usize;

    /// Moves this thread off `core` if it is there and may run elsewhere; it
    /// stays free to be moved back. A few microseconds; a hint, which may do
    /// nothing.
    fn leave_core(core: usize);

    /// This thread's slot: a pointer the runtime keeps per thread, null at
    /// first. On a simulator that runs many threads on one host thread it is
    /// the simulated thread's.
    fn slot() -> *const ();

    /// Sets this thread's slot.
    fn set_slot(value: *const ());

    /// A stack for a coroutine, of at least `bytes` that can be used, with a guard
    /// below them. A page of it costs memory once it is touched.
    ///
    /// Natively that is some 10 us, in system calls and page faults: keep stacks. On a
    /// simulator it is memory of the simulated machine, since the addresses of what
    /// lies on a stack decide which lines and sets of the caches it takes.
    ///
    /// # Errors
    ///
    /// What the operating system says when there is no room for it.
    ///
    /// ```
    /// use manycore_platform::{Native, Platform, Stack};
    ///
    /// let stack = Native::stack(64 << 10).unwrap();
    /// assert!(stack.base().get() - stack.limit().get() > 64 << 10);
    /// assert!(Native::stack(usize::MAX).is_err());
    /// ```
    fn stack(bytes: usize) -> io::Result<Self::Stack>;

    /// Charges the core with `instructions` of private work. A no-op natively:
    /// there the work itself takes the time.
    #[inline(always)]
    fn compute(instructions: u64) {
        let _ = instructions;
    }

    /// Announces a read of `data`, line by line. A no-op natively.
    #[inline(always)]
    fn read<T>(data: &[T]) {
        let _ = data;
    }

    /// Announces a write of `data`, line by line. A no-op natively.
    #[inline(always)]
    fn write<T>(data: &mut [T]) {
        let _ = data;
    }

    /// Says what `object` is, for a simulator's account of who waited where.
    /// Until something else is named at its address. A no-op natively.
    #[inline(always)]
    fn name<T: ?Sized>(object: &T, name: &'static str) {
        let _ = (object, name);
    }
}
