//! The kernels by name, with the sizes that studies use.

use super::*;
use crate::names::by_name;

/// A program to study, by name.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Algorithm {
    /// [`MergeSort`](super::MergeSort) of 488,281 numbers, chunks of 32 Ki
    /// sorted and 64 Ki merged by one thread.
    MergeSort,
    /// [`QuickSort`](super::QuickSort) of 488,281 numbers, 5,120 of them by one
    /// thread.
    QuickSort,
    /// [`FrogJump`](super::FrogJump) at a pace of 2,000 in eight lanes, 3,000
    /// places at a time.
    FrogJump,
    /// [`Life`](super::Life) on a board of 200 times 200 for 100 generations.
    Life,
    /// [`NBody`](super::NBody) in its iterator form: 1,000 bodies, ten ticks.
    NBodyIterator,
    /// [`NBody`](super::NBody) in its reduce form, of the same size.
    NBodyReduce,
    /// [`Tsp`](super::Tsp): the ten cities of Djibouti, sequential from eight
    /// cities left.
    Tsp,
    /// [`Sieve`](super::Sieve) of ten million numbers.
    Sieve,
    /// [`MatMul`](super::MatMul) by quadrants, side 256, blocks of 32 times 32.
    MatMul,
    /// [`MatMul`](super::MatMul) by Strassen's method, of the same size.
    Strassen,
    /// [`Fibonacci`](super::Fibonacci) of 32.
    Fibonacci,
    /// [`IncrementAll`](super::IncrementAll) of 100,000 numbers.
    IncrementAll,
    /// [`JoinRecursively`](super::JoinRecursively) with 16,384 leaves.
    JoinRecursively,
    /// [`TreeSum`](super::TreeSum) over 131,071 nodes in pre-order.
    TreePreorder,
    /// [`TreeSum`](super::TreeSum) over 131,071 nodes in post-order.
    TreePostorder,
    /// [`MapCollect`](super::MapCollect) of one million numbers.
    MapCollect,
    /// [`StringSplit`](super::StringSplit) of two million characters.
    StringSplit,
}

/// How large an input is.
///
/// ```
/// use manycore_programs::fork::{Algorithm, Kernel, Size, Wrong};
/// let kernel = Algorithm::Fibonacci.prepare(0, Size::Document);
/// assert_eq!(kernel.verify(), Err(Wrong::NotRun));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// As in the document on sleeping, or in rayon's benchmarks where the
    /// document has no such program; [`Algorithm`] says which.
    Document,
    /// Some eight to fifty times less work, for a simulator or a quick look; `tsp`
    /// alone, which is short, stays as it is.
    Quick,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::MergeSort,
        Self::QuickSort,
        Self::FrogJump,
        Self::Life,
        Self::NBodyIterator,
        Self::NBodyReduce,
        Self::Tsp,
        Self::Sieve,
        Self::MatMul,
        Self::Strassen,
        Self::Fibonacci,
        Self::IncrementAll,
        Self::JoinRecursively,
        Self::TreePreorder,
        Self::TreePostorder,
        Self::MapCollect,
        Self::StringSplit,
    ];

    /// The name in commands and reports.
    ///
    /// ```
    /// use manycore_programs::fork::Algorithm;
    /// assert_eq!(Algorithm::NBodyReduce.name(), "nbody-reduce");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MergeSort => "merge-sort",
            Self::QuickSort => "quick-sort",
            Self::FrogJump => "frog-jump",
            Self::Life => "life",
            Self::NBodyIterator => "nbody-iterator",
            Self::NBodyReduce => "nbody-reduce",
            Self::Tsp => "tsp",
            Self::Sieve => "sieve",
            Self::MatMul => "matmul",
            Self::Strassen => "strassen",
            Self::Fibonacci => "fibonacci",
            Self::IncrementAll => "increment-all",
            Self::JoinRecursively => "join-recursively",
            Self::TreePreorder => "tree-preorder",
            Self::TreePostorder => "tree-postorder",
            Self::MapCollect => "map-collect",
            Self::StringSplit => "string-split",
        }
    }

    /// The program with an input from `seed`. Takes up to a second; not to be
    /// timed.
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
                // All by 32, or nothing would be left to be divided.
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
        // As many tasks, a smaller block.
        Size::Quick => MatMul::new(method, 3, 16, seed),
    }
}

by_name!(Algorithm, "no algorithm is called");

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
