//! A platform that adds up the costs that kernels declare, and a test of these costs.

use manycore_platform::{Native, Platform, forward};
use std::cell::Cell;

thread_local! {
    static INSTRUCTIONS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

/// [`Native`], which also adds up the costs that each thread declares.
pub(crate) struct Counted;

impl Counted {
    /// Returns the instructions that this thread has declared since the last call.
    pub(crate) fn take() -> u64 {
        INSTRUCTIONS.take()
    }
}

// SAFETY: all methods with an effect on memory are methods of `Native`.
unsafe impl Platform for Counted {
    forward!(Native: cells fences threads slot rest);

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
            // Thirty frogs also look at places that a single frog's depth-first search never reaches.
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
