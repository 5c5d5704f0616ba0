//! A platform that adds up what kernels declare, and what it shows of them.

use manycore_platform::{Native, Ordering, Platform, ThreadSpec};
use std::cell::Cell;
use std::io;

thread_local! {
    static INSTRUCTIONS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

/// [`Native`], with books kept by each thread.
pub(crate) struct Counted;

impl Counted {
    /// The instructions that this thread has declared since the last call.
    pub(crate) fn take() -> u64 {
        INSTRUCTIONS.take()
    }
}

// SAFETY: each method on which memory depends is `Native`'s.
unsafe impl Platform for Counted {
    type AtomicU32 = <Native as Platform>::AtomicU32;
    type AtomicU64 = <Native as Platform>::AtomicU64;
    type AtomicUsize = <Native as Platform>::AtomicUsize;
    type AtomicBool = <Native as Platform>::AtomicBool;
    type AtomicPtr<T> = <Native as Platform>::AtomicPtr<T>;
    type Futex = <Native as Platform>::Futex;
    type Thread = <Native as Platform>::Thread;
    type Broadcast = <Native as Platform>::Broadcast;
    type Stack = <Native as Platform>::Stack;

    fn fence(order: Ordering) {
        Native::fence(order);
    }
    fn light_fence() {
        Native::light_fence();
    }

    fn has_light_fences() -> bool {
        Native::has_light_fences()
    }

    fn untested_light_fence() {
        Native::untested_light_fence();
    }

    fn heavy_fence() {
        Native::heavy_fence();
    }

    fn fence_after_rmw() {
        Native::fence_after_rmw();
    }
    fn relax() {
        Native::relax();
    }
    fn spin_while(word: &Self::Futex, value: u32, until: u64) -> u32 {
        Native::spin_while(word, value, until)
    }
    fn prefetch(address: *const ()) {
        Native::prefetch(address);
    }
    fn prefetch_write(address: *const ()) {
        Native::prefetch_write(address);
    }
    fn yield_now() {
        Native::yield_now();
    }
    fn now() -> u64 {
        Native::now()
    }
    fn ticks_per_ns() -> f64 {
        Native::ticks_per_ns()
    }
    fn spawn(spec: ThreadSpec, body: Box<dyn FnOnce() + Send>) -> io::Result<Self::Thread> {
        Native::spawn(spec, body)
    }
    fn join(thread: Self::Thread) {
        Native::join(thread);
    }
    fn core() -> usize {
        Native::core()
    }
    fn leave_core(core: usize) {
        Native::leave_core(core);
    }
    fn slot() -> *const () {
        Native::slot()
    }
    unsafe fn set_slot(value: *const ()) {
        // SAFETY: the caller's promise.
        unsafe { Native::set_slot(value) };
    }
    fn forks() -> u32 {
        Native::forks()
    }
    fn watch_forks() -> io::Result<()> {
        Native::watch_forks()
    }

    fn stack(bytes: usize) -> io::Result<Self::Stack> {
        Native::stack(bytes)
    }
    fn compute(instructions: u64) {
        INSTRUCTIONS.set(INSTRUCTIONS.get() + instructions);
    }
    fn read<T>(data: &[T]) {
        BYTES.set(BYTES.get() + size_of_val(data));
    }
    fn write<T>(data: &mut [T]) {
        BYTES.set(BYTES.get() + size_of_val(data));
    }
}

mod tests {
    use super::super::{Algorithm, Kernel, Serial, Size};
    use super::*;

    #[test]
    fn the_parallel_program_declares_what_the_sequential_one_does() {
        for algorithm in Algorithm::ALL {
            let mut kernel = algorithm.prepare(1, Size::Quick);
            BYTES.take();
            kernel.sequential::<Counted>();
            let sequential = Counted::take();
            let touches = BYTES.take() > 0;
            assert!(sequential > 1000, "{algorithm} declares {sequential}");
            kernel.reset();
            kernel.run(&Serial::<Counted>::default());
            let parallel = Counted::take();
            let ratio = parallel as f64 / sequential as f64;
            // Thirty frogs look at places that one, which goes in depth, never comes to.
            let most = match algorithm {
                Algorithm::FrogJump => 1.2,
                _ => 1.1,
            };
            assert!((0.95..most).contains(&ratio), "{algorithm}: {ratio}");
            let pure = [Algorithm::Fibonacci, Algorithm::JoinRecursively];
            assert_eq!(touches, !pure.contains(&algorithm), "{algorithm}");
            assert_eq!(BYTES.take() > 0, touches, "{algorithm}");
        }
    }
}
