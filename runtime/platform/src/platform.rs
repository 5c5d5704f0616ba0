//! The trait, and what its implementations promise.

use crate::atomic::{Atomic, AtomicInteger, Futex};
use crate::coroutine::Stack;
use crate::thread_spec::ThreadSpec;
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A world that the runtime can run in: this host, a model checker, a
/// simulated chip.
///
/// All methods are associated functions: a platform has no value, so a user of
/// the native runtime never holds or names one.
///
/// # Safety
///
/// The runtime keeps jobs on the stacks of the threads that wait for them, and hands out pointers
/// to them. These pointers stay valid because an implementation promises:
///
/// 1. **Cells.** [`AtomicU32`](Self::AtomicU32) and the other cells hold what was last
///    written; each operation is indivisible, and orders other memory at least as the
///    operation of the same name of `std::sync::atomic` does with the same ordering.
///    A cell may be moved and dropped while nothing refers to it.
/// 2. **Futexes.** [`Futex::wait`] and [`Futex::wake`] keep the promise that stands there,
///    that no wake-up is lost. They touch no memory but the word, and the word not after
///    they returned. `wait` may return spuriously, and so too early.
/// 3. **Fences.** [`fence`](Self::fence) and [`fence_after_rmw`](Self::fence_after_rmw) are fences,
///    and a [`light_fence`](Self::light_fence) with a [`heavy_fence`](Self::heavy_fence) is a pair
///    of fences, each as documented at the method. A heavy fence that the system no longer allows
///    does not return. [`has_light_fences`](Self::has_light_fences) always returns the same value.
/// 4. **Spinning.** [`spin_while`](Self::spin_while) returns a value that the word held, read
///    with `Acquire` ordering.
/// 5. **Threads.** If [`spawn`](Self::spawn) returns `Ok`, it runs the body once, on a thread that
///    runs nothing else; otherwise the body is dropped and never runs. The caller's earlier actions
///    happen before the body. The body's run and the dropping of its captures happen before the
///    return of [`join`](Self::join).
/// 6. **The slot.** [`slot`](Self::slot) returns what [`set_slot`](Self::set_slot) set last
///    on the same thread, and null on a thread where nothing was set. A thread's slot can be
///    used for as long as code of the runtime runs on the thread.
/// 7. **Stacks.** A [`Stack`](Self::Stack) is writable memory from `base` down to `limit`, without
///    another reference until it is dropped. Below it is memory that faults, as its trait demands.
/// 8. **Forks.** In a process that a `fork` made, where of all threads only one goes on,
///    [`forks`](Self::forks) differs from what it was in the parent.
/// 9. **No unwinding**, out of any method, unless no thread of the platform runs code of the
///    runtime from then on (a model checker that has found a fault).
///
/// Soundness does not depend on the other methods: [`now`](Self::now), [`core`](Self::core), the
/// hints and the announcements may return any value and do anything. The clock feeds decisions (how
/// large a block, how long to spin), so a platform with a clock that jumps stays sound.
///
/// Safe code cannot implement it:
///
/// ```compile_fail,E0200
/// use manycore_platform::{Native, Platform};
///
/// struct Liar;
/// impl Platform for Liar {
///     manycore_platform::forward!(Native: cells fences threads rest);
///
///     fn slot() -> *const () {
///         8 as *const () // A pool would take it for a pointer of its own.
///     }
///
///     unsafe fn set_slot(_: *const ()) {}
/// }
/// ```
///
/// and code that says that it keeps the promises, by [forwarding](crate::forward) them here, can:
///
/// ```
/// use manycore_platform::{Native, Platform};
///
/// struct Forwarding;
/// // SAFETY: each method is that of `Native`, which keeps the promises.
/// unsafe impl Platform for Forwarding {
///     manycore_platform::forward!(Native: cells fences threads slot rest);
/// }
/// assert!(Forwarding::slot().is_null());
/// ```
///
/// # Examples
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
pub unsafe trait Platform: Sized + Send + Sync + 'static {
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
    /// Memory that a coroutine runs on, given back when it is dropped, by whatever thread.
    type Stack: Stack + Send + 'static;

    /// An atomic fence.
    fn fence(order: Ordering);

    /// A sequentially consistent fence right after an atomic
    /// read-modify-write.
    ///
    /// If the hardware's read-modify-write is itself a full barrier (x86-64), this only stops the
    /// compiler; elsewhere it is `fence(SeqCst)`. Sleep protocols need the fence and pay for it
    /// once.
    ///
    /// The machine must really execute the read-modify-write. If no code uses the result of a
    /// `swap`, a compiler may replace it by a plain store unless an ordering forbids that; LLVM did
    /// so for `Relaxed` and `Release`. Such a `swap` must be `SeqCst`: it then acquires, which a
    /// store cannot, and on x86-64 even a `SeqCst` store is the locked exchange.
    fn fence_after_rmw();

    /// The cheap half of an asymmetric fence: orders what this thread did
    /// before it against what it does after it, as `fence(SeqCst)` would,
    /// towards threads that call [`heavy_fence`](Self::heavy_fence) (not
    /// towards other light fences).
    ///
    /// Let two threads each write one word, fence, and read the other's word. If one fence is light
    /// and one heavy, at least one thread sees the other's write. On Linux, if the kernel grants
    /// `membarrier`, the light fence is a test of a flag and stops only the compiler; elsewhere it
    /// is a fence.
    fn light_fence();

    /// Whether the cheap half is cheap: a matter of the compiler. Asks the system,
    /// once; the answer does not change.
    fn has_light_fences() -> bool;

    /// [`light_fence`](Self::light_fence) without its test. The caller must have checked
    /// [`has_light_fences`](Self::has_light_fences): without light fences, this is no fence.
    fn untested_light_fence();

    /// The expensive half: a fence for every thread of the process. It takes some microseconds and
    /// interrupts every core that runs a thread of the process. Use it where time does not matter:
    /// in thieves, and in threads about to sleep.
    ///
    /// # Aborts
    ///
    /// Natively on Linux, if the system refuses `membarrier` after it had granted it, because a
    /// sandbox was entered meanwhile: a line on the standard error says so, and the process is
    /// aborted. Other threads have left out fences in reliance on the grant, and a heavy fence
    /// that does nothing, or unwinds out of a call that others rely on, would break memory. A
    /// program that enters such a sandbox does so before it makes its first pool; then nothing is
    /// granted, and all fences are real.
    fn heavy_fence();

    /// A spin-loop hint to the core (`pause`, `yield`).
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
    /// The operating system's error, if it cannot make the thread or bind it to
    /// [`ThreadSpec::cpus`].
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

    /// Moves this thread to a CPU of `cpus` if it may run on any of them; the system may move it
    /// back. It takes some 20 microseconds. It is a hint, which may do nothing.
    fn begin_on(cpus: &[usize]) {
        let _ = cpus;
    }

    /// Runs `wake`, which wakes the thread with this [number](Self::thread_number), with the cores that are taken
    /// forbidden to that thread, if it may run on others. Afterwards the thread may run where it could before. A
    /// hint: a platform may do no more than run `wake`.
    ///
    /// Linux on a virtual machine wakes a thread on the core on which it fell asleep, though another thread is busy
    /// there and another core is idle: it takes a halted core for a core that the host has taken away.
    fn wake_elsewhere(thread: u64, is_taken: &dyn Fn(usize) -> bool, wake: &mut dyn FnMut());

    /// How often the system has preempted this thread. Only differences mean anything. A system call on
    /// Linux; always 0 on systems without such a count.
    fn preemptions() -> u64;

    /// A number of this thread for [`is_blocked`](Self::is_blocked). 0: the system has no such number.
    fn thread_number() -> u64 {
        0
    }

    /// Whether the thread with this number sleeps in the system, as seen a moment ago; `false` if that is
    /// not known. On Linux it reads a small file, which takes some 10 us.
    fn is_blocked(thread: u64) -> bool {
        let _ = thread;
        false
    }

    /// This thread's slot: a pointer the runtime keeps per thread, null at
    /// first. On a simulator that runs many threads on one host thread it is
    /// the simulated thread's.
    ///
    /// Natively a thread-local variable, and inlined. Code on a coroutine that changes
    /// threads must not call this on either side of a suspension in one function: the
    /// compiler may compute the variable's address once.
    fn slot() -> *const ();

    /// Sets this thread's slot.
    ///
    /// # Safety
    ///
    /// Code of the runtime takes what is in the slot for its own and follows it. Whenever such
    /// code runs on this thread, the slot must hold null, or what the runtime itself had put
    /// there and what is still alive. (What reads the slot and does not follow it, as a
    /// fiber's `slot` of the runtime, may be called with anything there.)
    ///
    /// ```
    /// use manycore_platform::{Native, Platform};
    ///
    /// // SAFETY: null.
    /// unsafe { Native::set_slot(std::ptr::null()) };
    /// assert!(Native::slot().is_null());
    /// ```
    ///
    /// Safe code cannot call it:
    ///
    /// ```compile_fail,E0133
    /// use manycore_platform::{Native, Platform};
    ///
    /// Native::set_slot(std::ptr::null());
    /// ```
    unsafe fn set_slot(value: *const ());

    /// The generation of this process. It is 0 until [`watch_forks`](Self::watch_forks) is called, and a child of
    /// `fork` then has another number than its parent. A child compares it with the generation in which its memory was
    /// filled. It never changes while a process runs.
    ///
    /// A pool's threads do not exist in a child: a pool of another generation must not be
    /// waited for. One relaxed load natively; 0 on platforms that do not fork.
    #[inline(always)]
    fn forks() -> u32 {
        0
    }

    /// Has forks counted from now on; to be called before [`forks`](Self::forks) is relied on.
    /// Calls after the first cost a load.
    ///
    /// Natively the C library calls a handler in each child (`pthread_atfork`). It does not count a
    /// child of a direct `clone` system call, nor a child of `vfork` or `posix_spawn`, which may
    /// only call `exec`.
    ///
    /// # Errors
    ///
    /// The system's error, if it has no memory for the handler.
    ///
    /// ```
    /// use manycore_platform::{Native, Platform};
    ///
    /// Native::watch_forks()?;
    /// let generation = Native::forks();
    /// // ... and for as long as this is the same process:
    /// assert_eq!(Native::forks(), generation);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    fn watch_forks() -> io::Result<()> {
        Ok(())
    }

    /// A stack for a coroutine, of at least `bytes` that can be used, with a guard
    /// below them. A page of it costs memory once it is touched.
    ///
    /// Natively that is some 10 us, in system calls and page faults: keep stacks. On a
    /// simulator it is memory of the simulated machine, since the addresses of what
    /// lies on a stack decide which lines and sets of the caches it takes.
    ///
    /// # Errors
    ///
    /// The operating system's error, if there is no room for the stack. [`Unsupported`](io::ErrorKind::Unsupported)
    /// without the feature `coroutines`.
    ///
    #[cfg_attr(feature = "coroutines", doc = "```")]
    #[cfg_attr(not(feature = "coroutines"), doc = "```ignore")]
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

    /// Gives `object` a name, for a simulator's report of waiting threads, until another name is
    /// given to its address. Does nothing natively.
    #[inline(always)]
    fn name<T: ?Sized>(object: &T, name: &'static str) {
        let _ = (object, name);
    }
}
