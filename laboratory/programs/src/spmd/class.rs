//! The classes of the NAS parallel benchmarks: sizes of their problems.

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
        /// The smallest class, for tests.
        S = "S",
        /// For a workstation of 1994.
        W = "W",
        /// The smallest class for benchmarks.
        A = "A",
        /// Four times the work of `A` in BT, 14 times in FT, 37 times in CG.
        B = "B",
        /// 2.6 to 4.5 times the work of `B`.
        C = "C",
    }
}
