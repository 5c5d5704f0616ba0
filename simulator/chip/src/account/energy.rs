//! What a run costs in energy: a table of energies an event, times the events.
//!
//! The table describes a simple core in a 45 nm process. It is for comparing runs of one machine,
//! not for its electricity bill: no preset's own process is modelled.

use super::{Activity, Counters};
use crate::config::{Config, Network};
use serde::Serialize;

/// Energies of a machine's events, in picojoules. [`of`](Self::of) makes them from the sizes of its
/// caches; each field says where its value comes from.
///
/// ```
/// use manycore_chip::{Energies, config::Config};
///
/// let energies = Energies::of(&Config::preset("atac-64")?);
/// assert_eq!(energies.l1, 20.0); // 32 KiB
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Energies {
    /// A word from or to the L1. Horowitz, "Computing's energy problem", ISSCC 2014, 64 bits at
    /// 45 nm: 10 pJ of 8 KiB, 20 of 32 KiB, 100 of 1 MiB. Here 10 pJ times the root of the size over
    /// 8 KiB, which gives 10, 20 and 113.
    pub l1: f64,
    /// A line from or to the L2: by the same rule, for each 8 bytes of the line.
    pub l2: f64,
    /// A line from or to the last-level cache (one slice of it is looked up), by the same rule.
    pub llc: f64,
    /// A line from or to main memory. Horowitz: 1.3 to 2.6 nJ for 64 bits; here 2 nJ.
    pub memory: f64,
    /// A flit over one link of a mesh, 64 bits and 1 mm. Keckler et al., "GPUs and the future of
    /// parallel computing", IEEE Micro 2011: 26 pJ for 256 bits over 1 mm. The length of a link is
    /// assumed.
    pub link: f64,
    /// An instruction beside its access to data: 70 pJ of Horowitz's, which has the fetch, the
    /// registers and the control of a simple core.
    pub instruction: f64,
    /// A cycle of a core that has a thread, beside its instructions. Assumed: a tenth of an
    /// instruction, for clocks and leakage.
    pub active: f64,
    /// A cycle of an idle core. Assumed: half of that, with its clock stopped.
    pub idle: f64,
}

/// One part's energy in a run.
///
/// [`Counters::energy`] makes them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Energy {
    /// Which part: a field of [`Energies`].
    pub part: &'static str,
    /// Events.
    pub events: u64,
    /// Picojoules of all of them.
    pub picojoules: f64,
}

impl Energies {
    /// The energies of a machine.
    pub fn of(machine: &Config) -> Self {
        let word = |size: u64| 10.0 * (size as f64 / 8192.0).sqrt();
        let words = f64::from(machine.line) / 8.0;
        let instruction = 70.0;
        Self {
            l1: word(machine.l1.size),
            l2: machine.l2.as_ref().map_or(0.0, |l2| words * word(l2.size)),
            llc: machine.llc.as_ref().map_or(0.0, |llc| {
                let slices = u64::from(machine.group_cores.max(1));
                words * word(llc.size / slices)
            }),
            memory: words * 2_000.0,
            link: match machine.network {
                Network::Mesh { .. } => 26.0 / 4.0,
                _ => 0.0,
            },
            instruction,
            active: instruction / 10.0,
            idle: instruction / 20.0,
        }
    }
}

impl Counters {
    /// The energy of what was counted, part by part.
    ///
    /// ```
    /// use manycore_chip::{Energies, Simulated, Simulation, config::Config};
    /// use manycore_platform::Platform;
    ///
    /// let machine = Config::preset("dahu")?;
    /// let run = Simulation::new(&machine).counters().run(|| Simulated::compute(1_000))?;
    /// let energy = run.statistics.counters.expect("they were asked for").energy(&Energies::of(&machine));
    /// let instructions = energy.iter().find(|one| one.part == "instruction").unwrap();
    /// assert_eq!((instructions.events, instructions.picojoules), (1_000, 70_000.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn energy(&self, energies: &Energies) -> Vec<Energy> {
        let total = self.total();
        let idle = total.cycles[Activity::Idle];
        let shared = self.shared.iter().map(|cache| cache.hits + cache.misses);
        let parts = [
            ("l1", total.l1.hits + total.l1.misses, energies.l1),
            ("l2", total.l2.hits + total.l2.misses, energies.l2),
            ("llc", shared.sum(), energies.llc),
            (
                "memory",
                self.controllers.iter().map(|one| one.lines).sum(),
                energies.memory,
            ),
            (
                "link",
                self.links.iter().map(|link| link.busy).sum(),
                energies.link,
            ),
            ("instruction", total.instructions, energies.instruction),
            ("active", total.cycles.sum() - idle, energies.active),
            ("idle", idle, energies.idle),
        ];
        let parts = parts.into_iter().map(|(part, events, each)| Energy {
            part,
            events,
            picojoules: events as f64 * each,
        });
        parts.filter(|energy| energy.picojoules > 0.0).collect()
    }
}
