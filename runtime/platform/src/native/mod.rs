//! This host: `std::sync::atomic`, the operating system's threads, and the processor's time-stamp counter.

mod cells;
mod clock;
#[cfg(unix)]
mod fork;
mod thread;

// The system's facilities. `--cfg manycore_portable` leaves out Linux's own, so that a Linux machine can test the code
// for other systems (`ci/platforms.sh`).
#[cfg(all(target_os = "linux", not(manycore_portable)))]
mod linux;
#[cfg(any(manycore_portable, not(target_os = "linux")))]
mod portable;
// On Linux, only this module's tests need this.
#[cfg(all(test, target_os = "linux", not(manycore_portable)))]
#[path = "portable/futex.rs"]
mod portable_futex;
#[cfg(all(target_family = "wasm", not(target_feature = "atomics")))]
mod wasm;

#[cfg(all(target_os = "linux", not(manycore_portable)))]
use linux as system;
#[cfg(not(any(
    all(target_os = "linux", not(manycore_portable)),
    all(target_family = "wasm", not(target_feature = "atomics"))
)))]
use portable as system;
#[cfg(all(target_family = "wasm", not(target_feature = "atomics")))]
use wasm as system;

use crate::coroutine::{NativeStack, native_stack};
use crate::platform::Platform;
use crate::thread_spec::ThreadSpec;
use std::cell::Cell;
use std::io;
use std::sync::atomic::{self, Ordering};

pub(crate) use system::{allowed_cpus, cpu_time};
pub use thread::NativeThread;

/// This host's cores. This is the default platform.
///
/// ```
/// use manycore_platform::{Native, Platform};
///
/// let start = Native::now();
/// Native::relax();
/// assert!(Native::now() >= start);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Native;

impl Native {
    /// Begins to measure the rate of [`now`](Platform::now). A first call of
    /// [`ticks_per_ns`](Platform::ticks_per_ns) within the next second then waits for less time, or not at all.
    /// Further calls do nothing.
    ///
    /// ```
    /// use manycore_platform::{Native, Platform};
    ///
    /// Native::start_clock();
    /// assert!(Native::ticks_per_ns() > 0.0);
    /// ```
    pub fn start_clock() {
        clock::start();
    }
}

std::thread_local! {
    static SLOT: Cell<*const ()> = const { Cell::new(std::ptr::null()) };
    /// The thread's [id](Platform::thread_id), or 0 before the first question. It has no destructor, so destructors of
    /// other thread-locals can read it.
    static ID: Cell<u64> = const { Cell::new(0) };
}

/// The host thread's number, for [`Platform::thread_id`].
pub(crate) fn thread_id() -> u64 {
    static LAST: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    if ID.get() == 0 {
        // Relaxed: each addition returns another number, whatever the order.
        ID.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
    }
    ID.get()
}

/// The number of spin iterations between two looks at the clock. A look costs as much as a `pause`.
const SPINS_PER_CLOCK: u32 = 16;

/// Spins while `word` holds `value`, until `until`. Also ends if the clock has jumped back, as the counter does when a
/// machine wakes from hibernation, since `until` may then be days away.
#[inline(always)]
fn spin_while(word: &atomic::AtomicU32, value: u32, until: u64, clock: impl Fn() -> u64) -> u32 {
    let mut began = 0;
    loop {
        for _ in 0..SPINS_PER_CLOCK {
            let seen = word.load(Ordering::Acquire);
            if seen != value {
                return seen;
            }
            std::hint::spin_loop();
        }
        let now = clock();
        if now >= until || now < began {
            return word.load(Ordering::Acquire);
        }
        if began == 0 {
            began = now;
        }
    }
}

// SAFETY: each number names a promise of the trait. 1: the standard library has the cells. 2: the system's
// module `futex` has the argument. 3: the fences are those of the standard library, and the system's module `fence`
// has the argument about the asymmetric pair. 4: see `spin_while`. 5: the threads are those of the standard library,
// and `thread` drops a body that does not run. 6: the slot is a thread-local variable without a destructor, which
// exists as long as its thread. 7: `corosensei` gets the stack and its guard page from the system. 8: the module
// `fork` has the argument. Without `fork` there are no children. 9: no method panics, and `thread` contains panics of
// the user's values.
unsafe impl Platform for Native {
    type AtomicU32 = atomic::AtomicU32;
    type AtomicU64 = atomic::AtomicU64;
    type AtomicUsize = atomic::AtomicUsize;
    type AtomicBool = atomic::AtomicBool;
    type AtomicPtr<T> = atomic::AtomicPtr<T>;
    type Futex = atomic::AtomicU32;
    type Thread = NativeThread;
    type Stack = NativeStack;

    #[inline(always)]
    fn fence(order: Ordering) {
        atomic::fence(order);
    }

    #[inline(always)]
    fn fence_after_rmw() {
        // On x86-64 every locked instruction orders all earlier stores before all later loads, like `mfence`. The
        // language's memory model has no such barrier, so Miri gets the fence.
        if cfg!(all(target_arch = "x86_64", not(miri))) {
            atomic::compiler_fence(Ordering::SeqCst);
        } else {
            atomic::fence(Ordering::SeqCst);
        }
    }

    #[inline(always)]
    fn light_fence() {
        system::light();
    }

    fn has_light_fences() -> bool {
        system::are_light()
    }

    #[inline(always)]
    fn untested_light_fence() {
        atomic::compiler_fence(Ordering::SeqCst);
    }

    fn heavy_fence() {
        system::heavy();
    }

    #[inline(always)]
    fn relax() {
        std::hint::spin_loop();
    }

    #[inline]
    fn spin_while(word: &Self::Futex, value: u32, until: u64) -> u32 {
        spin_while(word, value, until, Self::now)
    }

    #[inline(always)]
    fn prefetch(address: *const ()) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch changes no value and never faults.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
        }
        let _ = address;
    }

    #[inline(always)]
    fn prefetch_write(address: *const ()) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            use core::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
            // SAFETY: a prefetch changes no value and never faults.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(address.cast()) };
        }
        let _ = address;
    }

    fn yield_now() {
        std::thread::yield_now();
    }

    #[inline(always)]
    fn now() -> u64 {
        clock::now()
    }

    fn ticks_per_ns() -> f64 {
        clock::ticks_per_ns()
    }

    fn spawn(spec: ThreadSpec, body: Box<dyn FnOnce() + Send>) -> io::Result<NativeThread> {
        thread::spawn(spec, body)
    }

    fn join(thread: NativeThread) {
        thread.join();
    }

    fn core() -> usize {
        system::core()
    }

    fn begin_on(cpus: &[usize]) {
        system::begin_on(cpus);
    }

    fn bind(cpus: &[usize]) {
        if !cpus.is_empty() {
            // The system may have taken these CPUs away since the pool was built. Then the thread stays where it is.
            let _ = system::bind(cpus);
        }
    }

    fn leave_core(core: usize) {
        system::leave_core(core);
    }

    fn wake_elsewhere(thread: u64, is_taken: &dyn Fn(usize) -> bool, wake: &mut dyn FnMut()) {
        system::wake_elsewhere(thread, is_taken, wake);
    }

    fn preemptions() -> u64 {
        system::preemptions()
    }

    fn thread_number() -> u64 {
        system::thread_number()
    }

    fn is_blocked(thread: u64) -> bool {
        system::is_blocked(thread)
    }

    #[inline(always)]
    fn slot() -> *const () {
        SLOT.get()
    }

    #[inline(always)]
    unsafe fn set_slot(value: *const ()) {
        SLOT.set(value);
    }

    #[cfg(unix)]
    #[inline(always)]
    fn forks() -> u32 {
        fork::forks()
    }

    #[cfg(unix)]
    fn watch_forks() -> io::Result<()> {
        fork::watch()
    }

    fn stack(bytes: usize) -> io::Result<NativeStack> {
        native_stack(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spin_ends_when_the_clock_jumps_back() {
        let word = atomic::AtomicU32::new(7);
        let looks = Cell::new(0);
        let clock = || {
            looks.set(looks.get() + 1);
            assert!(looks.get() < 10, "it spins on");
            // After three looks the machine sleeps, and its counter starts again.
            if looks.get() <= 3 {
                1_000_000 + looks.get()
            } else {
                looks.get()
            }
        };
        assert_eq!(spin_while(&word, 7, 2_000_000, clock), 7);
        assert_eq!(looks.get(), 4);
    }
}
