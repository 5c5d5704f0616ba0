//! Cores that are slower than the machine's clock: a governor has lowered their frequency, or another hardware thread
//! uses their pipeline too.
//!
//! Time stays in cycles of the machine's one clock. A slow core takes more cycles for its
//! instructions and for the kernel's work, but not for caches, network and memory. Most machines
//! have no slow cores and do not use this module.

use super::port::{Mode, Port};
use crate::account::Activity;
use crate::config::{Config, Governor};

const ONE: u64 = 1024;
/// A core's frequency is this much above its load, so that a growing load is noticed (Linux:
/// `map_util_freq`, 1.25).
const HEADROOM: (u64, u64) = (5, 4);

/// The seconds after which a computation looks again whether a sibling (another hardware thread of the core) runs.
const SHARED: f64 = 10e-6;

/// The state by which cores are slowed down.
pub(super) struct Pace {
    /// Cycles of an instruction, in 1024ths, while a sibling runs.
    shared_cpi: Option<u64>,
    governed: Option<Governed>,
}

struct Governed {
    governor: Governor,
    /// The part of a load that remains after a period, in units of 2^-32.
    kept: u64,
    cores: Vec<Load>,
}

/// A core's load at the last update.
#[derive(Clone, Copy, Default)]
struct Load {
    at: u64,
    /// The core's busy cycles until `at`.
    busy: u64,
    /// The decaying mean of the load, in units of 2^-20.
    mean: u64,
}

impl Pace {
    /// Returns `None` if all cores of the machine always run at the clock's frequency.
    pub(super) fn new(config: &Config) -> Option<Self> {
        let shared_cpi = config.core.shared_cpi;
        let governed = config.os.governor.clone().map(|governor| {
            let half_lives = governor.period as f64 / governor.half_life as f64;
            Governed {
                // This is rounded to 24 bits, so that the result does not depend on the host's math library.
                kept: ((0.5_f64.powf(half_lives) * f64::from(1 << 24)).round() as u64) << 8,
                cores: vec![Load::default(); config.cores as usize],
                governor,
            }
        });
        (shared_cpi.is_some() || governed.is_some()).then(|| Self {
            shared_cpi: shared_cpi.map(|cpi| (cpi * 1024.0).round() as u64),
            governed,
        })
    }

    /// The most instructions of a computation that have the same pace: as many as an eighth of a governor's period has,
    /// or as many as [`SHARED`] has while siblings come and go.
    pub(super) fn instructions(&self, config: &Config) -> u64 {
        let governed = self.governed.as_ref();
        let period = governed.map_or(f64::MAX, |governed| governed.governor.period as f64 / 8.0);
        let shared = self
            .shared_cpi
            .map_or(f64::MAX, |_| SHARED * 1e9 * config.ghz);
        ((period.min(shared) / config.core.cpi) as u64).max(1)
    }

    /// Cycles of an instruction of `core`, in 1024ths. `alone` is the value at full frequency and
    /// without a running sibling.
    pub(super) fn cpi(&mut self, ports: &[Port], core: u32, siblings: u32, alone: u64) -> u64 {
        let first = core - core % siblings;
        let mut others = (first..first + siblings).filter(|&sibling| sibling != core);
        let is_shared = others.any(|sibling| ports[sibling as usize].mode == Mode::Running);
        let cpi = match self.shared_cpi {
            Some(shared) if is_shared => shared,
            _ => alone,
        };
        self.slowed(&ports[core as usize], cpi)
    }

    /// As [`slowed`](Self::slowed). Without a `pace`, the cycles stay the same.
    pub(super) fn slow(pace: &mut Option<Self>, port: &Port, cycles: u64) -> u64 {
        match pace {
            None => cycles,
            Some(pace) => pace.slowed(port, cycles),
        }
    }

    /// Converts cycles of the clock to cycles at the core's frequency.
    pub(super) fn slowed(&mut self, port: &Port, cycles: u64) -> u64 {
        let Some(governed) = &mut self.governed else {
            return cycles;
        };
        let frequency = governed.frequency(port);
        (u128::from(cycles) * u128::from(ONE) / u128::from(frequency)) as u64
    }
}

impl Governed {
    /// The core's frequency relative to the clock, in 1024ths.
    fn frequency(&mut self, port: &Port) -> u64 {
        let load = &mut self.cores[port.core as usize];
        let periods = port.clock.saturating_sub(load.at) / self.governor.period;
        if periods > 0 {
            // The busy cycles may have decreased, since charges for a computation can be taken
            // back.
            let busy = (port.clock - port.spent[Activity::Idle]).max(load.busy);
            let passed = u128::from(port.clock - load.at);
            let share = u128::from(busy - load.busy) * u128::from(ONE * ONE) / passed;
            let share = (share as u64).min(ONE * ONE);
            // In each period, the mean moves a part of the way to the share of busy cycles.
            let kept = power(self.kept, periods);
            let left = |part: u64| (part * kept) >> 32;
            load.mean = share - left(share) + left(load.mean);
            (load.at, load.busy) = (port.clock, busy);
        }
        let wanted = load.mean / ONE * HEADROOM.0 / HEADROOM.1;
        let slowest = (self.governor.slowest * ONE as f64) as u64;
        wanted.clamp(slowest.max(1), ONE)
    }
}

/// Raises a number below 1, in units of 2^-32, to a power.
fn power(part: u64, exponent: u64) -> u64 {
    let times = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 32) as u64;
    let (mut product, mut square, mut left) = (1 << 32, part, exponent);
    while left > 0 {
        if left % 2 == 1 {
            product = times(product, square);
        }
        square = times(square, square);
        left /= 2;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frequencies of a core that is busy and idle alternately.
    fn course(turns: &[(u64, bool)]) -> Vec<u64> {
        let mut config = Config::preset("dahu").unwrap();
        config
            .set("os.governor={ slowest = 0.5, period = 10_000, half-life = 100_000 }")
            .unwrap();
        let mut pace = Pace::new(&config).unwrap();
        let mut port = Port::new(0, 0);
        let mut course = Vec::new();
        for &(cycles, busy) in turns {
            let activity = if busy {
                Activity::Compute
            } else {
                Activity::Idle
            };
            port.pass(activity, cycles);
            course.push(1_024_000 / pace.slowed(&port, 1000));
        }
        course
    }

    #[test]
    fn a_busy_core_gets_faster_and_an_idle_one_slower() {
        let half_life = 100_000;
        // Half the load gives 5/8 of the frequency, and 3/4 of the load gives nearly the whole
        // frequency.
        let found = course(&[(half_life, true), (half_life, true), (half_life, true)]);
        for (found, expected) in found.iter().zip([640, 960, 1024]) {
            assert!(found.abs_diff(expected) < 12, "{found}, not {expected}");
        }
        let found = course(&[
            (20 * half_life, true),
            (half_life, false),
            (half_life, false),
        ]);
        for (found, expected) in found.iter().zip([1024, 640, 512]) {
            assert!(found.abs_diff(expected) < 12, "{found}, not {expected}");
        }
    }

    #[test]
    fn the_load_of_a_very_long_time_is_right() {
        assert_eq!(course(&[(1 << 60, false), (1 << 40, true)]), [512, 1024]);
    }

    #[test]
    fn machines_without_slow_cores_need_no_pace() {
        for name in crate::config::preset_names() {
            let config = Config::preset(name).unwrap();
            let is_slow = config.core.shared_cpi.is_some() || config.os.governor.is_some();
            assert_eq!(Pace::new(&config).is_some(), is_slow, "{name}");
        }
    }
}
