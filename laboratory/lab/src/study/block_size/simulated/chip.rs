//! The simulated machine, and the measurements of the document (Shuai's paper) on the real machine.

use manycore_chip::config::{Config, Network, range};
use serde::{Serialize, Serializer};

/// A machine of the document: its name in the document, the cells of its tables (`threads`, `reads`, `writes`), and the
/// number of threads in the comparison with Taskflow (`compared`).
#[derive(Debug)]
struct InDocument {
    preset: &'static str,
    name: &'static str,
    threads: &'static [usize],
    reads: &'static [u64],
    writes: &'static [u64],
    compared: usize,
}

const DOCUMENT: [InDocument; 3] = [
    InDocument {
        preset: "w3225r",
        name: "W-3225R",
        threads: &[2, 4, 8],
        reads: &[1024],
        writes: &[1024],
        compared: 8,
    },
    InDocument {
        preset: "gold5225r",
        name: "Gold 5225R",
        threads: &[4, 8, 16, 24, 36, 48],
        reads: &[1024, 4096],
        writes: &[1024],
        compared: 24,
    },
    InDocument {
        preset: "tr3970x",
        name: "AMD 3970X",
        threads: &[8, 16, 32],
        reads: &[1024],
        writes: &[1 << 10, 1 << 12, 1 << 14, 1 << 16],
        compared: 64,
    },
];

/// A machine to simulate.
#[derive(Clone, Debug)]
pub(in crate::study) struct DocumentChip {
    pub(super) config: Config,
    document: Option<&'static InDocument>,
}

impl DocumentChip {
    pub(in crate::study) fn new(config: &Config) -> Self {
        let mut config = config.clone();
        let document = DOCUMENT.iter().find(|known| known.preset == config.name);
        // The document's machines have two hardware threads for each core, and the presets have one. The second
        // hardware thread matters only here: if every core has a pool thread, it runs the caller.
        let groups = matches!(config.network, Network::Groups { .. });
        // Whether a machine may have twice as many cores.
        let room = range("cores").is_some_and(|(_, most)| f64::from(2 * config.cores) <= most);
        if document.is_some() && groups && room && config.threads_per_core == 1 {
            config.threads_per_core = 2;
            config.cores *= 2;
            config.group_cores *= 2;
        }
        Self { config, document }
    }

    /// The preset's name, or the name in the machine's file.
    pub(in super::super) fn name(&self) -> &str {
        &self.config.name
    }

    pub(in crate::study) fn name_in_tables(&self) -> &str {
        self.document.map_or(self.name(), |known| known.name)
    }

    /// The number of cores, each with its own L1.
    pub(in super::super) fn cores(&self) -> usize {
        (self.config.cores / self.config.threads_per_core) as usize
    }

    fn cores_in_a_group(&self) -> usize {
        (self.config.group_cores / self.config.threads_per_core) as usize
    }

    /// The core groups of `threads` threads, which fill one group after the other.
    pub(in crate::study) fn groups_of(&self, threads: usize) -> usize {
        threads
            .div_ceil(self.cores_in_a_group())
            .min(self.config.groups() as usize)
    }

    pub(in crate::study) fn hardware_threads(&self) -> usize {
        self.config.cores as usize
    }

    pub(in crate::study) fn threads_compared(&self) -> Option<usize> {
        self.document.map(|known| known.compared)
    }

    /// The hardware thread of pool thread `number`. The first hardware threads of all cores come first, then the second
    /// ones.
    pub(super) fn on_core(&self, number: usize) -> usize {
        let (cores, each) = (self.cores(), self.config.threads_per_core as usize);
        number % cores * each + number / cores % each
    }

    /// The hardware thread of a pool's caller: on the next core of the last thread's group or, if the group is full, on
    /// the last thread's core.
    pub(super) fn beside(&self, threads: usize) -> usize {
        match threads.is_multiple_of(self.cores_in_a_group()) {
            false => self.on_core(threads),
            true => self.on_core(threads - 1) + self.config.threads_per_core as usize - 1,
        }
    }

    /// The thread counts of the document, or else 1, 2, 4, ... and all cores.
    pub(in super::super) fn threads(&self) -> Vec<usize> {
        match self.document {
            Some(known) => known.threads.to_vec(),
            None => {
                let most = self.cores();
                let doubled = std::iter::successors(Some(1), |count| Some(count * 2));
                doubled
                    .take_while(|&count| count < most)
                    .chain([most])
                    .collect()
            }
        }
    }

    /// The document's `unit_read`.
    pub(in super::super) fn reads(&self) -> Vec<u64> {
        self.document
            .map_or(vec![1024], |known| known.reads.to_vec())
    }

    /// The document's `unit_write`.
    pub(in super::super) fn writes(&self) -> Vec<u64> {
        self.document
            .map_or(vec![1024], |known| known.writes.to_vec())
    }
}

/// Writes the TOML that `--on FILE.toml` reads.
impl Serialize for DocumentChip {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.config.to_toml())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chip(preset: &str) -> DocumentChip {
        DocumentChip::new(&Config::preset(preset).unwrap())
    }

    #[test]
    fn threads_fill_the_cores_before_they_share_them() {
        let amd = chip("tr3970x");
        assert_eq!(amd.threads_compared(), Some(amd.hardware_threads()));
        let places: Vec<usize> = (0..64).map(|number| amd.on_core(number)).collect();
        assert_eq!((places[31], places[32], places[63]), (62, 1, 63));
        let mut all = places;
        all.sort_unstable();
        assert!(all.iter().copied().eq(0..64));
        assert_eq!((amd.groups_of(32), amd.groups_of(64)), (8, 8));
    }

    #[test]
    fn the_caller_stays_in_the_last_threads_group() {
        let gold = chip("gold5225r");
        assert_eq!(
            (gold.cores(), gold.groups_of(24), gold.groups_of(36)),
            (48, 1, 2)
        );
        // 24 threads fill a socket, so the caller shares the core of the last thread.
        assert_eq!(gold.beside(24), gold.on_core(23) + 1);
        assert_eq!(gold.beside(36), gold.on_core(36));
        // With one hardware thread for each core, the caller shares the hardware thread of the last thread.
        let atac = chip("atac-64");
        assert_eq!(atac.beside(64), 63);
        assert_eq!(atac.threads(), [1, 2, 4, 8, 16, 32, 64]);
    }
}
