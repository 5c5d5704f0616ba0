//! The time of the cores by activity, as in figure 2 of the poster (`mod.rs` names it).

use manycore_chip::{Activity, Breakdown};
use serde::{Deserialize, Serialize};

/// The time of all cores that the program was given, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Account {
    /// Time in which the cores execute the program.
    pub(super) user: f64,
    /// Time in the kernel.
    pub(super) system: f64,
    /// Time with nothing to run.
    pub(super) idle: f64,
    /// Time of waiting for a device.
    pub(super) io: f64,
}

impl Account {
    /// The names of the parts, in the poster's order.
    pub(super) const PARTS: [&'static str; 4] = ["user", "system", "idle", "I/O"];

    /// The account of simulated cores, which have no devices.
    pub(super) fn of_cores(cores: &[Breakdown], ghz: f64) -> Self {
        let mut account = Self::default();
        for core in cores {
            for (activity, cycles) in core.iter() {
                let kind = match activity {
                    Activity::Idle => &mut account.idle,
                    Activity::Futex | Activity::Switch => &mut account.system,
                    _ => &mut account.user,
                };
                *kind += cycles as f64 / ghz;
            }
        }
        account
    }

    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            user: self.user - before.user,
            system: self.system - before.system,
            idle: self.idle - before.idle,
            io: self.io - before.io,
        }
    }

    /// Counts `ns` of the idle time as waiting for a device.
    pub(super) fn waited(&mut self, ns: f64) {
        self.idle -= ns;
        self.io += ns;
    }

    /// This account multiplied by `times`, plus `more`.
    pub(super) fn times_plus(&self, times: f64, more: &Self) -> Self {
        Self {
            user: times * self.user + more.user,
            system: times * self.system + more.system,
            idle: times * self.idle + more.idle,
            io: times * self.io + more.io,
        }
    }

    /// The parts, in the poster's order.
    pub(super) fn parts(&self) -> [f64; 4] {
        [self.user, self.system, self.idle, self.io]
    }
}
