//! A preset of this host, from measurements.
//!
//! Most values are the cost of one operation, which is measured alone. Two values are not: the distance between cores,
//! and the time for which a core keeps a contended line. They are fitted, so that the simulated handover and simulated
//! contended increments take as long as the measured ones.

mod file;
mod fit;
mod kernel;
mod measured;
mod memory;
mod preset;

pub(crate) use file::PresetFile;

use crate::failure::bad_input;
use manycore::topology::{Distance, Topology};
use measured::Measured;

/// The shape of the host, from the system.
pub(super) struct Shape {
    /// For each core of the preset, the CPU on which its thread runs.
    pub(super) places: Vec<Vec<usize>>,
    pub(super) threads_per_core: usize,
    /// The number of CPUs that share a last cache, as the system says.
    pub(super) sharing: usize,
}

impl Shape {
    fn of(machine: &Topology) -> Self {
        let order = machine.compact_order();
        let cores = order.len();
        let like_first = |near: &[Distance]| {
            let same = |&&cpu: &&usize| {
                let distance = machine.distance(order[0], cpu);
                cpu == order[0] || distance.is_some_and(|distance| near.contains(&distance))
            };
            let count = order.iter().filter(same).count();
            if cores.is_multiple_of(count) {
                count
            } else {
                1
            }
        };
        let threads_per_core = like_first(&[Distance::SmtSibling]);
        let sharing = like_first(&[Distance::SmtSibling, Distance::SameGroup]);
        Self {
            places: order.iter().map(|&cpu| vec![cpu]).collect(),
            threads_per_core,
            sharing: sharing.next_multiple_of(threads_per_core),
        }
    }
}

/// Measures this host. Returns the text of its preset.
///
/// # Errors
///
/// Fails with fewer than two CPUs, if a thread cannot be pinned, if a simulation fails, or after ctrl-C.
pub(crate) fn measure(
    name: &str,
    quick: bool,
    progress: &mut dyn FnMut(&str),
) -> anyhow::Result<String> {
    let shape = Shape::of(&Topology::detect());
    if shape.places.len() < 2 {
        return Err(bad_input(
            "--as-preset: one usable CPU; expected two or more",
        ));
    }
    let rounds = if quick { 3 } else { 60 };
    let measured = Measured::take(&shape, rounds, progress)?;
    let name = name.to_lowercase();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    fit::preset(&name, &shape, &measured, progress)
}
