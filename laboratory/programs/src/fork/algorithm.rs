//! The kernels (fork-join programs) by name, with the sizes that studies use.

use super::*;
use crate::by_name;

by_name! {
    /// A program to study.
    ///
    /// ```
    /// use manycore_programs::fork::{Algorithm, Kernel, Serial, Size};
    /// use manycore_platform::Native;
    ///
    /// for algorithm in [Algorithm::MergeSort, "life".parse()?] {
    ///     let mut kernel = algorithm.prepare(42, Size::Quick);
    ///     kernel.run(&Serial::<Native>::default()); // what to time
    ///     kernel.verify()?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub enum Algorithm: "no algorithm is called", "there are" {
        /// [`MergeSort`](super::MergeSort) of 488,281 numbers. Pieces of up to 32 Ki are sorted, and of up to 64 Ki
        /// merged, by one thread.
        MergeSort = "merge-sort",
        /// [`QuickSort`](super::QuickSort) of 488,281 numbers. Pieces of up to 5,120 are sorted by one thread.
        QuickSort = "quick-sort",
        /// [`FrogJump`](super::FrogJump) at a pace of 2,000 in eight lanes. A frog searches 3,000 places at
        /// a time.
        FrogJump = "frog-jump",
        /// [`Life`](super::Life) on a board of 200 times 200 for 100 generations.
        Life = "life",
        /// [`NBody`](super::NBody) in its iterator form: 1,000 bodies, ten ticks.
        NBodyIterator = "nbody-iterator",
        /// [`NBody`](super::NBody) in its reduce form, of the same size.
        NBodyReduce = "nbody-reduce",
        /// [`Tsp`](super::Tsp): the ten cities of Djibouti. The search is sequential once eight cities are left.
        Tsp = "tsp",
        /// [`Sieve`](super::Sieve) of ten million numbers.
        Sieve = "sieve",
        /// [`MatMul`](super::MatMul) by quadrants, side 256, blocks of 32 times 32.
        MatMul = "matmul",
        /// [`MatMul`](super::MatMul) by Strassen's method, of the same size.
        Strassen = "strassen",
        /// [`Fibonacci`](super::Fibonacci) of 32.
        Fibonacci = "fibonacci",
        /// [`IncrementAll`](super::IncrementAll) of 100,000 numbers.
        IncrementAll = "increment-all",
        /// [`JoinRecursively`](super::JoinRecursively) with 16,384 leaves.
        JoinRecursively = "join-recursively",
        /// [`TreeSum`](super::TreeSum) over 131,071 nodes in pre-order.
        TreePreorder = "tree-preorder",
        /// [`TreeSum`](super::TreeSum) over 131,071 nodes in post-order.
        TreePostorder = "tree-postorder",
        /// [`MapCollect`](super::MapCollect) of one million numbers.
        MapCollect = "map-collect",
        /// [`StringSplit`](super::StringSplit) of two million characters.
        StringSplit = "string-split",
    }
}

/// The size of an input.
///
/// ```
/// use manycore_programs::fork::{Algorithm, Kernel, Size, Wrong};
/// let kernel = Algorithm::Fibonacci.prepare(0, Size::Document);
/// assert_eq!(kernel.verify(), Err(Wrong::NotRun));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// The size in Fontena's experiment, or in rayon's benchmarks if the experiment has no such program.
    /// [`Algorithm`] lists the sizes.
    Document,
    /// About an eighth to a fiftieth of the work, for a simulator or a quick look. `tsp` is short and keeps its size.
    Quick,
}

impl Algorithm {
    /// Makes the program with an input from `seed`. This takes up to a second, so do it outside of the timed part.
    ///
    /// ```
    /// use manycore_programs::fork::{Algorithm, Kernel, Size};
    /// use manycore_platform::Native;
    ///
    /// let mut kernel = Algorithm::Sieve.prepare(42, Size::Quick);
    /// kernel.sequential::<Native>();
    /// kernel.verify().unwrap();
    /// ```
    #[must_use]
    pub fn prepare(self, seed: u64, size: Size) -> Prepared {
        let pick = |document, quick| match size {
            Size::Document => document,
            Size::Quick => quick,
        };
        match self {
            Self::MergeSort => {
                // The chunks are divided by 32 too, so that there is still parallel work.
                let part = pick(1, 32);
                let kernel = MergeSort::new(488_281 / part, 32_768 / part, 65_536 / part, seed);
                Prepared::MergeSort(kernel)
            }
            Self::QuickSort => {
                let part = pick(1, 32);
                Prepared::QuickSort(QuickSort::new(488_281 / part, 5120 / part, seed))
            }
            Self::FrogJump => {
                let kernel = FrogJump::new(pick(2000, 400) as u32, 8, pick(3000, 50), seed);
                Prepared::FrogJump(kernel)
            }
            Self::Life => Prepared::Life(Life::new(pick(200, 64), pick(100, 50), seed)),
            Self::NBodyIterator => Prepared::NBody(NBody::new(
                Form::Iterator,
                pick(1000, 250),
                pick(10, 5),
                seed,
            )),
            Self::NBodyReduce => {
                Prepared::NBody(NBody::new(Form::Reduce, pick(1000, 250), pick(10, 5), seed))
            }
            Self::Tsp => Prepared::Tsp(Tsp::dj10(8)),
            Self::Sieve => Prepared::Sieve(Sieve::new(pick(10_000_000, 1_000_000))),
            Self::MatMul => Prepared::MatMul(matmul(Method::Quadrants, size, seed)),
            Self::Strassen => Prepared::MatMul(matmul(Method::Strassen, size, seed)),
            Self::Fibonacci => Prepared::Fibonacci(Fibonacci::new(pick(32, 24) as u32)),
            Self::IncrementAll => {
                Prepared::IncrementAll(IncrementAll::new(pick(100_000, 10_000), seed))
            }
            Self::JoinRecursively => {
                Prepared::JoinRecursively(JoinRecursively::new(pick(14, 10) as u32))
            }
            Self::TreePreorder => {
                Prepared::TreeSum(TreeSum::new(pick(131_071, 8191), Placement::Preorder, seed))
            }
            Self::TreePostorder => Prepared::TreeSum(TreeSum::new(
                pick(131_071, 8191),
                Placement::Postorder,
                seed,
            )),
            Self::MapCollect => {
                Prepared::MapCollect(MapCollect::new(pick(1_000_000, 50_000), seed))
            }
            Self::StringSplit => {
                Prepared::StringSplit(StringSplit::new(pick(2_000_000, 100_000), seed))
            }
        }
    }
}

fn matmul(method: Method, size: Size, seed: u64) -> MatMul {
    match size {
        Size::Document => MatMul::new(method, 3, 32, seed),
        // The same number of tasks, with smaller blocks.
        Size::Quick => MatMul::new(method, 3, 16, seed),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;

    #[test]
    fn every_algorithm_is_right_at_its_quick_size() {
        for algorithm in Algorithm::ALL {
            for seed in [0, 1] {
                check(&mut algorithm.prepare(seed, Size::Quick));
            }
        }
    }

    #[test]
    fn nothing_is_right_before_it_has_run() {
        for algorithm in Algorithm::ALL {
            let kernel = algorithm.prepare(1, Size::Quick);
            assert!(kernel.verify().is_err(), "{algorithm}");
        }
    }

    #[test]
    fn names_are_read_back() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
        }
    }
}
