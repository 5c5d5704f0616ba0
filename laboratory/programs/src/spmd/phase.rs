//! A program as a sequence of phases, each with its cost.

/// A loop of independent items. At its end all ranks (threads of the team) wait for each other.
///
/// ```
/// use manycore_programs::spmd::{Cost, Phase};
///
/// let cost = Cost { instructions: 12.0, bytes: 24.0 };
/// let phase = Phase { name: "axpy", items: 1_000, grain: 100, cost };
/// assert_eq!(phase.instructions(), 12_000.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// The name of the phase, for reports.
    pub name: &'static str,
    /// The number of items. A rank runs consecutive items.
    pub items: usize,
    /// The number of items in a grain, at least 1. A grain takes a few microseconds, and is not divided further. A rank
    /// can be interrupted between two grains.
    pub grain: usize,
    /// The average cost of an item.
    pub cost: Cost,
}

/// The cost of an item of a phase, counted from the algorithm, not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Instructions, loads and stores included.
    pub instructions: f64,
    /// Bytes to and from main memory, if the data are far larger than the caches.
    pub bytes: f64,
}

impl Phase {
    /// Instructions of all items.
    #[must_use]
    pub fn instructions(&self) -> f64 {
        self.cost.instructions * self.items as f64
    }

    /// Bytes of all items.
    #[must_use]
    pub fn bytes(&self) -> f64 {
        self.cost.bytes * self.items as f64
    }
}
