//! The range of each number in a machine's description. Only this module checks ranges.
//!
//! A machine may be imaginary, so the ranges extend well beyond all real machines. They exclude
//! numbers that make a simulation useless: zeros, sums that overflow, an access that takes longer
//! than a program, tags that fill the host's memory. [`validate`](super::validate) checks numbers
//! against *each other*.

use toml::{Table, Value};

use super::error::Problem;

/// With this many cores, the bits of a line's sharers take half a kilobyte.
const CORES: f64 = 4096.0;
/// The most cycles of a cache look-up, a hop or an operation: a millisecond at 1 GHz. The largest
/// number in the thesis (Park 2013) is 20,000.
const ACCESS: f64 = 1e6;
/// The most cycles of an operation of the kernel: 10 ms at 1 GHz, or a thousand of the shortest
/// ticks.
const KERNEL: f64 = 1e7;
/// The most cycles between two periodic actions of the kernel: a second at 1 GHz.
const PERIOD: f64 = 1e9;
/// The shortest tick: 100 kHz at 1 GHz. Each tick is an event on every core.
const TICK: f64 = 1e4;
/// The most bytes of a cache: four times the largest of today. [`Config::validate`] bounds all
/// caches together.
///
/// [`Config::validate`]: super::Config::validate
const CACHE: f64 = (1_u64 << 32) as f64;
/// The most ways of a cache. A look-up reads all ways of a set.
const WAYS: f64 = 1024.0;
/// The most bits of a flit. The largest message, a line of 4096 bytes and its header, fits.
const WIDTH: f64 = 65_536.0;

/// The most picojoules of an event: a microjoule.
const ENERGY: f64 = 1e6;

/// A key (with `*` for an element of a list), the least value and the greatest.
type Bound = (&'static str, f64, f64);

const BOUNDS: &[Bound] = &[
    ("cores", 1.0, CORES),
    ("threads-per-core", 1.0, CORES),
    ("group-cores", 1.0, CORES),
    ("package-cores", 1.0, CORES),
    // In this range, conversions from nanoseconds are exact.
    ("ghz", 0.01, 10.0),
    ("line", 8.0, 4096.0),
    // A delay in this range is far shorter than an access to memory, so the machine's latencies hardly change.
    ("perturb", 0.0, 64.0),
    ("perturb-seed", 0.0, u32::MAX as f64),
    // The unit of this time is 1/1024 cycle, and the time must not round to zero.
    ("core.cpi", 0.01, 1000.0),
    ("core.shared-cpi", 0.01, 1000.0),
    ("core.spin-period", 1.0, ACCESS),
    // Each access looks at all of these lines.
    ("core.overlap.lines", 1.0, 1024.0),
    ("core.overlap.store-buffer", 0.0, 1024.0),
    ("core.overlap.streams", 0.0, 1024.0),
    ("core.overlap.distance", 0.0, 1024.0),
    ("l1.size", 1.0, CACHE),
    ("l1.ways", 1.0, WAYS),
    ("l1.latency", 1.0, ACCESS),
    ("l2.size", 1.0, CACHE),
    ("l2.ways", 1.0, WAYS),
    ("l2.latency", 1.0, ACCESS),
    ("llc.size", 1.0, CACHE),
    ("llc.ways", 1.0, WAYS),
    ("llc.latency", 1.0, ACCESS),
    ("llc.snoop", 0.0, ACCESS),
    ("llc.dirty", 0.0, ACCESS),
    ("llc.invalidate", 0.0, ACCESS),
    ("coherence.pointers", 0.0, CORES),
    ("coherence.latency", 0.0, ACCESS),
    ("coherence.occupancy", 0.0, ACCESS),
    ("atomics.cas", 0.0, ACCESS),
    ("atomics.faa", 0.0, ACCESS),
    ("atomics.swap", 0.0, ACCESS),
    ("atomics.tas", 0.0, ACCESS),
    ("atomics.fence", 0.0, ACCESS),
    ("atomics.at-home", 0.0, ACCESS),
    ("atomics.hold", 0.0, ACCESS),
    ("memory.latency", 1.0, ACCESS),
    // With this least value, the largest line takes less than `ACCESS` cycles.
    ("memory.bytes-per-cycle", 0.01, WIDTH),
    ("memory.nodes-per-controller", 1.0, CORES),
    ("memory.channels", 1.0, 64.0),
    ("network.mesh.router", 0.0, ACCESS),
    ("network.mesh.link", 0.0, ACCESS),
    ("network.mesh.flit-bits", 1.0, WIDTH),
    ("network.mesh.sockets.count", 2.0, 64.0),
    ("network.mesh.sockets.cycles", 1.0, ACCESS),
    ("network.mesh.sockets.occupancy", 0.0, ACCESS),
    ("network.groups.classes.*.cycles", 1.0, ACCESS),
    // The value is the index of a class plus one. There is at most one class for each pair.
    ("network.groups.distance.*.*", 0.0, WIDTH),
    ("network.groups.occupancy", 0.0, ACCESS),
    ("optical.transport", 0.0, ACCESS),
    ("optical.controller", 0.0, ACCESS),
    ("optical.check", 0.0, ACCESS),
    ("optical.filter", 0.0, ACCESS),
    ("optical.adder", 0.0, ACCESS),
    ("optical.bytes-per-cycle", 1.0, WIDTH),
    ("energy.l1", 0.0, ENERGY),
    ("energy.l2", 0.0, ENERGY),
    ("energy.llc", 0.0, ENERGY),
    ("energy.memory", 0.0, ENERGY),
    ("energy.link", 0.0, ENERGY),
    ("energy.optical-send", 0.0, ENERGY),
    ("energy.optical-receive", 0.0, ENERGY),
    ("energy.instruction", 0.0, ENERGY),
    ("energy.active", 0.0, ENERGY),
    ("energy.idle", 0.0, ENERGY),
    ("os.tick", TICK, PERIOD),
    ("os.tick-cost", 0.0, KERNEL),
    ("os.latency", 1.0, PERIOD),
    ("os.min-granularity", 1.0, PERIOD),
    ("os.wakeup-granularity", 0.0, PERIOD),
    ("os.switch", 0.0, KERNEL),
    ("os.migration", 0.0, KERNEL),
    ("os.syscall", 0.0, KERNEL),
    ("os.ipi", 0.0, KERNEL),
    ("os.interrupt", 0.0, KERNEL),
    ("os.futex-wait", 0.0, KERNEL),
    ("os.futex-wake", 0.0, KERNEL),
    ("os.wake-latency", 0.0, KERNEL),
    ("os.deep-latency", 0.0, KERNEL),
    ("os.deep-after", 0.0, PERIOD),
    ("os.spawn", 0.0, KERNEL),
    ("os.balance", 1.0, PERIOD),
    // A factor of at least 1.
    ("os.balance-busy", 1.0, 1024.0),
    ("os.hot", 0.0, PERIOD),
    ("os.timer-slack", 0.0, PERIOD),
    ("os.governor.slowest", 0.001, 1.0),
    ("os.governor.period", TICK, PERIOD),
    ("os.governor.half-life", TICK, PERIOD),
];

/// The keys of values that are not numbers.
const TEXTS: &[&str] = &[
    "name",
    "title",
    "core.overlap.whole-lines",
    "llc.inclusive",
    "llc.slices",
    "coherence.protocol",
    "coherence.directory",
    "coherence.home",
    "coherence.clean-forward",
    "coherence.data-path",
    "coherence.writes",
    "atomics.kind",
    "atomics.posted",
    "network.mesh.contention",
    "network.mesh.broadcast-tree",
    "network.groups.classes.*.name",
    "os.sticky-wakes",
];

/// The dotted keys of all values that machines can have, with `*` for any element of a list. Does
/// not contain the citations in `sources`.
///
/// ```
/// use manycore_chip::config::keys;
///
/// assert!(keys().any(|key| key == "l1.latency"));
/// assert!(keys().any(|key| key == "network.groups.classes.*.cycles"));
/// ```
pub fn keys() -> impl Iterator<Item = &'static str> {
    let numbers = BOUNDS.iter().map(|&(key, ..)| key);
    TEXTS.iter().copied().chain(numbers)
}

/// The least and the greatest value of the number at a dotted key. `None` if the key's value is not
/// a number.
///
/// ```
/// use manycore_chip::config::range;
///
/// assert_eq!(range("cores"), Some((1.0, 4096.0)));
/// assert_eq!(range("network.groups.classes.3.cycles"), Some((1.0, 1e6)));
/// assert_eq!(range("title"), None);
/// ```
#[must_use]
pub fn range(key: &str) -> Option<(f64, f64)> {
    let suits = |known: &str| {
        let mut parts = key.split('.');
        let known_parts = known.split('.').all(|known| {
            let part = parts.next();
            part.is_some_and(|part| known == part || known == "*" && part.parse::<u32>().is_ok())
        });
        known_parts && parts.next().is_none()
    };
    let found = BOUNDS.iter().find(|(known, ..)| suits(known));
    found.map(|&(_, least, most)| (least, most))
}

/// Fails with the first number of a machine that is out of its range. Ignores unknown keys and
/// values that are not numbers.
pub(super) fn check(machine: &Table) -> Result<(), Problem> {
    check_table("", machine)
}

fn check_table(above: &str, table: &Table) -> Result<(), Problem> {
    table.iter().try_for_each(|(part, value)| match above {
        // The citations in `sources` have no ranges.
        "" if part == "sources" => Ok(()),
        "" => check_value(part, value),
        above => check_value(&format!("{above}.{part}"), value),
    })
}

fn check_value(key: &str, value: &Value) -> Result<(), Problem> {
    match value {
        // The conversion is exact up to 2^53, and larger numbers are out of range anyway.
        Value::Integer(number) => check_number(key, *number as f64, number),
        Value::Float(number) => check_number(key, *number, format_args!("{number:?}")),
        Value::Table(table) => check_table(key, table),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .try_for_each(|(index, value)| check_value(&format!("{key}.{index}"), value)),
        _ => Ok(()),
    }
}

fn check_number(key: &str, number: f64, shown: impl std::fmt::Display) -> Result<(), Problem> {
    match range(key) {
        Some((least, most)) if !(least..=most).contains(&number) => Err(Problem {
            key: key.to_owned(),
            what: format!("{shown}, expected from {least} to {most}"),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, preset_names};
    use super::*;
    use std::collections::BTreeSet;

    /// Keys that no preset has.
    const IN_NO_PRESET: [&str; 3] = ["perturb=1", "perturb-seed=1", "os.sticky-wakes=true"];

    /// The keys of all values, and whether each is a number.
    fn leaves(key: &str, value: &Value, found: &mut BTreeSet<(String, bool)>) {
        match value {
            Value::Table(table) => table.iter().for_each(|(part, value)| {
                let dot = if key.is_empty() { "" } else { "." };
                leaves(&format!("{key}{dot}{part}"), value, found);
            }),
            Value::Array(list) => list.iter().enumerate().for_each(|(index, value)| {
                leaves(&format!("{key}.{index}"), value, found);
            }),
            _ => {
                found.insert((key.to_owned(), value.is_integer() || value.is_float()));
            }
        }
    }

    fn leaves_of(preset: &str) -> BTreeSet<(String, bool)> {
        let mut config = Config::preset(preset).unwrap();
        for setting in IN_NO_PRESET {
            config.set(setting).unwrap();
        }
        let mut table = Table::try_from(&config).unwrap();
        table.remove("sources");
        let mut found = BTreeSet::new();
        leaves("", &Value::Table(table), &mut found);
        found
    }

    /// The key, with `*` in place of the numbers of list elements.
    fn any(key: &str) -> String {
        let parts = key.split('.');
        let parts = parts.map(|part| part.parse::<u32>().map_or(part, |_| "*"));
        parts.collect::<Vec<_>>().join(".")
    }

    /// The keys with a range are exactly the numbers of presets. So each number has a range, and each range belongs to
    /// a number.
    #[test]
    fn the_keys_are_the_keys_of_presets() {
        let found = preset_names().flat_map(leaves_of);
        let found: BTreeSet<(String, bool)> = found
            .map(|(key, is_number)| (any(&key), is_number))
            .collect();
        let known = keys().map(|key| (key.to_owned(), range(&key.replace('*', "0")).is_some()));
        assert_eq!(found, known.collect());
    }

    /// Tries numbers just outside of each key's range, and far outside.
    #[test]
    fn outside_of_its_range_a_number_is_refused_with_key_and_range() {
        let mut tried = BTreeSet::new();
        for preset in preset_names() {
            let mut machine = Config::preset(preset).unwrap();
            let before = machine.clone();
            let numbers = leaves_of(preset).into_iter().filter(|leaf| leaf.1);
            let numbers: Vec<String> = numbers.map(|(key, _)| key).collect();
            for key in numbers {
                if !tried.insert(any(&key)) {
                    continue;
                }
                let (least, most) = range(&key).unwrap();
                let outside = [
                    (least - 1.0).to_string(),
                    (most + 1.0).to_string(),
                    "1000000000000".to_owned(),
                    "9223372036854775807".to_owned(),
                    "18446744073709551615".to_owned(),
                    "-1".to_owned(),
                ];
                for value in outside {
                    let error = machine.set(&format!("{key}={value}")).unwrap_err();
                    let error = error.to_string();
                    assert!(error.contains(&format!(": {key}: ")), "{error}");
                    assert!(
                        error.contains(&format!("from {least} to {most}")),
                        "{error}"
                    );
                }
            }
            assert_eq!(machine, before);
        }
        assert_eq!(tried.len(), BOUNDS.len());
    }

    #[test]
    fn extreme_and_undefined_numbers_are_out_of_range() {
        let mut machine = Config::preset("atac-64").unwrap();
        for key in ["ghz", "core.cpi", "memory.bytes-per-cycle"] {
            for value in ["nan", "inf", "-inf", "1e-308", "1e308", "-0.0"] {
                let error = machine.set(&format!("{key}={value}")).unwrap_err();
                let error = error.to_string();
                let (least, most) = range(key).unwrap();
                let expected = format!("expected from {least} to {most}");
                assert!(error.ends_with(&expected), "{error}");
                assert!(error.len() < 120, "{error}");
            }
        }
    }

    #[test]
    fn the_ends_of_a_range_are_in_it() {
        let mut machine = Config::preset("atac-64").unwrap();
        for (key, value) in [
            ("core.cpi", "0.01"),
            ("core.cpi", "1000"),
            ("memory.latency", "1_000_000"),
            ("os.balance-busy", "1"),
            ("os.balance-busy", "1024"),
            ("os.tick", "10_000"),
            ("os.hot", "1_000_000_000"),
        ] {
            machine.set(&format!("{key}={value}")).unwrap();
        }
    }
}
