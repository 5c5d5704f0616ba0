//! A simulated machine, and the cores on which its threads run.

use crate::failure::bad_input;
use manycore_chip::config::{Config, Network};
use serde::{Serialize, Serializer};

/// A machine to simulate.
#[derive(Clone, Debug)]
pub(in crate::study) struct Chip(pub(in crate::study) Config);

impl Chip {
    /// The number of cores. Each has its own L1.
    pub(in crate::study) fn cores(&self) -> usize {
        (self.0.cores / self.0.threads_per_core) as usize
    }

    /// The number of threads that run at once.
    pub(in crate::study) fn hardware_threads(&self) -> usize {
        self.0.cores as usize
    }

    pub(in crate::study) fn groups(&self) -> usize {
        (self.0.cores / self.0.group_cores) as usize
    }

    /// The first hardware thread of a core.
    pub(in crate::study) fn on_core(&self, core: usize) -> usize {
        core * self.0.threads_per_core as usize
    }

    /// The hardware thread of a team's thread. Threads first fill all cores, then the cores' second hardware threads,
    /// and so on.
    pub(in crate::study) fn of_thread(&self, thread: usize) -> usize {
        self.on_core(thread % self.cores()) + thread / self.cores()
    }

    /// The core group of a core.
    pub(in crate::study) fn group_of(&self, core: usize) -> usize {
        self.on_core(core) / self.0.group_cores as usize
    }

    /// Whether the machine can have any number of cores. Such a machine is a mesh of tiles without a shared last-level
    /// cache.
    pub(in crate::study) fn scales(&self) -> bool {
        matches!(self.0.network, Network::Mesh { .. }) && self.0.llc.is_none()
    }

    /// This machine for a team of `cores`. A machine that scales gets this many tiles. Any other machine stays as it
    /// is.
    pub(in crate::study) fn sized(&self, cores: usize) -> anyhow::Result<Self> {
        let mut chip = self.clone();
        let refused = |what: String| bad_input(format!("--cores {cores}: {what}"));
        if self.scales() {
            let threads = cores * self.0.threads_per_core as usize;
            let changed = chip.0.set(&format!("cores={threads}"));
            changed.map_err(|error| refused(error.to_string()))?;
        } else if cores > self.cores() {
            let (name, most) = (&self.0.name, self.cores());
            return Err(refused(format!(
                "{name} has {most} cores; expected at most {most}"
            )));
        }
        Ok(chip)
    }

    /// Returns 1/4, 2/4, 3/4 and 4/4 of the number of cores, or the eighths if `full`.
    pub(in crate::study) fn threads(&self, full: bool) -> Vec<usize> {
        let parts = if full { 8 } else { 4 };
        let mut counts: Vec<usize> = (1..=parts)
            .map(|part| self.cores() * part / parts)
            .collect();
        counts.retain(|&count| count > 0);
        counts
    }
}

/// Serialises the machine as TOML, which `--on FILE.toml` reads.
impl Serialize for Chip {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_toml())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cores_are_filled_before_second_hardware_threads() {
        let chip = Chip(Config::preset("dahu-smt").unwrap());
        let places = [0, 1, 31, 32, 63].map(|thread| chip.of_thread(thread));
        assert_eq!(places, [0, 2, 62, 1, 63]);
    }
}
