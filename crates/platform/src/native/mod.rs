//! This host: `std::sync::atomic`, the operating system's threads, the
//! processor's time-stamp counter.

mod cells;
mod clock;
#[cfg_attr(target_os = "linux", path = "fence_linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fence_portable.rs")]
mod fence;
#[cfg_attr(target_os = "linux", path = "futex_linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "futex_portable.rs")]
mod futex;
mod thread;

use crate::{Atomic, NoBroadcast, Ordering, Platform, ThreadSpec};
use corosensei::stack::DefaultStack;
use std::cell::Cell;
use std::io;
use std::sync::atomic;

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

impl Platform for Native {
    type AtomicU32 = atomic::AtomicU32;
    type AtomicU64 = atomic::AtomicU64;
    type AtomicUsize = atomic::AtomicUsize;
    type AtomicBool = atomic::AtomicBool;
    type AtomicPtr<T> = atomic::AtomicPtr<T>;
    type Futex = atomic::AtomicU32;
    type Thread = NativeThread;
    type Broadcast = NoBroadcast;
    type Stack = DefaultStack;

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
        fence::light();
    }

    fn has_light_fences() -> bool {
        fence::are_light()
    }

    #[inline(always)]
    fn untested_light_fence() {
        atomic::compiler_fence(Ordering::SeqCst);
    }

    fn heavy_fence() {
        fence::heavy();
    }

    #[inline(always)]
    fn relax() {
        std::hint::spin_loop();
    }

    #[inline]
    fn spin_while(word: &Self::Futex, value: u32, until: u64) -> u32 {
        loop {
            for _ in 0..SPINS_PER_CLOCK {
                let seen = Atomic::load(word, Ordering::Acquire);
                if seen != value {
                    return seen;
                }
                std::hint::spin_loop();
            }
            if Self::now() >= until {
                return Atomic::load(word, Ordering::Acquire);
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
        thread::core()
    }

    fn leave_core(core: usize) {
        thread::leave_core(core);
    }

    #[inline(always)]
    fn slot() -> *const () {
        SLOT.get()
    }

    #[inline(always)]
    fn set_slot(value: *const ()) {
        SLOT.set(value);
    }

    fn stack(bytes: usize) -> io::Result<DefaultStack> {
        // More than any address space has; the sum with the guard must not overflow.
        if bytes > isize::MAX as usize / 2 {
            let what = format!("a stack of {bytes} bytes");
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, what));
        }
        DefaultStack::new(bytes)
    }
}
