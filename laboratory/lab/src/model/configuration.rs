//! A configuration: a unit task, its loop, and the threads that run the loop.

use manycore_programs::cost::published::Features;
use serde::{Deserialize, Serialize};

/// The iterations of the loops in the document (Shuai's paper), unless a table states another number. See
/// `data/README.md`.
pub(super) const ITERATIONS: usize = 4096;

/// A loop on a machine: the input of a model that predicts the loop's best block size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Configuration {
    pub(crate) machine: String,
    pub(crate) core_groups: usize,
    pub(crate) threads: usize,
    pub(crate) unit_read: u64,
    pub(crate) unit_write: u64,
    pub(crate) unit_comp: u64,
    pub(crate) n: usize,
}

impl Configuration {
    /// The configuration in the units of the document's formula.
    pub(super) fn features(&self) -> Features {
        Features::new(
            self.core_groups,
            self.threads,
            self.unit_read,
            self.unit_write,
            self.unit_comp,
        )
    }

    /// The share of the threads outside the launching thread's core group.
    ///
    /// In the document, threads are pinned, so that they fill one group after the other. On any other machine, the
    /// threads are assumed to be spread evenly.
    pub(super) fn outside(&self) -> f64 {
        let (threads, groups) = (self.threads as f64, self.core_groups as f64);
        let even = 1.0 / groups;
        let at_home = match cores_in_a_group(&self.machine) {
            // Once every core has a thread, further threads share cores evenly.
            Some(cores) if groups > 1.0 => (cores / threads).clamp(even, 1.0),
            _ => even,
        };
        1.0 - at_home
    }

    /// The bytes that determine the task's time: the read bytes, and the bytes that are written after the last read. A
    /// byte that is written while others are read costs nothing. A byte that is written later takes half the time of a
    /// read byte while the loop's output stays in the cache. Beyond the cache it counts as a read byte. The computation
    /// is one addition for any `unit_comp`, since a compiler folds its loop.
    pub(super) fn bytes(&self) -> f64 {
        let after = self.unit_write.saturating_sub(self.unit_read);
        let cached = after.min(CACHED_WRITES);
        let bytes = self.unit_read as f64 + 0.5 * cached as f64 + (after - cached) as f64;
        // Even an empty task takes some time.
        bytes.max(1.0)
    }
}

/// The written bytes of an iteration that stay in the cache. The document's 4096 iterations write 16 MiB, about the
/// size of its machines' last-level caches.
const CACHED_WRITES: u64 = 4096;

/// The cores of a core group of the document's machines.
fn cores_in_a_group(machine: &str) -> Option<f64> {
    match machine {
        "W-3225R" => Some(8.0),
        "Gold 5225R" => Some(24.0),
        "AMD 3970X" => Some(4.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(machine: &str, core_groups: usize, threads: usize) -> Configuration {
        Configuration {
            machine: machine.into(),
            core_groups,
            threads,
            unit_read: 1024,
            unit_write: 4096,
            unit_comp: 1,
            n: ITERATIONS,
        }
    }

    #[test]
    fn threads_outside_the_first_group() {
        assert_eq!(on("Gold 5225R", 1, 24).outside(), 0.0);
        assert!((on("Gold 5225R", 2, 36).outside() - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(on("AMD 3970X", 8, 32).outside(), 0.875);
        assert_eq!(on("AMD 3970X", 8, 64).outside(), 0.875);
        assert_eq!(on("another", 4, 4).outside(), 0.75);
    }

    #[test]
    fn writes_during_reads_are_free() {
        let mut at = on("another", 1, 1);
        assert_eq!(at.bytes(), 1024.0 + 1536.0);
        at.unit_write = 1024;
        assert_eq!(at.bytes(), 1024.0);
        at.unit_write = 1024 + 4096 + 1000;
        assert_eq!(at.bytes(), 1024.0 + 2048.0 + 1000.0);
    }
}
