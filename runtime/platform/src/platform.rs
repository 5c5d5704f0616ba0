//! The trait [`Platform`], and the promises of its implementations.

use crate::atomic::{Atomic, AtomicInteger, Futex};
use crate::coroutine::Stack;
use crate::thread_spec::ThreadSpec;
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A world that the runtime can run in: this host, a model checker, or a simulated chip.
///
/// All methods are associated functions. A platform has no value, so a user of the native runtime never holds or names
/// a platform.
///
/// # Safety
///
/// The runtime keeps jobs on the stacks of the threads that wait for them, and hands out pointers to these jobs. The
/// pointers stay valid because an implementation promises:
///
/// 1. **Cells.** [`AtomicU32`](Self::AtomicU32) and the other cells hold the value that was last written. Each
///    operation is indivisible, and orders other memory at least like the operation of `std::sync::atomic` with the
///    same name and ordering. A cell may be moved and dropped while nothing refers to it.
/// 2. **Futexes.** [`Futex::wait`] and [`Futex::wake`] lose no wake-up, as documented at these methods. They touch no
///    memory except the word, and they do not touch the word after they have returned. `wait` may return spuriously,
///    and so before `timeout` has passed.
/// 3. **Fences.** [`fence`](Self::fence) and [`fence_after_rmw`](Self::fence_after_rmw) are fences, and a
///    [`light_fence`](Self::light_fence) and a [`heavy_fence`](Self::heavy_fence) together are a pair of fences. Each
///    is documented at its method. If the system no longer allows a heavy fence, `heavy_fence` does not return.
///    [`has_light_fences`](Self::has_light_fences) always returns the same value.
/// 4. **Spinning.** [`spin_while`](Self::spin_while) returns a value that the word held, read with `Acquire` ordering.
/// 5. **Threads.** If [`spawn`](Self::spawn) returns `Ok`, it runs the body once, on a thread that runs nothing else.
///    Otherwise the body is dropped and never runs. The caller's earlier actions happen before the body. The body's
///    run and the dropping of its captures happen before the return of [`join`](Self::join).
/// 6. **The slot.** [`slot`](Self::slot) returns the pointer that [`set_slot`](Self::set_slot) set last on the same
///    thread, or null if no pointer was set. A thread's slot can be used while code of the runtime runs on the thread.
/// 7. **Stacks.** A [`Stack`](Self::Stack) is writable memory from `base` down to `limit`, without another reference
///    until it is dropped. The memory below it faults, as the trait `Stack` demands.
/// 8. **Forks.** A child of `fork` has only one of the parent's threads. In the child, [`forks`](Self::forks) differs
///    from its value in the parent.
/// 9. **Unwinding.** No method unwinds, unless no thread of the platform runs code of the runtime from then on (as in
///    a model checker that has found a fault).
///
/// Soundness does not depend on the other methods: [`now`](Self::now), [`core`](Self::core), the hints and the
/// announcements may return any value and do anything. The clock only feeds decisions (how large a block, how long to
/// spin), so a platform with a clock that jumps is sound.
///
/// Safe code cannot implement the trait:
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
/// Unsafe code can implement it, if it keeps the promises. This code keeps them because it [forwards](crate::forward)
/// each method:
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
    /// A spawned thread that can be joined.
    type Thread: Send + Sync;
    /// Memory that a coroutine runs on. Any thread may drop it, which returns the memory.
    type Stack: Stack + Send + 'static;

    /// An atomic fence.
    fn fence(order: Ordering);

    /// A sequentially consistent fence right after an atomic read-modify-write.
    ///
    /// If the hardware's read-modify-write is itself a full barrier (x86-64), this only stops the compiler. Elsewhere
    /// it is `fence(SeqCst)`. So on x86-64, sleep protocols, which need the fence, do not pay for two barriers.
    ///
    /// The machine must really execute the read-modify-write. If no code uses the result of a `swap`, a compiler may
    /// replace it by a plain store unless an ordering forbids that. LLVM did so for `Relaxed` and `Release`. Such a
    /// `swap` must be `SeqCst`. It then acquires, which a store cannot do. On x86-64 even a `SeqCst` store would be
    /// the locked exchange.
    fn fence_after_rmw();

    /// The cheap half of an asymmetric fence. It orders this thread's accesses before it and after it, like
    /// `fence(SeqCst)`, but only towards threads that call [`heavy_fence`](Self::heavy_fence), not towards other light
    /// fences.
    ///
    /// Assume that two threads each write one word, make a fence, and read the other's word. If one fence is light and
    /// the other heavy, at least one thread sees the other's write. On Linux, if the kernel grants `membarrier`, the
    /// light fence tests a flag and stops only the compiler. Elsewhere it is a full fence.
    fn light_fence();

    /// Whether a light fence stops only the compiler. The first call asks the system. The answer does not change.
    fn has_light_fences() -> bool;

    /// [`light_fence`](Self::light_fence) without its test. The caller must have checked that
    /// [`has_light_fences`](Self::has_light_fences) is true. Otherwise this is no fence.
    fn untested_light_fence();

    /// The expensive half of an asymmetric fence: a fence for every thread of the process. It takes some microseconds
    /// and interrupts every core that runs a thread of the process. Use it where time does not matter: in thieves, and
    /// in threads about to sleep.
    ///
    /// # Aborts
    ///
    /// On Linux, the process is aborted if the system refuses `membarrier` after it had granted it, because the
    /// process has entered a sandbox meanwhile. A line on the standard error says so. By then, other threads have
    /// already left out fences. So a heavy fence that does nothing, or that unwinds out of a call on which other
    /// threads rely, would corrupt memory. Enter such a sandbox before making the first pool. Then the system grants
    /// nothing, and all fences are full fences.
    fn heavy_fence();

    /// A spin-loop hint to the core (`pause`, `yield`).
    fn relax();

    /// Spins while `word` holds `value`, at most until the clock passes `until`. Returns the value that it last read,
    /// with `Acquire` ordering.
    ///
    /// A simulator may park the spinner until the word's cache line is invalidated.
    fn spin_while(word: &Self::Futex, value: u32, until: u64) -> u32;

    /// Begins to fetch the cache line at `address` for reading. `address` need not be valid. This is a hint.
    fn prefetch(address: *const ());

    /// Begins to fetch the cache line at `address` for writing. `address` need not be valid. This is a hint.
    fn prefetch_write(address: *const ());

    /// Lets the operating system run another thread on this core.
    fn yield_now();

    /// The clock, in ticks. It is monotonic on one core, and nearly so across cores. It may jump back when the machine
    /// wakes from hibernation. A loop that the clock ends must also end if the clock is before the loop's beginning.
    fn now() -> u64;

    /// The number of ticks in one nanosecond.
    fn ticks_per_ns() -> f64;

    /// Returns how many nanoseconds `ticks` last.
    fn ticks_to_ns(ticks: u64) -> f64 {
        ticks as f64 / Self::ticks_per_ns()
    }

    /// Returns how many ticks `duration` lasts, but at most 2^62. This limit is practically for ever, and its sum with
    /// the clock does not overflow.
    ///
    /// ```
    /// use manycore_platform::{Native, Platform};
    /// use std::time::Duration;
    ///
    /// let never = Native::now() + Native::duration_to_ticks(Duration::MAX);
    /// assert!(never > Native::now() + Native::duration_to_ticks(Duration::from_secs(1)));
    /// ```
    fn duration_to_ticks(duration: Duration) -> u64 {
        ((duration.as_nanos() as f64 * Self::ticks_per_ns()) as u64).min(1 << 62)
    }

    /// Starts a thread.
    ///
    /// # Errors
    ///
    /// The operating system's error, if it cannot make the thread or bind it to
    /// [`ThreadSpec::cpus`].
    fn spawn(spec: ThreadSpec, body: Box<dyn FnOnce() + Send>) -> io::Result<Self::Thread>;

    /// Waits for a thread to end. Does not pass on a panic of that thread: the runtime catches panics where they
    /// matter.
    fn join(thread: Self::Thread);

    /// The core that this thread is on now, by the system's number.
    fn core() -> usize;

    /// Moves this thread off `core` if it is there and may run elsewhere. The system may move it back. Takes a few
    /// microseconds. This is a hint, which may have no effect.
    fn leave_core(core: usize);

    /// Moves this thread to a CPU of `cpus` if it may run on any of them. The system may move it back. Takes some 20
    /// microseconds. This is a hint, which may have no effect.
    fn begin_on(cpus: &[usize]) {
        let _ = cpus;
    }

    /// Binds this thread to `cpus` from now on, unless there are none. Takes a few microseconds. Has no effect if the
    /// system cannot bind threads, or refuses these CPUs.
    fn bind(cpus: &[usize]) {
        let _ = cpus;
    }

    /// Calls `wake`, which wakes the thread with this [number](Self::thread_number). During this call, that thread may
    /// not run on cores for which `is_taken` returns `true`, if it may run on other cores. Afterwards it may run on
    /// the same cores as before. This is a hint: a platform may only call `wake`.
    ///
    /// Linux on a virtual machine may wake a thread on the core on which it fell asleep, though another thread is busy
    /// there and another core is idle. The reason is that Linux takes a halted core for a core that the host has taken
    /// away.
    fn wake_elsewhere(thread: u64, is_taken: &dyn Fn(usize) -> bool, wake: &mut dyn FnMut());

    /// How often the system has preempted this thread. Only differences of this count have a meaning. On Linux this is
    /// a system call. Always 0 on systems without such a count.
    fn preemptions() -> u64;

    /// This thread's number for [`is_blocked`](Self::is_blocked), or 0 if the system has no such numbers.
    fn thread_number() -> u64 {
        0
    }

    /// A number of this thread that no other thread of the process ever has. It stays the same while the thread's
    /// thread-locals are dropped.
    fn thread_id() -> u64 {
        crate::native::thread_id()
    }

    /// Whether the thread with this number slept in the system a moment ago. `false` if that is not known. On Linux
    /// this reads a small file, which takes some 10 us.
    fn is_blocked(thread: u64) -> bool {
        let _ = thread;
        false
    }

    /// A number of the function at address `code`, for use as a key. A simulator numbers functions in the order of
    /// these calls. So neither the compiler nor the linker affects a simulation by the place that they give a function.
    ///
    /// Natively the number is a distance between functions: it stays the same wherever the program is loaded.
    #[inline(always)]
    fn code_number(code: usize) -> usize {
        code.wrapping_sub(crate::native::thread_id as fn() -> u64 as usize)
    }

    /// This thread's slot: a pointer that the runtime keeps for each thread, at first null. On a simulator that runs
    /// many simulated threads on one host thread, the slot belongs to the simulated thread.
    ///
    /// Natively the slot is a thread-local variable, and this method is inlined. A function on a coroutine that may
    /// change threads must not call this both before and after a suspension: the compiler may compute the variable's
    /// address only once.
    fn slot() -> *const ();

    /// Sets this thread's slot.
    ///
    /// # Safety
    ///
    /// Code of the runtime follows the pointer in the slot as its own. Whenever such code runs on this thread, the
    /// slot must hold null, or a pointer that the runtime itself had put there and whose target is alive. Code that
    /// only reads the slot and does not follow it (a fiber's `slot`) may run with any pointer in the slot.
    ///
    /// ```
    /// use manycore_platform::{Native, Platform};
    ///
    /// // SAFETY: the pointer is null.
    /// unsafe { Native::set_slot(std::ptr::null()) };
    /// assert!(Native::slot().is_null());
    /// ```
    ///
    /// Safe code cannot call this:
    ///
    /// ```compile_fail,E0133
    /// use manycore_platform::{Native, Platform};
    ///
    /// Native::set_slot(std::ptr::null());
    /// ```
    unsafe fn set_slot(value: *const ());

    /// The generation of this process. It is 0 until [`watch_forks`](Self::watch_forks) is called. After that, a child
    /// of `fork` has another generation than its parent. A child compares the generation with the one in which its
    /// memory was filled. The generation never changes while a process runs.
    ///
    /// A child has no threads of its parent's pools, so it must not wait for a pool of another generation. Natively
    /// this is one relaxed load. On platforms that do not fork, it is always 0.
    #[inline(always)]
    fn forks() -> u32 {
        0
    }

    /// Counts forks from now on. A caller must call this before it relies on [`forks`](Self::forks). Later calls cost
    /// a load.
    ///
    /// Natively the C library calls a handler in each child (`pthread_atfork`). It does not do so in a child of a
    /// direct `clone` system call, nor in a child of `vfork` or `posix_spawn`, which may only call `exec`.
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
    /// // While this is the same process:
    /// assert_eq!(Native::forks(), generation);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    fn watch_forks() -> io::Result<()> {
        Ok(())
    }

    /// Makes a stack for a coroutine, with at least `bytes` usable bytes and a guard below them. A page of the stack
    /// costs memory once it is touched.
    ///
    /// Natively this takes some 10 us, in system calls and page faults, so reuse stacks. On a simulator the stack is
    /// memory of the simulated machine, since its addresses decide which lines and sets of the caches it uses.
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

    /// Charges the core with `instructions` of private work. Does nothing natively: the work itself takes the time.
    #[inline(always)]
    fn compute(instructions: u64) {
        let _ = instructions;
    }

    /// Announces a read of `data`, line by line. Does nothing natively.
    #[inline(always)]
    fn read<T>(data: &[T]) {
        let _ = data;
    }

    /// Announces a write of `data`, line by line. Does nothing natively.
    #[inline(always)]
    fn write<T>(data: &mut [T]) {
        let _ = data;
    }

    /// Gives the address of `object` a name for a simulator's report of waiting threads. A later name replaces it.
    /// Does nothing natively.
    #[inline(always)]
    fn name<T: ?Sized>(object: &T, name: &'static str) {
        let _ = (object, name);
    }
}
