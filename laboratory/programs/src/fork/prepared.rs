//! A type that holds any kernel.

use super::*;
use manycore_platform::Platform;

macro_rules! prepared {
    ($($kernel:ident),*) => {
        /// A kernel, with its input.
        ///
        /// ```
        /// use manycore_programs::fork::{Algorithm, Kernel, Prepared, Serial, Size};
        /// use manycore_platform::Native;
        ///
        /// let mut kernel: Prepared = Algorithm::Life.prepare(1, Size::Quick);
        /// for _ in 0..3 {
        ///     kernel.reset();
        ///     kernel.run(&Serial::<Native>::default());
        /// }
        /// kernel.verify().unwrap();
        /// ```
        #[derive(Debug)]
        pub enum Prepared {
            $(#[doc = concat!("A [`", stringify!($kernel), "`](super::", stringify!($kernel), ").")]
            $kernel($kernel),)*
        }

        impl Kernel for Prepared {
            fn reset(&mut self) {
                match self { $(Self::$kernel(kernel) => kernel.reset()),* }
            }

            fn run<F: Fork>(&mut self, fork: &F) {
                match self { $(Self::$kernel(kernel) => kernel.run(fork)),* }
            }

            fn sequential<P: Platform>(&mut self) {
                match self { $(Self::$kernel(kernel) => kernel.sequential::<P>()),* }
            }

            fn verify(&self) -> Result<(), Wrong> {
                match self { $(Self::$kernel(kernel) => kernel.verify()),* }
            }
        }
    };
}

prepared!(
    MergeSort,
    QuickSort,
    FrogJump,
    Life,
    NBody,
    Tsp,
    Sieve,
    MatMul,
    Fibonacci,
    IncrementAll,
    JoinRecursively,
    TreeSum,
    MapCollect,
    StringSplit
);
