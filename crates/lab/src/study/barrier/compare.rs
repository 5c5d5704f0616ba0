//! Which barrier is faster, where, and by how much.

use super::config::Config;
use crate::study::team::{Arrivals, Measured, Summary};
use manycore_chip::config::Optical;

/// The thesis's own.
pub(super) const CHANNEL: &str = "channel";
/// What the thesis compared it with: a sense-reversing barrier, and glibc's.
pub(super) const BASELINES: [&str; 2] = ["sense", "futex"];

/// The study's numbers, to be asked.
#[derive(Clone, Copy)]
pub(super) struct Numbers<'a> {
    pub(super) config: &'a Config,
    pub(super) measured: &'a Measured,
}

impl<'a> Numbers<'a> {
    /// A barrier's loop on a machine.
    pub(super) fn of(self, machine: usize, cores: usize, barrier: &str) -> Option<&'a Summary> {
        self.measured
            .of(&self.config.in_a_loop(machine, cores, barrier))
    }

    /// Every barrier's loop there, as long as `wanted`; the fastest.
    fn fastest(
        self,
        machine: usize,
        cores: usize,
        wanted: impl Fn(&Summary) -> bool,
    ) -> Option<&'a Summary> {
        let barriers = self.config.setup.barriers.iter();
        let all = barriers.filter_map(|barrier| self.of(machine, cores, barrier));
        let all = all.filter(|summary| wanted(summary));
        all.min_by(|a, b| a.an_episode().total_cmp(&b.an_episode()))
    }

    /// The fastest through memory.
    pub(super) fn software(self, machine: usize, cores: usize) -> Option<&'a Summary> {
        self.fastest(machine, cores, |summary| !summary.broadcasts())
    }

    /// The fastest over the broadcast network, the thesis's left out.
    pub(super) fn beyond(self, machine: usize, cores: usize) -> Option<&'a Summary> {
        self.fastest(machine, cores, |summary| {
            summary.broadcasts() && summary.point.barrier != CHANNEL
        })
    }

    /// A single episode.
    pub(super) fn isolated(
        self,
        cores: usize,
        barrier: &str,
        arrivals: Arrivals,
    ) -> Option<&'a Summary> {
        self.measured
            .of(&self.config.isolated(cores, barrier, arrivals))
    }

    /// The broadcast network of the machine asked for.
    pub(super) fn optical(self) -> Option<&'a Optical> {
        self.config.setup.chip()?.0.optical.as_ref()
    }

    /// From how many cores on, as far as measured, one thing holds.
    pub(super) fn holds_from(self, holds: impl Fn(usize) -> Option<bool>) -> Option<usize> {
        let mut from = None;
        for &cores in &self.config.cores {
            match holds(cores) {
                Some(true) => from = from.or(Some(cores)),
                _ => from = None,
            }
        }
        from
    }
}

/// What an isolated episode of the thesis's barrier costs by its own figures:
/// everybody's message travels at once, and each controller moves those of all
/// others one after the other.
pub(super) fn closed_form(optical: &Optical, cores: usize) -> u64 {
    optical.transport + optical.controller * (cores as u64 - 1) + optical.check
}

/// The same when each arrives long after the one before: the others wait for
/// one message, while the last, after its send of a cycle, takes those of all
/// others out of its buffer.
pub(super) fn closed_form_apart(optical: &Optical, cores: usize) -> u64 {
    let one = optical.transport + optical.controller + optical.check;
    one.max(1 + optical.check * (cores as u64 - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_chip::config::Config as Machine;

    #[test]
    fn the_thesis_own_figures() {
        let optical = Machine::preset("atac-64").unwrap().optical.unwrap();
        assert_eq!(closed_form(&optical, 64), 638);
        assert_eq!(closed_form(&optical, 1024), 10_238);
        assert_eq!(closed_form_apart(&optical, 2), 18);
        assert_eq!(closed_form_apart(&optical, 64), 190);
    }
}
