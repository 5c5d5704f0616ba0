//! What the cores did all the time: the poster's figure 2.

use manycore_chip::{Activity, Report};
use serde::{Deserialize, Serialize};

/// Time of the cores that the program was given, together, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Account {
    /// Executing the program.
    pub(super) user: f64,
    /// In the kernel.
    pub(super) system: f64,
    /// Nothing to run.
    pub(super) idle: f64,
    /// Waiting for a device.
    pub(super) io: f64,
}

impl Account {
    /// Of a simulated machine's first cores; it has no devices.
    pub(super) fn of_cores(report: &Report, cores: usize, ghz: f64) -> Self {
        let mut account = Self::default();
        for core in &report.cores[..cores] {
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

    pub(super) fn sum(&self) -> f64 {
        self.user + self.system + self.idle + self.io
    }

    /// Shares, in the poster's order.
    pub(super) fn parts(&self) -> [(&'static str, f64); 4] {
        [
            ("user", self.user),
            ("system", self.system),
            ("idle", self.idle),
            ("I/O", self.io),
        ]
    }
}
