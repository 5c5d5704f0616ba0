//! Loads of a core from its own caches and from the memory near it.

use super::buffer::{Buffer, is_home, mean};
use super::distance::mesh_hops;
use super::thread::spawn;
use crate::instrument;
use manycore_chip::config::{Config, Slices};
use manycore_chip::{Run, Simulated, Simulation, SimulationError};
use manycore_platform::{Atomic, Ordering::Relaxed, Platform};

/// Levels of the memory and the cycles of a load from each.
pub(super) type Levels = Vec<(&'static str, f64)>;

/// Measures undisturbed loads by core 0. If the last-level cache has slices, loads from it and from the memory behind
/// it are one hop away.
pub(super) fn measure(config: &Config) -> Result<Run<Levels>, SimulationError> {
    instrument::run(Simulation::new(config), &"local loads", || {
        let config = config.clone();
        spawn(0, move || levels(&config)).join()
    })
}

fn levels(config: &Config) -> Levels {
    let everywhere = |_: &Buffer, _: usize| true;
    let slices = config
        .llc
        .as_ref()
        .is_some_and(|llc| llc.slices == Slices::Tiles);
    let neighbour = (0..config.cores as usize).find(|&core| mesh_hops(config, 0, core) == 1);
    let near = |buffer: &Buffer, number: usize| match neighbour {
        Some(neighbour) if slices => is_home(config, buffer.line(number), neighbour),
        _ => true,
    };
    let mut private = config.l1.size;
    let mut levels = vec![("L1", again(config, u64::from(config.line), everywhere))];
    if let Some(l2) = &config.l2 {
        levels.push(("L2", again(config, between(private, l2.size), everywhere)));
        private = l2.size;
    }
    if let Some(llc) = &config.llc {
        levels.push(("LLC", again(config, between(private, llc.size), near)));
    }
    let buffer = Buffer::new(config, 100 * config.nodes() as usize);
    levels.push(("RAM", mean(pass(&buffer, near))));
    levels
        .into_iter()
        .filter_map(|(level, cycles)| Some((level, cycles?)))
        .collect()
}

/// Returns a number of bytes that is far too large for the inner cache and fits well into the outer one. If these bytes
/// are read in turn, every line has left the inner cache before it is read again.
fn between(inner: u64, outer: u64) -> u64 {
    (inner as f64 * outer as f64).sqrt() as u64
}

/// Reads `bytes` bytes twice. Returns the mean cycles of a load in the second pass.
fn again(config: &Config, bytes: u64, which: impl Fn(&Buffer, usize) -> bool) -> Option<f64> {
    let lines = bytes / u64::from(config.line);
    let buffer = Buffer::new(config, usize::try_from(lines).ok()?);
    pass(&buffer, |_, _| false);
    mean(pass(&buffer, which))
}

/// Loads every line. Returns the cycles of the loads that `which` selects.
fn pass(buffer: &Buffer, which: impl Fn(&Buffer, usize) -> bool) -> Vec<u64> {
    let mut cycles = Vec::new();
    for number in buffer.numbers() {
        let start = Simulated::now();
        buffer.line(number).load(Relaxed);
        let end = Simulated::now();
        if which(buffer, number) {
            cycles.push(end - start);
        }
    }
    cycles
}
