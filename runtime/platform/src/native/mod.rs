//! This host: `std::sync::atomic`, the operating system's threads, the
//! processor's time-stamp counter.

mod cells;
mod clock;
#[cfg(unix)]
mod fork;
mod thread;

// The system's facilities. `--cfg manycore_portable` leaves out Linux's own, so a Linux machine can
// test the code for other systems (`ci/platforms.sh`).
#[cfg(all(target_os = "linux", not(manycore_portable)))]
mod linux;
#[cfg(any(manycore_portable, not(target_os = "linux")))]
mod portable;
// On Linux for its tests.
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

/// This host's cores: the default platform.
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

std::thread_local! {
    static SLOT: Cell<*const ()> = const { Cell::new(std::ptr::null()) };
}

/// Spin iterations between two looks at the clock: the clock costs as much as
/// a `pause`, and the word is what the spinner waits for.
const SPINS_PER_CLOCK: u32 = 16;

// SAFETY: by the number of the promise. 1: the cells are the standard library's. 2: argued in
// the system's `futex`. 3: the standard library's fences; the asymmetric pair is argued in the
// system's `fence`. 4: below.
// 5: the standard library's threads, and `thread`, where a body that is not run is dropped.
// 6: a thread-local variable without a destructor, which exists as long as its thread.
// 7: `corosensei`'s stack, from the system, guard page and all. 8: argued in `fork`; where there
// is no `fork` there are no children. 9: none of the methods panics; `thread` contains the
// panics of other people's values.
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
        // On x86-64 every locked instruction orders all earlier stores before
        // all later loads, which is what `mfence` would add.
        // Formally the language has no such barrier: Miri gets the fence.
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
        loop {
            for _ in 0..SPINS_PER_CLOCK {
                let seen = word.load(Ordering::Acquire);
                if seen != value {
                    return seen;
                }
                std::hint::spin_loop();
            }
            if Self::now() >= until {
                return word.load(Ordering::Acquire);
            }
        }
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
