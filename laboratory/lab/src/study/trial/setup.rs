//! The common settings of studies that run trials (single programs).

use super::machines::Machines;
use crate::failure::bad_input;
use crate::study::chip::Chip;
use crate::study::settings::Key;
use crate::study::unit::Unit;
use crate::study::{MOST_THREADS, Request};
use crate::world::World;
use manycore::topology::Topology;
use serde::Serialize;

/// The settings that these studies share.
pub(in crate::study) const RUNS: Key = Key::new(
    "runs",
    "native runs of each cell [as many as there is time for, up to 30]",
    Some((1, 100_000)),
);
pub(in crate::study) const SECONDS: Key = Key::new(
    "seconds",
    "seconds for all native runs together [15; --full: 300]",
    Some((1, 1_000_000)),
);
pub(in crate::study) const PIN: Key = Key::new(
    "pin",
    "native: yes (each thread is bound to its own CPU, if there are enough CPUs), or no [yes]",
    None,
);

/// How often this host runs a trial. A simulated machine has no noise, so it runs each trial once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(in crate::study) struct Effort {
    /// The number of runs. With `None` the time decides, and 30 is the most.
    pub(in crate::study) runs: Option<u64>,
    pub(in crate::study) seconds: u64,
    /// Whether each thread is bound to its own CPU.
    pub(in crate::study) pinned: bool,
}

/// The checked machines and methods of a study.
#[derive(Clone, Debug, Serialize)]
pub(in crate::study) struct Setup {
    pub(in crate::study) study: &'static str,
    pub(in crate::study) version: &'static str,
    pub(in crate::study) world: &'static str,
    /// This host's processor, or the simulated machine's name.
    pub(in crate::study) machine: String,
    /// The requested machine and the machines for comparison, if simulated. Each is serialised whole, as TOML.
    pub(in crate::study) machines: Machines,
    pub(in crate::study) seed: u64,
    pub(in crate::study) effort: Effort,
}

impl Setup {
    /// A setup with only the requested machine.
    pub(in crate::study) fn new(study: &'static str, request: &Request) -> anyhow::Result<Self> {
        request.counts_cores()?;
        let machines = match &request.world {
            World::Native => Machines::default(),
            World::Simulated(machine) => Machines(vec![Chip((**machine).clone())]),
        };
        let set = &request.settings;
        let simulated = !machines.is_host();
        let known = [RUNS, SECONDS, PIN];
        if let Some(key) = known
            .iter()
            .find(|key| simulated && set.text(key.name).is_some())
        {
            return Err(bad_input(format!(
                "--set {}: it applies only to native runs, since a simulated machine has no \
                 noise; expected --on native with it",
                key.name
            )));
        }
        Ok(Self {
            study,
            version: env!("CARGO_PKG_VERSION"),
            world: if simulated { "simulated" } else { "native" },
            machine: machines.name(0),
            seed: request.seed,
            effort: Effort {
                runs: set.number("runs")?,
                seconds: set
                    .number("seconds")?
                    .unwrap_or(if request.full { 300 } else { 15 }),
                pinned: match set.text("pin") {
                    None | Some("yes") => true,
                    Some("no") => false,
                    Some(other) => {
                        return Err(bad_input(format!(
                            "--set pin: `{other}`; expected yes or no"
                        )));
                    }
                },
            },
            machines,
        })
    }

    pub(in crate::study) fn unit(&self) -> Unit {
        match self.machines.is_host() {
            true => Unit::Nanoseconds,
            false => Unit::Cycles,
        }
    }

    /// The requested machine, if it is simulated.
    pub(in crate::study) fn chip(&self) -> Option<&Chip> {
        self.machines.0.first()
    }

    /// Returns the requested numbers of cores, which must be possible. Without a request, returns powers of two. They
    /// end at `most` on a machine that scales, at the number of cores on other machines, and at twice the number of
    /// CPUs or more on this host.
    pub(in crate::study) fn cores(
        &self,
        request: &Request,
        most: usize,
    ) -> anyhow::Result<Vec<usize>> {
        let mut counts: Vec<usize> = request.cores.iter().map(|count| count.get()).collect();
        if counts.is_empty() {
            let most = match self.chip() {
                Some(chip) if chip.scales() => most,
                Some(chip) => chip.cores(),
                None => {
                    let cpus = Topology::detect().usable().len();
                    (2 * cpus).max(if request.full { 8 } else { 2 })
                }
            };
            let doubled = std::iter::successors(Some(2), |count| Some(count * 2));
            counts = doubled.take_while(|&count| count < most).collect();
            counts.push(most.max(1));
        }
        counts.sort_unstable();
        counts.dedup();
        for &cores in &counts {
            if let Some(chip) = self.chip() {
                chip.sized(cores)?;
            } else if cores > MOST_THREADS {
                return Err(bad_input(format!(
                    "--cores {cores}: expected at most {MOST_THREADS} threads"
                )));
            }
        }
        Ok(counts)
    }

    /// The machine for readers: "simulated: atac-64" or "native".
    pub(in crate::study) fn place(&self) -> String {
        match self.machines.is_host() {
            true => "native".to_owned(),
            false => format!("simulated: {}", self.machine),
        }
    }
}
