//! Checks the relations between a machine's values. Before that, [`bounds`](super::bounds) has checked the range of
//! each value.

use super::error::Problem;
use super::network::{Contention, Distance, Network};
use super::{AtomicKind, Config, Directory, Slices, Writes};

/// The most lines of all caches together. A simulation needs 8 bytes for each line, so at most half a gigabyte.
const MOST_LINES: u64 = 1 << 26;
/// The least cycles of a tick for each core. Each tick is an event on each core.
const TICK_PER_CORE: u64 = 100;
/// The most groups of a network of groups. Each pair has a link with up to 2 KB of history, so all
/// links have 128 MB.
const MOST_GROUPS: usize = 256;

/// Fails with the key, its value and what was expected, unless `holds`.
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

impl Config {
    /// Fails with the first value that contradicts other values. Each value must be in its range.
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
        for (key, value) in [
            ("threads-per-core", self.threads_per_core),
            ("group-cores", self.group_cores),
        ] {
            let expected = format!("a divisor of cores = {}", self.cores);
            expect(self.cores.is_multiple_of(value), key, value, &expected)?;
        }
        expect(
            self.group_cores.is_multiple_of(self.threads_per_core),
            "group-cores",
            self.group_cores,
            &format!("a multiple of threads-per-core = {}", self.threads_per_core),
        )?;
        if let Some(package) = self.package_cores {
            let expected = format!("a multiple of group-cores = {}", self.group_cores);
            let holds = package.is_multiple_of(self.group_cores);
            expect(holds, "package-cores", package, &expected)?;
        }
        if let Some(shared) = self.core.shared_cpi {
            expect(
                self.threads_per_core > 1 && shared >= self.core.cpi,
                "core.shared-cpi",
                shared,
                &format!(
                    "at least core.cpi = {}, with threads-per-core above 1",
                    self.core.cpi
                ),
            )?;
        }
        expect(
            self.line.is_power_of_two(),
            "line",
            self.line,
            "a power of two from 8 to 4096",
        )
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
            let set = u64::from(ways) * u64::from(self.line);
            let expected = format!("a multiple of {ways} ways of {} bytes", self.line);
            expect(
                size.is_multiple_of(set),
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
        self.validate_lines()?;
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

    /// The tags of all caches must fit into the host's memory. No product overflows, since each
    /// factor is in its range.
    fn validate_lines(&self) -> Result<(), Problem> {
        let tiles = u64::from(self.cores / self.threads_per_core);
        let level = |key, caches, size| (key, caches, size, caches * (size / u64::from(self.line)));
        let l2 = self.l2.as_ref().map(|l2| level("l2.size", tiles, l2.size));
        let groups = u64::from(self.groups());
        let llc = self.llc.as_ref();
        let llc = llc.map(|llc| level("llc.size", groups, llc.size));
        let levels = [Some(level("l1.size", tiles, self.l1.size)), l2, llc];
        let levels = levels.into_iter().flatten();
        let lines: u64 = levels.clone().map(|(.., lines)| lines).sum();
        let largest = levels.max_by_key(|&(.., lines)| lines);
        largest.map_or(Ok(()), |(key, caches, size, _)| {
            expect(
                lines <= MOST_LINES,
                key,
                format!("{caches} caches of {size} bytes, with all others {lines} lines"),
                &format!("at most {MOST_LINES} lines in all caches"),
            )
        })
    }

    fn validate_coherence(&self) -> Result<(), Problem> {
        let coherence = &self.coherence;
        if coherence.directory == Directory::Ackwise {
            expect(
                coherence.pointers > 0,
                "coherence.pointers",
                coherence.pointers,
                "at least 1 for directory = ackwise",
            )?;
            expect(
                self.llc.is_none(),
                "coherence.directory",
                "ackwise",
                "another directory with an llc, which has one message for all sharers of a group",
            )?;
        }
        expect(
            coherence.writes == Writes::Back || self.atomics.kind == AtomicKind::Far,
            "coherence.writes",
            "through",
            "atomics.kind = far with it, since no private cache owns a line",
        )?;
        expect(
            self.atomics.kind != AtomicKind::Far || self.llc.is_some(),
            "atomics.kind",
            "far",
            "an llc in which they are done",
        )?;
        let far = self.atomics.kind == AtomicKind::Far;
        expect(
            far || self.atomics.at_home.is_none(),
            "atomics.at-home",
            self.atomics.at_home.unwrap_or(0),
            "atomics.kind = far with it",
        )?;
        expect(
            self.atomics.kind != AtomicKind::Llsc || self.atomics.hold.is_none(),
            "atomics.hold",
            self.atomics.hold.unwrap_or(0),
            "atomics.kind = near or far with it",
        )?;
        expect(
            far || self.atomics.posted.is_none(),
            "atomics.posted",
            self.atomics.posted.unwrap_or(false),
            "atomics.kind = far with it",
        )
    }

    fn validate_network(&self) -> Result<(), Problem> {
        match &self.network {
            Network::Mesh {
                router,
                link,
                contention,
                broadcast_tree,
                sockets,
                ..
            } => {
                if let Some(sockets) = sockets {
                    let expected = format!(
                        "cores = {} over group-cores = {}, a socket a group",
                        self.cores, self.group_cores
                    );
                    expect(
                        sockets.count == self.groups(),
                        "network.mesh.sockets.count",
                        sockets.count,
                        &expected,
                    )?;
                    expect(
                        *contention == Contention::HopCounter,
                        "network.mesh.contention",
                        "hop-by-hop",
                        "hop-counter with network.mesh.sockets",
                    )?;
                    expect(
                        !broadcast_tree,
                        "network.mesh.broadcast-tree",
                        broadcast_tree,
                        "false with network.mesh.sockets",
                    )?;
                }
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
                let width = self.cores.isqrt();
                let below = self.cores - self.cores % width;
                let nearest = format!("such as {below} or {}", below + width);
                expect(
                    *contention == Contention::HopCounter || self.cores.is_multiple_of(width),
                    "cores",
                    self.cores,
                    &format!(
                        "a multiple of the mesh's width {width} for hop-by-hop contention, {nearest}"
                    ),
                )
            }
            Network::Groups {
                classes, distance, ..
            } => validate_distances(classes, distance, self.groups() as usize),
        }
    }

    fn validate_os(&self) -> Result<(), Problem> {
        let os = &self.os;
        let least = TICK_PER_CORE * u64::from(self.cores);
        let expected = format!("at least {least} on {} cores", self.cores);
        expect(os.tick >= least, "os.tick", os.tick, &expected)?;
        // With longer interrupts, a core would do hardly anything else.
        let expected = format!("at most half of os.tick = {}", os.tick);
        expect(
            os.tick_cost <= os.tick / 2,
            "os.tick-cost",
            os.tick_cost,
            &expected,
        )?;
        let expected = format!("at least os.min-granularity = {}", os.min_granularity);
        expect(
            os.latency >= os.min_granularity,
            "os.latency",
            os.latency,
            &expected,
        )
    }
}

/// Checks that the matrix of classes is square and symmetric, with 0 on its diagonal only.
fn validate_distances(
    classes: &[Distance],
    distance: &[Vec<u32>],
    groups: usize,
) -> Result<(), Problem> {
    for (index, class) in classes.iter().enumerate() {
        let key = format!("network.groups.classes.{index}");
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
    expect(
        groups <= MOST_GROUPS,
        key,
        format!("{groups} groups"),
        &format!("at most {MOST_GROUPS}"),
    )?;
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
