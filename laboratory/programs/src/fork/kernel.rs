//! The interface of every fork-join kernel.

use super::Fork;
use manycore_platform::Platform;
use std::fmt::Display;

/// A program with its input. It can run repeatedly and can check its answer.
///
/// ```
/// use manycore_programs::fork::{Kernel, QuickSort, Serial};
/// use manycore_platform::Native;
///
/// let mut kernel = QuickSort::new(1000, 10, 42);
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// kernel.reset(); // the numbers are back in disorder
/// assert!(kernel.verify().is_err());
/// ```
pub trait Kernel: Send {
    /// Restores the input and forgets the answer.
    fn reset(&mut self);

    /// Runs the parallel program.
    fn run<F: Fork>(&mut self, fork: &F);

    /// Runs the sequential program, as written for a single thread.
    fn sequential<P: Platform>(&mut self);

    /// Checks the answer. The check takes about as long as the sequential program.
    ///
    /// # Errors
    ///
    /// The fault of the answer, if it is wrong.
    fn verify(&self) -> Result<(), Wrong>;
}

/// The fault of an answer.
///
/// ```
/// use manycore_programs::fork::{Fibonacci, Kernel, Wrong};
/// assert_eq!(Fibonacci::new(20).verify(), Err(Wrong::NotRun));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// There is no answer.
    #[error("the kernel has not run since it was made or reset")]
    NotRun,
    /// The answer differs from the right answer.
    #[error("{what} is {found} and should be {expected}")]
    Answer {
        /// The name of the computed value.
        what: &'static str,
        /// The computed answer.
        found: String,
        /// The right answer.
        expected: String,
    },
    /// An element is wrong: the first by index.
    #[error("{what} {index} is wrong")]
    Element {
        /// The kind of the elements.
        what: &'static str,
        /// The index of the wrong element.
        index: usize,
    },
}

impl Wrong {
    /// Returns `Ok` if `found` equals the expected value.
    pub(super) fn unless_equal<T: PartialEq + Display>(
        what: &'static str,
        found: T,
        expected: T,
    ) -> Result<(), Self> {
        if found == expected {
            return Ok(());
        }
        Err(Self::Answer {
            what,
            found: found.to_string(),
            expected: expected.to_string(),
        })
    }

    /// Returns `Ok` if the two slices are equal.
    pub(super) fn unless_all_equal<T: PartialEq>(
        what: &'static str,
        found: &[T],
        expected: &[T],
    ) -> Result<(), Self> {
        let index = (found.iter().zip(expected)).position(|(found, expected)| found != expected);
        match index {
            Some(index) => Err(Self::Element { what, index }),
            None if found.len() != expected.len() => Err(Self::Element {
                what,
                index: found.len().min(expected.len()),
            }),
            None => Ok(()),
        }
    }
}
