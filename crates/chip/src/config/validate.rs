//! Values that a machine cannot have although their type is right.

use super::error::Problem;
use super::network::{Contention, Distance, Network};
use super::{AtomicKind, Config, Directory, Slices, Writes};

/// Keeps a full map of a line's sharers within half a kilobyte.
const MOST_CORES: u32 = 4096;

/// `Err` with the key, the value and what was expected of it, unless `holds`.
fn expect(
    holds: bool,
    key: &str,
    value: impl std::fmt::Display,
    expected: &str,
) -> Result<(), Problem> {
    if holds {
        return Ok(());
    }
    Err(Problem {
        key: key.to_owned(),
        what: format!("{value}, expected {expected}"),
    })
}

fn at_least_one(key: &str, value: impl Into<u64>) -> Result<(), Problem> {
    let value = value.into();
    expect(value > 0, key, value, "at least 1")
}

fn above_zero(key: &str, value: f64) -> Result<(), Problem> {
    expect(
        value.is_finite() && value > 0.0,
        key,
        value,
        "a finite number above 0",
    )
}

impl Config {
    /// The first value that is wrong.
    pub(super) fn validate(&self) -> Result<(), Problem> {
        self.validate_cores()?;
        self.validate_caches()?;
        self.validate_coherence()?;
        self.validate_network()?;
        self.validate_os()
    }

    fn validate_cores(&self) -> Result<(), Problem> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        expect(
            !self.name.is_empty() && self.name.chars().all(plain),
            "name",
            format!("`{}`", self.name),
            "lower-case letters, digits and hyphens",
        )?;
        at_least_one("cores", self.cores)?;
        expect(
            self.cores <= MOST_CORES,
            "cores",
            self.cores,
            &format!("at most {MOST_CORES}"),
        )?;
        for (key, value) in [
            ("threads-per-core", self.threads_per_core),
            ("group-cores", self.group_cores),
        ] {
            at_least_one(key, value)?;
            let expected = format!("a divisor of cores = {}", self.cores);
            expect(self.cores.is_multiple_of(value), key, value, &expected)?;
        }
        expect(
            self.group_cores.is_multiple_of(self.threads_per_core),
            "group-cores",
            self.group_cores,
            &format!("a multiple of threads-per-core = {}", self.threads_per_core),
        )?;
        above_zero("ghz", self.ghz)?;
        expect(
            self.line.is_power_of_two() && (8..=4096).contains(&self.line),
            "line",
            self.line,
            "a power of two from 8 to 4096",
        )?;
        above_zero("core.cpi", self.core.cpi)?;
        at_least_one("core.spin-period", self.core.spin_period)
    }

    fn validate_caches(&self) -> Result<(), Problem> {
        let mut above = 1;
        let private = [("l1", Some(&self.l1)), ("l2", self.l2.as_ref())];
        let private = private.into_iter().filter_map(|(name, cache)| {
            cache.map(|cache| (name, cache.size, cache.ways, cache.latency))
        });
        let shared = self
            .llc
            .iter()
            .map(|cache| ("llc", cache.size, cache.ways, cache.latency));
        for (name, size, ways, latency) in private.chain(shared) {
            at_least_one(&format!("{name}.ways"), ways)?;
            let set = u64::from(ways) * u64::from(self.line);
            let expected = format!("a multiple of {ways} ways of {} bytes", self.line);
            expect(
                size > 0 && size.is_multiple_of(set),
                &format!("{name}.size"),
                size,
                &expected,
            )?;
            let expected = format!("at least {above}, the latency above it");
            expect(
                latency >= above,
                &format!("{name}.latency"),
                latency,
                &expected,
            )?;
            above = latency;
        }
        match &self.llc {
            None => expect(
                self.group_cores == self.threads_per_core,
                "group-cores",
                self.group_cores,
                "threads-per-core, as there is no llc that a group could share",
            ),
            Some(llc) => {
                let mesh = matches!(self.network, Network::Mesh { .. });
                expect(
                    mesh == (llc.slices == Slices::Tiles),
                    "llc.slices",
                    if mesh { "uniform" } else { "tiles" },
                    if mesh {
                        "tiles on a network.mesh"
                    } else {
                        "uniform without a network.mesh"
                    },
                )
            }
        }
    }

    fn validate_coherence(&self) -> Result<(), Problem> {
        let coherence = &self.coherence;
        if coherence.directory == Directory::Ackwise {
            at_least_one("coherence.pointers", coherence.pointers)?;
        }
        expect(
            coherence.writes == Writes::Back || self.atomics.kind == AtomicKind::Far,
            "coherence.writes",
            "through",
            "atomics.kind = far with it, since no private cache owns a line",
        )?;
        expect(
            self.atomics.kind != AtomicKind::Far
                || self.llc.is_some() && coherence.writes == Writes::Through,
            "atomics.kind",
            "far",
            "an llc in which they are done, and coherence.writes = through",
        )?;
        at_least_one("memory.latency", self.memory.latency)?;
        above_zero("memory.bytes-per-cycle", self.memory.bytes_per_cycle)?;
        at_least_one(
            "memory.nodes-per-controller",
            self.memory.nodes_per_controller,
        )
    }

    fn validate_network(&self) -> Result<(), Problem> {
        match &self.network {
            Network::Mesh {
                router,
                link,
                flit_bits,
                contention,
                ..
            } => {
                expect(
                    self.threads_per_core == 1,
                    "threads-per-core",
                    self.threads_per_core,
                    "1 on a network.mesh",
                )?;
                expect(
                    router + link > 0,
                    "network.mesh.link",
                    link,
                    "at least 1 with router = 0",
                )?;
                at_least_one("network.mesh.flit-bits", *flit_bits)?;
                let width = self.cores.isqrt();
                expect(
                    *contention == Contention::HopCounter || self.cores.is_multiple_of(width),
                    "cores",
                    self.cores,
                    &format!("a multiple of the mesh's width {width} for hop-by-hop contention"),
                )?;
            }
            Network::Groups {
                classes, distance, ..
            } => {
                validate_distances(classes, distance, self.groups() as usize)?;
            }
        }
        if let Some(optical) = &self.optical {
            at_least_one("optical.bytes-per-cycle", optical.bytes_per_cycle)?;
        }
        Ok(())
    }

    fn validate_os(&self) -> Result<(), Problem> {
        let os = &self.os;
        at_least_one("os.tick", os.tick)?;
        expect(
            os.tick_cost < os.tick,
            "os.tick-cost",
            os.tick_cost,
            "less than os.tick",
        )?;
        at_least_one("os.min-granularity", os.min_granularity)?;
        let expected = format!("at least os.min-granularity = {}", os.min_granularity);
        expect(
            os.latency >= os.min_granularity,
            "os.latency",
            os.latency,
            &expected,
        )?;
        at_least_one("os.balance", os.balance)
    }
}

/// A square, symmetric matrix of classes with 0 on its diagonal only.
fn validate_distances(
    classes: &[Distance],
    distance: &[Vec<u32>],
    groups: usize,
) -> Result<(), Problem> {
    for (index, class) in classes.iter().enumerate() {
        let key = format!("network.groups.classes.{index}");
        at_least_one(&format!("{key}.cycles"), class.cycles)?;
        expect(
            !class.name.is_empty()
                && classes[..index]
                    .iter()
                    .all(|other| other.name != class.name),
            &format!("{key}.name"),
            format!("`{}`", class.name),
            "a name of its own",
        )?;
    }
    let key = "network.groups.distance";
    let rows = format!("{} rows", distance.len());
    expect(
        distance.len() == groups,
        key,
        rows,
        &format!("one for each of {groups} groups"),
    )?;
    for (from, row) in distance.iter().enumerate() {
        let key = format!("{key}.{from}");
        let columns = format!("{} columns", row.len());
        expect(
            row.len() == groups,
            &key,
            columns,
            &format!("one for each of {groups} groups"),
        )?;
    }
    for (from, row) in distance.iter().enumerate() {
        for (to, &class) in row.iter().enumerate() {
            let key = format!("{key}.{from}.{to}");
            if from == to {
                expect(class == 0, &key, class, "0 on the diagonal")?;
                continue;
            }
            let expected = format!("from 1 to the {} classes", classes.len());
            expect(
                class > 0 && class as usize <= classes.len(),
                &key,
                class,
                &expected,
            )?;
            let back = distance[to][from];
            expect(
                class == back,
                &key,
                class,
                &format!("{back} as from {to} to {from}"),
            )?;
        }
    }
    Ok(())
}
