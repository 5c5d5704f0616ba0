//! A preset of this host, from measurements.
//!
//! What one operation costs becomes a value by itself. Two values have no operation of their own:
//! how far it is between cores, and how long a core keeps a contended line. They are chosen so that
//! the simulated handover, and simulated contended increments, take as long as the measured ones.

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
    /// A place for each usable CPU, in the order of the preset's cores.
    pub(super) places: Vec<Vec<usize>>,
    pub(super) threads_per_core: usize,
    /// CPUs that share the last cache, as the system says.
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

/// Measures this host; the text of its preset.
///
/// # Errors
///
/// Fewer than two CPUs, threads that cannot be pinned, the error of a simulation, or ctrl-C.
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
