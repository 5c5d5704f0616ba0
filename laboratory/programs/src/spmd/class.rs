//! The classes of the NAS parallel benchmarks: how large a problem is.

use crate::by_name;

by_name! {
    /// The size of a problem: from a fraction of a second to minutes and many gigabytes.
    ///
    /// ```
    /// use manycore_programs::spmd::Class;
    ///
    /// assert_eq!("W".parse(), Ok(Class::W));
    /// assert_eq!(Class::ALL.map(|class| class.to_string()).concat(), "SWABC");
    /// ```
    pub enum Class: "no class is called", "there are" {
        /// A sample, for tests.
        S = "S",
        /// For what was a workstation in 1994.
        W = "W",
        /// The smallest that is a benchmark.
        A = "A",
        /// About four times `A`; for `CG` about twenty.
        B = "B",
        /// About four times `B`.
        C = "C",
    }
}
