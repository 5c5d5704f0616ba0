//! The simulated machine, one thread a core.

use manycore_chip::config::Config;
use serde::{Serialize, Serializer};

/// A machine to simulate.
#[derive(Clone, Debug)]
pub(super) struct Chip(pub(super) Config);

impl Chip {
    /// Cores, each with an L1 of its own.
    pub(super) fn cores(&self) -> usize {
        (self.0.cores / self.0.threads_per_core) as usize
    }

    pub(super) fn groups(&self) -> usize {
        (self.0.cores / self.0.group_cores) as usize
    }

    /// The first hardware thread of a core.
    pub(super) fn on_core(&self, core: usize) -> usize {
        core * self.0.threads_per_core as usize
    }

    /// One thread, and then each quarter, or eighth, of the cores.
    pub(super) fn threads(&self, full: bool) -> Vec<usize> {
        let parts = if full { 8 } else { 4 };
        let mut counts: Vec<usize> = (1..=parts)
            .map(|part| self.cores() * part / parts)
            .collect();
        counts.retain(|&count| count > 0);
        counts
    }
}

/// As TOML: what `--on FILE.toml` reads.
impl Serialize for Chip {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_toml())
    }
}
