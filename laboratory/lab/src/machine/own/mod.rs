//! A preset of this host, from measurements.
//!
//! Most values are the cost of one operation, which is measured alone. Two values are not: the distance between cores,
//! and the time for which a core keeps a contended line. They are fitted, so that the simulated handover takes as long
//! as the measured one, and simulated contended increments take as long and come in runs as long as the measured ones.

mod file;
mod fit;
mod kernel;
mod measured;
mod memory;
mod preset;

pub(crate) use file::PresetFile;
pub(super) use fit::ALIKE;

use crate::failure::bad_input;
use manycore::topology::{Cpu, Topology};
use manycore_chip::config::Config;
use measured::Measured;

/// The beginning of every source in a preset that `--as-preset` wrote.
pub(super) const WRITTEN: &str = "manycore machine --as-preset:";

/// The shape of the host, from the system.
pub(super) struct Shape {
    /// For each hardware thread of the preset, the CPU on which a thread runs. The hardware threads of a core are
    /// neighbours, as on the simulated chip.
    pub(super) places: Vec<Vec<usize>>,
    /// The same places in the order of a team: inside a group, one hardware thread of each core comes first.
    pub(super) team: Vec<Vec<usize>>,
    pub(super) threads_per_core: usize,
    /// The number of CPUs that share a last cache, as the system says.
    pub(super) sharing: usize,
}

impl Shape {
    fn of(machine: &Topology) -> Self {
        let mut cpus = machine.usable().to_vec();
        cpus.sort_by_key(|cpu| (cpu.group, cpu.core, cpu.smt));
        // The size of all sets, or 1 if sets have different sizes. The preset cannot describe those.
        let size = |set: fn(&Cpu) -> usize| {
            let mut sizes = cpus.chunk_by(|a, b| set(a) == set(b)).map(<[Cpu]>::len);
            let first = sizes.next().unwrap_or(1);
            if sizes.all(|size| size == first) {
                first
            } else {
                1
            }
        };
        let threads_per_core = size(|cpu| cpu.core);
        let sharing = size(|cpu| cpu.group);
        let places = |order: Vec<usize>| order.into_iter().map(|cpu| vec![cpu]).collect();
        Self {
            places: places(cpus.iter().map(|cpu| cpu.id).collect()),
            team: places(machine.compact_order()),
            threads_per_core,
            sharing: sharing.next_multiple_of(threads_per_core),
        }
    }

    /// Refuses a host on which no two cores exchange a line.
    fn checked(self) -> anyhow::Result<Self> {
        if self.places.len() > self.threads_per_core {
            return Ok(self);
        }
        Err(bad_input(
            "--as-preset: only one core can be used; expected two or more",
        ))
    }
}

/// Whether `--as-preset` wrote this preset, and no `--set` has changed it since. A `--set` adds a source.
pub(super) fn is_written(config: &Config) -> bool {
    let mut sources = config.sources.values();
    !config.sources.is_empty() && sources.all(|source| source.starts_with(WRITTEN))
}

/// Measures this host. Returns the text of its preset, and a warning if the preset misses a measurement.
///
/// # Errors
///
/// Fails with fewer than two cores, if a thread cannot be pinned, if a simulation fails, or after ctrl-C.
pub(crate) fn measure(
    name: &str,
    quick: bool,
    progress: &mut dyn FnMut(&str),
) -> anyhow::Result<(String, Option<String>)> {
    let shape = Shape::of(&Topology::detect()).checked()?;
    let rounds = if quick { 3 } else { 60 };
    let measured = Measured::take(&shape, rounds, progress)?;
    let name = name.to_lowercase();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    fit::preset(&name, &shape, &measured, progress)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::described::Files;

    /// The chip's rule: a core has `threads_per_core` successive hardware threads.
    #[test]
    fn the_hardware_threads_of_a_core_are_neighbours() {
        // On two cores with two threads each, the siblings are 0 and 2, and 1 and 3.
        let shape = Shape::of(&Files::new([1, 1, 2], 2, "0-3").topology());
        assert_eq!((shape.threads_per_core, shape.sharing), (2, 4));
        assert_eq!(shape.places, [[0], [2], [1], [3]]);
        assert_eq!(shape.team[..2], [[0], [1]]);
        let groups = Shape::of(&Files::new([1, 2, 2], 2, "0-7").topology());
        assert_eq!((groups.threads_per_core, groups.sharing), (2, 4));
        assert_eq!(groups.places, [[0], [4], [1], [5], [2], [6], [3], [7]]);
    }

    #[test]
    fn cores_of_different_sizes_count_as_cores_without_siblings() {
        let shape = Shape::of(&Files::new([1, 1, 3], 2, "0-3").topology());
        assert_eq!((shape.threads_per_core, shape.sharing), (1, 4));
    }

    #[test]
    fn a_preset_is_own_until_it_is_changed() {
        let mut config = Config::preset("dahu").unwrap();
        assert!(!is_written(&config));
        let source = || format!("{WRITTEN} see the comment beside each key");
        config.sources.values_mut().for_each(|one| *one = source());
        assert!(is_written(&config));
        config.set("llc.latency=99").unwrap();
        assert!(!is_written(&config));
    }

    #[test]
    fn one_core_with_two_hardware_threads_is_refused() {
        let machine = Files::new([1, 1, 2], 2, "0,2");
        let refused = Shape::of(&machine.topology()).checked();
        let error = refused.err().unwrap().to_string();
        assert!(error.contains("expected two or more"), "{error}");
        assert!(
            Shape::of(&Files::new([1, 1, 2], 2, "0,1").topology())
                .checked()
                .is_ok()
        );
    }
}
