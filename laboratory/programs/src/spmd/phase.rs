//! A program as a sequence of phases, and what each costs.

/// A loop of independent items. At its end all wait for all.
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
    /// Its name, for reports.
    pub name: &'static str,
    /// How many items it has. A rank has a run of them.
    pub items: usize,
    /// Items that are not divided further, at least 1: between two grains a rank can be
    /// interrupted. Some microseconds.
    pub grain: usize,
    /// The average cost of an item.
    pub cost: Cost,
}

/// The cost of an item of a phase: counted from the algorithm, not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Instructions, those on memory included.
    pub instructions: f64,
    /// Bytes that come from main memory or go to it, when the data are far larger than
    /// the caches.
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
