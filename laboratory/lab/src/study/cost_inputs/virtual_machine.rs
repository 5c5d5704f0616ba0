//! Machines that do not exist: the base machine with other cores, another clock and other latencies.

use crate::failure::bad_input;
use manycore_chip::config::{Config, Distance, Network};
use serde::{Deserialize, Serialize};

/// Core groups of a machine, then cores of a group.
const GROUPS: [u32; 3] = [1, 2, 4];
const CORES: [u32; 4] = [2, 4, 8, 16];

/// The ranges of the drawn values. All factors within a range are equally likely.
const GHZ: [f64; 2] = [1.0, 5.0];
const LLC_NS: [f64; 2] = [8.0, 30.0];
const SNOOP_NS: [f64; 2] = [10.0, 80.0];
const CROSSING_NS: [f64; 2] = [10.0, 150.0];
const MEMORY_NS: [f64; 2] = [60.0, 150.0];

/// The base machine with these values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct VirtualMachine {
    pub(super) number: usize,
    pub(super) groups: u32,
    pub(super) group_cores: u32,
    pub(super) ghz: f64,
    /// A load from the last-level cache.
    pub(super) llc_ns: f64,
    /// The additional time of this load if another core of the group has the line.
    pub(super) snoop_ns: f64,
    /// One way from one group to another.
    pub(super) crossing_ns: f64,
    /// A memory controller's access.
    pub(super) memory_ns: f64,
}

impl VirtualMachine {
    /// Draws machine `number`. A study with more machines has the same first machines.
    pub(super) fn draw(number: usize, random: &mut fastrand::Rng) -> Self {
        let mut within = |[least, most]: [f64; 2]| {
            let drawn = least * (most / least).powf(random.f64());
            // Three digits let a table state the machine exactly.
            (drawn * 100.0).round() / 100.0
        };
        Self {
            number,
            ghz: within(GHZ),
            llc_ns: within(LLC_NS),
            snoop_ns: within(SNOOP_NS),
            crossing_ns: within(CROSSING_NS),
            memory_ns: within(MEMORY_NS),
            groups: GROUPS[random.usize(..GROUPS.len())],
            group_cores: CORES[random.usize(..CORES.len())],
        }
    }

    /// Cores, each with its own L1.
    pub(super) fn cores(&self) -> usize {
        (self.groups * self.group_cores) as usize
    }

    /// The machine. Each core has two hardware threads, as in the document (Shuai's paper). The second hardware thread
    /// runs the caller if every core has a thread of the pool. Private caches and atomics keep their numbers of cycles.
    /// Parts outside of the cores, and the paths of the operating system, keep their times in ns.
    pub(super) fn build(&self, base: &Config) -> anyhow::Result<Config> {
        let refused = || {
            bad_input(format!(
                "--on {}: this study varies a last-level cache and the way between core groups; expected a machine \
                 that has both, such as gold5225r",
                base.name
            ))
        };
        let mut config = base.clone();
        let clock = self.ghz / base.ghz;
        let cycles = |ns: f64| (ns * self.ghz).round() as u64;
        let same_time = |cycles: u64| (cycles as f64 * clock).round() as u64;
        config.name = format!("virtual-{}", self.number);
        config.ghz = self.ghz;
        config.threads_per_core = 2;
        config.group_cores = 2 * self.group_cores;
        config.cores = config.group_cores * self.groups;
        config.package_cores = None;
        config.energy = None;
        config.sources.clear();
        let private = config.l2.as_ref().unwrap_or(&config.l1).latency;
        let llc = config.llc.as_mut().ok_or_else(refused)?;
        let way = u64::from(llc.ways * base.line);
        let a_core = llc.size / u64::from(base.group_cores / base.threads_per_core);
        llc.size = a_core * u64::from(self.group_cores) / way * way;
        llc.latency = cycles(self.llc_ns).max(private + 1);
        llc.dirty = cycles(self.snoop_ns * llc.dirty as f64 / llc.snoop.max(1) as f64);
        llc.invalidate = cycles(self.snoop_ns * llc.invalidate as f64 / llc.snoop.max(1) as f64);
        llc.snoop = cycles(self.snoop_ns);
        config.coherence.latency = same_time(config.coherence.latency);
        config.memory.latency = cycles(self.memory_ns);
        config.memory.bytes_per_cycle /= clock;
        let Network::Groups {
            classes,
            distance,
            occupancy,
        } = &mut config.network
        else {
            return Err(refused());
        };
        *classes = vec![Distance {
            name: "other group".into(),
            cycles: cycles(self.crossing_ns),
        }];
        *distance = (0..self.groups)
            .map(|from| (0..self.groups).map(|to| u32::from(from != to)).collect())
            .collect();
        *occupancy = same_time(*occupancy).max(1);
        let os = &mut config.os;
        for time in [
            &mut os.tick,
            &mut os.tick_cost,
            &mut os.latency,
            &mut os.min_granularity,
            &mut os.wakeup_granularity,
            &mut os.switch,
            &mut os.migration,
            &mut os.syscall,
            &mut os.ipi,
            &mut os.interrupt,
            &mut os.futex_wait,
            &mut os.futex_wake,
            &mut os.wake_latency,
            &mut os.deep_latency,
            &mut os.deep_after,
            &mut os.spawn,
            &mut os.balance,
            &mut os.hot,
            &mut os.timer_slack,
        ] {
            *time = same_time(*time);
        }
        // Checks the values against each other.
        let checked = Config::from_toml(&config.to_toml(), &config.name);
        checked.map_err(|error| bad_input(format!("--on {}: {error}", base.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drawn_machine_is_sound_and_keeps_its_times() {
        let base = Config::preset("gold5225r").unwrap();
        let mut random = fastrand::Rng::with_seed(7);
        for number in 0..200 {
            let machine = VirtualMachine::draw(number, &mut random);
            let config = machine.build(&base).unwrap();
            assert_eq!(config.cores as usize, 2 * machine.cores());
            assert_eq!(config.groups(), machine.groups);
            let ns = |cycles: u64| cycles as f64 / config.ghz;
            let near = |a: f64, b: f64| (a - b).abs() <= 0.51 / config.ghz;
            let private = config.l2.as_ref().unwrap().latency;
            let llc = config.llc.as_ref().unwrap();
            assert!(near(ns(llc.latency), machine.llc_ns) || llc.latency == private + 1);
            assert!(near(ns(llc.snoop), machine.snoop_ns));
            assert!(near(
                ns(config.os.syscall),
                base.os.syscall as f64 / base.ghz
            ));
            assert_eq!(config.l1.latency, base.l1.latency);
        }
    }

    #[test]
    fn a_machine_without_groups_is_refused() {
        let machine = VirtualMachine::draw(0, &mut fastrand::Rng::with_seed(1));
        let base = Config::preset("atac-64").unwrap();
        let error = machine.build(&base).unwrap_err().to_string();
        assert!(
            error.starts_with("--on atac-64: this study varies"),
            "{error}"
        );
    }
}
