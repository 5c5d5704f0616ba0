//! The energy of a run: the counted events times the machine's energies
//! ([`Energies`](crate::config::Energies)).

use super::{Activity, Counters};
use crate::config::Config;
use serde::Serialize;

/// The energy of one part in a run.
///
/// [`Counters::energy`] returns it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Energy {
    /// The part: a key of the machine's table `[energy]`.
    pub part: &'static str,
    /// The number of events.
    pub events: u64,
    /// Picojoules of all events.
    pub picojoules: f64,
}

impl Counters {
    /// The energy of the counted events on `machine`, part by part. Empty if the machine has no
    /// energies.
    ///
    /// ```
    /// use manycore_chip::{Simulated, Simulation, config::Config};
    /// use manycore_platform::Platform;
    ///
    /// let machine = Config::preset("dahu")?;
    /// let run = Simulation::new(&machine).counters().run(|| Simulated::compute(1_000))?;
    /// let energy = run.statistics.counters.expect("they were asked for").energy(&machine);
    /// let instructions = energy.iter().find(|one| one.part == "instruction").unwrap();
    /// assert_eq!((instructions.events, instructions.picojoules), (1_000, 70_000.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn energy(&self, machine: &Config) -> Vec<Energy> {
        let Some(energies) = &machine.energy else {
            return Vec::new();
        };
        let total = self.total();
        let idle = total.cycles[Activity::Idle];
        let shared = self.shared.iter().map(|cache| cache.hits + cache.misses);
        let lines = self.controllers.iter().map(|one| one.lines);
        let flits = self.links.iter().map(|link| link.busy);
        let parts = [
            ("l1", total.l1.hits + total.l1.misses, Some(energies.l1)),
            ("l2", total.l2.hits + total.l2.misses, energies.l2),
            ("llc", shared.sum(), energies.llc),
            ("memory", lines.sum(), Some(energies.memory)),
            ("link", flits.sum(), energies.link),
            ("optical-send", self.optical.sent, energies.optical_send),
            (
                "optical-receive",
                self.optical.received,
                energies.optical_receive,
            ),
            (
                "instruction",
                total.instructions,
                Some(energies.instruction),
            ),
            ("active", total.cycles.sum() - idle, Some(energies.active)),
            ("idle", idle, Some(energies.idle)),
        ];
        let parts = parts.into_iter().filter_map(|(part, events, each)| {
            let picojoules = events as f64 * each?;
            (picojoules > 0.0).then_some(Energy {
                part,
                events,
                picojoules,
            })
        });
        parts.collect()
    }
}
