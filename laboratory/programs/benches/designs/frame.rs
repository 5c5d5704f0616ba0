//! The common parts of all designs: the job, the access to the thread's own worker, the join around
//! a design's push and pop, and a pool of threads that spin.

use std::cell::{Cell, UnsafeCell};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The most jobs that a worker can have at a time.
pub(crate) const CAPACITY: usize = 4096;

/// Alone on its cache line and on the neighbouring line, which processors fetch with it.
#[repr(align(128))]
#[derive(Default)]
pub(crate) struct Line<T>(pub(crate) T);

/// The part of a job that thieves see. It is at the start of a frame on the owner's stack.
pub(crate) struct Header {
    run: unsafe fn(*const Header),
    done: AtomicBool,
}

/// One worker's jobs. Jobs are taken back in the opposite order of their pushes.
pub(crate) trait Design: Sized {
    const NAME: &'static str;

    /// Whether this machine can run the design.
    fn available() -> bool {
        true
    }

    fn new() -> Self;

    /// # Safety
    ///
    /// The owner calls this. The job lives until it is taken back or settled.
    unsafe fn push(&self, job: *const Header);

    /// Takes back the job that was pushed last. Returns `false` if it was stolen.
    ///
    /// # Safety
    ///
    /// The owner calls this, once for each push.
    unsafe fn pop(&self, job: *const Header) -> bool;

    /// The job for which `pop` returned `false` is done, so its slot is free.
    ///
    /// # Safety
    ///
    /// The owner calls this, once for each `false`.
    unsafe fn settle(&self) {}

    /// Tries once to take this worker's oldest job. The job must then be run.
    ///
    /// # Safety
    ///
    /// `own` belongs to the calling thread.
    unsafe fn steal(&self, own: &Self) -> Option<*const Header>;

    /// Ends an attempt that is still under way. If the attempt has got a job, the caller must run that job.
    ///
    /// # Safety
    ///
    /// The owner calls this.
    unsafe fn leave(&self) -> Option<*const Header> {
        None
    }
}

thread_local! {
    /// This thread's `Worker<D>`, where `D` is the running design.
    static CURRENT: Cell<*const ()> = const { Cell::new(std::ptr::null()) };
}

struct Worker<D> {
    jobs: D,
    pool: Cell<*const Pool<D>>,
}

struct Pool<D> {
    workers: Box<[Worker<D>]>,
    stop: AtomicBool,
    steals: AtomicU64,
}

// SAFETY: threads other than the owner only call `steal`, which each design makes safe on any thread.
// `pool` is written before the threads start.
unsafe impl<D> Sync for Pool<D> {}

#[repr(C)]
struct Frame<F, R> {
    header: Header,
    function: UnsafeCell<ManuallyDrop<F>>,
    result: UnsafeCell<MaybeUninit<R>>,
}

impl<F: FnOnce() -> R, R> Frame<F, R> {
    #[inline(always)]
    fn new(function: F) -> Self {
        let (run, done) = (
            Self::run as unsafe fn(*const Header),
            AtomicBool::new(false),
        );
        Self {
            header: Header { run, done },
            function: UnsafeCell::new(ManuallyDrop::new(function)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// # Safety
    ///
    /// `job` belongs to a frame with a function that no thread has taken.
    unsafe fn run(job: *const Header) {
        // SAFETY: the header is the frame's first field, and the frame lives until `done` is set, which is the last
        // action here.
        unsafe {
            let frame = &*job.cast::<Self>();
            let function = ManuallyDrop::take(&mut *frame.function.get());
            (*frame.result.get()).write(function());
            // Release: a thread that sees `done` sees the result.
            frame.header.done.store(true, Ordering::Release);
        }
    }
}

/// Ends the process at a panic, which would otherwise unwind past frames that thieves still use.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        std::process::abort();
    }
}

/// Runs `a` and `b`, `b` perhaps on another thread. Call it only inside [`run`] with the same design.
#[inline(always)]
pub(crate) fn join<D: Design, RA, RB: Send>(
    a: impl FnOnce() -> RA,
    b: impl FnOnce() -> RB + Send,
) -> (RA, RB) {
    // SAFETY: inside `run`, `CURRENT` is this thread's worker of this design. No other thread pushes to it or pops from
    // it. The frame outlives both branches.
    unsafe {
        let worker = &*CURRENT.get().cast::<Worker<D>>();
        let frame = Frame::new(b);
        worker.jobs.push(&raw const frame.header);
        let guard = AbortOnUnwind;
        let a = a();
        std::mem::forget(guard);
        // The pointer is read again, and so is the job's place in `pop`. If a third value lived across the first call,
        // LLVM would let all returns of a short recursion share one `ret`. Then the processor predicts the returns so
        // badly that fib takes twice as long (Intel Emerald Rapids).
        let worker = &*CURRENT.get().cast::<Worker<D>>();
        if worker.jobs.pop(&raw const frame.header) {
            let function = ManuallyDrop::take(&mut *frame.function.get());
            return (a, function());
        }
        worker.wait(&frame.header);
        let result = (*frame.result.get()).assume_init_read();
        (a, result)
    }
}

impl<D: Design> Worker<D> {
    /// Steals jobs until `job`, which another thread has stolen, is done.
    #[cold]
    fn wait(&self, job: &Header) {
        // Acquire: see `Frame::run`.
        self.steal_until(|| job.done.load(Ordering::Acquire));
        // SAFETY: this is the owner's thread, and `pop` returned `false` for the job.
        unsafe { self.jobs.settle() };
    }

    fn steal_until(&self, over: impl Fn() -> bool) {
        // SAFETY: `run` sets the pool before any thread runs a job.
        let pool = unsafe { &*self.pool.get() };
        let run = |job: *const Header| {
            // SAFETY: the thief runs a stolen job, once.
            unsafe { ((*job).run)(job) }
        };
        while !over() {
            let victims = pool.workers.iter().filter(|&w| !std::ptr::eq(w, self));
            for victim in victims {
                // SAFETY: the calling thread owns `self`.
                if let Some(job) = unsafe { victim.jobs.steal(&self.jobs) } {
                    pool.steals.fetch_add(1, Ordering::Relaxed);
                    run(job);
                    break;
                }
            }
            std::hint::spin_loop();
        }
        // SAFETY: as above.
        if let Some(job) = unsafe { self.jobs.leave() } {
            run(job);
        }
    }
}

/// Calls `f` as worker 0 of a pool of `threads` threads. Returns the number of stolen jobs.
pub(crate) fn run<D: Design>(threads: usize, f: impl FnOnce()) -> u64 {
    let worker = |_| Worker {
        jobs: D::new(),
        pool: Cell::new(std::ptr::null()),
    };
    let pool = &Pool {
        workers: (0..threads).map(worker).collect(),
        stop: AtomicBool::new(false),
        steals: AtomicU64::new(0),
    };
    for worker in &pool.workers {
        worker.pool.set(pool);
    }
    std::thread::scope(|scope| {
        for i in 1..threads {
            scope.spawn(move || {
                let worker: &Worker<D> = &pool.workers[i];
                CURRENT.set(std::ptr::from_ref(worker).cast());
                worker.steal_until(|| pool.stop.load(Ordering::Relaxed));
            });
        }
        CURRENT.set(std::ptr::from_ref(&pool.workers[0]).cast());
        f();
        CURRENT.set(std::ptr::null());
        pool.stop.store(true, Ordering::Relaxed);
    });
    pool.steals.load(Ordering::Relaxed)
}

/// A full stack ends the benchmark, since growth is not compared here.
#[cold]
pub(crate) fn full() -> ! {
    eprintln!("more than {CAPACITY} joins inside one another");
    std::process::abort();
}

/// The processor's clock.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    return unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(target_arch = "aarch64")]
    {
        let ticks;
        // SAFETY: the virtual counter may be read in user mode.
        unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        return ticks;
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        use std::sync::OnceLock;
        use std::time::Instant;
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }
}

/// The number of [`ticks`] in a microsecond.
pub(crate) fn ticks_per_us() -> u64 {
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};
    static RATE: OnceLock<u64> = OnceLock::new();
    *RATE.get_or_init(|| {
        let (start, from) = (Instant::now(), ticks());
        while start.elapsed() < Duration::from_millis(20) {}
        (ticks() - from) / start.elapsed().as_micros() as u64
    })
}

/// A full fence on every running thread of this process, at the caller's cost.
pub(crate) mod barrier {
    #[cfg(target_os = "linux")]
    use rustix::thread::{MembarrierCommand, membarrier};

    /// Asks the kernel for permission. Returns whether the kernel grants it.
    #[cfg(target_os = "linux")]
    pub(crate) fn available() -> bool {
        membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
    }

    /// Call this only if the fence is [`available`].
    #[cfg(target_os = "linux")]
    pub(crate) fn everywhere() {
        membarrier(MembarrierCommand::PrivateExpedited).expect("it was available");
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn available() -> bool {
        false
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn everywhere() {
        unreachable!("not available")
    }
}
