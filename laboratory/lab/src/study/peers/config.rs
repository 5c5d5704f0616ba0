//! The study's checked settings, with their defaults.

use super::case::PeersCase;
use super::peer::{self, PEERS, Peer, SERIAL};
use crate::failure::bad_input;
use crate::measure::journal::fingerprint_of;
use crate::study::Request;
use crate::study::chip::Chip;
use crate::study::order;
use crate::study::settings::bounded;
use crate::study::trial::{Machines, Setup};
use crate::world::World;
use manycore::topology::Topology;
use manycore_chip::config::Config;
use serde::Serialize;

/// The default of `--on`. If the user sets no machine, the study runs on all machines of [`TOGETHER`].
pub(super) const HOME: &str = "graviton2-64";

/// Three kinds of machine: a mesh, chiplets, and a mesh in tiles on two sockets.
const TOGETHER: [&str; 3] = [HOME, "milan-7r13x2", "sapphire-rapids-8470x2"];

/// The numbers of threads in a quick study.
const QUICK: [usize; 2] = [16, 64];

/// Programs of a quick study. A full study also has the programs of [`FURTHER`] and [`UNITS`].
const BRIEF: [&str; 6] = ["mid", "fine", "skew", "fib", "empty", "reduce"];
const FURTHER: [&str; 23] = [
    "coarse",
    "memory",
    "tree-255",
    "tree-255-heavy",
    "tree-255-light",
    "tree-4095",
    "tree-4095-heavy",
    "tree-4095-light",
    "tree-65535",
    "tree-65535-heavy",
    "tree-65535-light",
    "quicksort",
    "mergesort",
    "blur",
    "nbody",
    "bfs",
    "server",
    "unit",
    "tasks",
    "nested",
    "region",
    "barrier",
    "reduction",
];
const UNITS: [&str; 4] = ["unit-1", "unit-4", "unit-16", "unit-64"];

/// Settings that only simulated machines have.
const SIMULATED: [&str; 3] = ["on", "root", "orders"];

/// Everything that decides what is measured. Its hash names the journal (the file of measurements).
#[derive(Clone, Debug, Serialize)]
pub(super) struct PeersConfig {
    #[serde(flatten)]
    pub(super) setup: Setup,
    /// The numbers of threads on each machine.
    pub(super) threads: Vec<Vec<usize>>,
    pub(super) programs: Vec<String>,
    /// Peers (other runtimes) with binaries in the folder.
    pub(super) peers: Vec<String>,
    /// The orders of events on each machine.
    pub(super) orders: Vec<Vec<u64>>,
    /// Peers without binaries.
    pub(super) missing: Vec<String>,
    folder: String,
    root: String,
    /// The files that the study runs, and the fingerprint of each.
    files: Vec<(String, String)>,
    steady: usize,
    gaps: usize,
    /// The limit of a run on each machine.
    limits_ms: Vec<u64>,
}

impl PeersConfig {
    pub(super) fn new(request: &Request) -> anyhow::Result<Self> {
        request.counts_threads()?;
        let rest = Request {
            threads: Vec::new(),
            ..request.clone()
        };
        let mut setup = Setup::new("peers", &rest)?;
        if let World::Simulated(machine) = &request.world {
            setup.machines = machines(request, machine)?;
        }
        let is_host = setup.machines.is_host();
        let set = &request.settings;
        if let Some(key) = SIMULATED
            .iter()
            .find(|key| is_host && set.text(key).is_some())
        {
            return Err(bad_input(format!(
                "--set {key}: it applies only to simulated machines; expected --on PRESET with it"
            )));
        }
        let default = if is_host {
            "target/guests-native"
        } else {
            "target/guests"
        };
        let folder = set.text("folder").unwrap_or(default).to_owned();
        if !std::path::Path::new(&folder).is_dir() {
            return Err(bad_input(format!(
                "--set folder={folder}: no such folder; expected the folder that ci/guests.sh{} \
                 builds",
                if is_host { " --native" } else { "" }
            )));
        }
        let (peers, missing) = peers(request, &folder)?;
        let brief = |quick: u64, full: u64| if request.full { full } else { quick };
        let number = |key: &str, quick, full| {
            Ok::<u64, anyhow::Error>(set.number(key)?.unwrap_or(brief(quick, full)))
        };
        let count = number("orders", 1, 10)?;
        setup.machines.0.iter_mut().for_each(order::resolve);
        let chips = setup.machines.0.iter();
        let mut orders: Vec<_> = chips.map(|chip| order::orders(chip, count)).collect();
        // The size of each machine, in threads that run at once.
        let mut sizes: Vec<_> = (setup.machines.0.iter())
            .map(|chip| (chip.0.name.clone(), chip.hardware_threads()))
            .collect();
        if is_host {
            orders.push(vec![order::PLAIN]);
            sizes.push(("this host".into(), Topology::detect().usable().len()));
        }
        let gaps = number("gaps", 2, 5)?;
        let limit = match is_host {
            true => number("limit", 20_000, 20_000)?,
            false => number("limit", 40, 4_000)?,
        };
        let is_asked = set.text("limit").is_some();
        let late = |chip: &Chip| if is_asked { 0 } else { late_ms(chip) };
        let mut limits_ms: Vec<_> = (setup.machines.0.iter())
            .map(|chip| limit + gaps * late(chip))
            .collect();
        if is_host {
            limits_ms.push(limit);
        }
        let config = Self {
            limits_ms,
            threads: (sizes.iter())
                .map(|(name, cores)| threads(request, name, *cores))
                .collect::<Result<_, _>>()?,
            programs: programs(request)?,
            orders,
            files: files(&peers, &folder)?,
            peers,
            missing,
            folder,
            root: set
                .text("root")
                .unwrap_or("/usr/riscv64-linux-gnu")
                .to_owned(),
            steady: number("steady", 6, 30)? as usize,
            gaps: gaps as usize,
            setup,
        };
        let machines = config.threads.iter().zip(&config.orders);
        let runs = machines.map(|(threads, orders)| threads.len() * orders.len());
        bounded(&[runs.sum(), config.programs.len(), config.peers.len()])?;
        Ok(config)
    }

    /// A machine's name.
    pub(super) fn machine(&self, number: usize) -> String {
        self.setup.machines.name(number)
    }

    /// Each machine's number with each of its numbers of threads.
    pub(super) fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        let all = self.threads.iter().enumerate();
        all.flat_map(|(machine, counts)| counts.iter().map(move |&threads| (machine, threads)))
    }

    /// All runs of the study.
    pub(super) fn cases(&self) -> Vec<PeersCase> {
        let mut cases = Vec::new();
        for (machine, threads) in self.places() {
            for program in &self.programs {
                for peer in self.peers_of(program) {
                    let orders = self.orders[machine].iter();
                    cases.extend(
                        orders.map(|&order| self.case(machine, threads, program, peer, order)),
                    );
                }
            }
        }
        if self.peers.iter().any(|peer| peer == SERIAL) {
            for (machine, orders) in self.orders.iter().enumerate() {
                let programs = self.serial_programs();
                cases.extend(
                    programs.map(|program| self.case(machine, 1, program, SERIAL, orders[0])),
                );
            }
        }
        cases
    }

    /// The peers that run a program with several threads.
    pub(super) fn peers_of<'a>(&'a self, program: &'a str) -> impl Iterator<Item = &'a str> {
        let runs = move |name: &&str| peer::find(name).is_ok_and(|peer| peer.runs(program));
        let peers = self.peers.iter().map(String::as_str);
        peers.filter(|name| *name != SERIAL).filter(runs)
    }

    /// The programs that run on one thread without a runtime.
    pub(super) fn serial_programs(&self) -> impl Iterator<Item = &str> {
        let serial = peer::find(SERIAL);
        let runs = move |name: &&str| serial.as_ref().is_ok_and(|serial| serial.runs(name));
        self.programs.iter().map(String::as_str).filter(runs)
    }

    fn case(
        &self,
        machine: usize,
        threads: usize,
        program: &str,
        peer: &str,
        order: u64,
    ) -> PeersCase {
        PeersCase {
            machine,
            on: self.machine(machine),
            threads,
            program: program.to_owned(),
            peer: peer.to_owned(),
            order,
            folder: self.folder.clone(),
            root: self.root.clone(),
            steady: self.steady,
            gaps: self.gaps,
            limit_ms: self.limits_ms[machine],
        }
    }

    /// The longest random delay of each machine in cycles. A machine has one order if it is 0.
    pub(super) fn delays(&self) -> Vec<(&str, u64)> {
        let machines = self.setup.machines.0.iter();
        machines
            .map(|chip| (&*chip.0.name, chip.0.perturb.unwrap_or(0)))
            .collect()
    }

    /// The warning above the numbers.
    pub(super) fn caution(&self) -> Option<String> {
        let missing = self.missing.join(", ");
        (!self.missing.is_empty()).then(|| {
            format!("These peers have no binaries in the folder and are left out: {missing}.")
        })
    }
}

/// How many milliseconds later than asked a sleep can end: on some machines, only a clock interrupt ends it.
fn late_ms(chip: &Chip) -> u64 {
    let os = &chip.0.os;
    ((os.tick + os.timer_slack) as f64 / (chip.0.ghz * 1e6)).ceil() as u64
}

/// Returns the machines that the setting `on` names. Without that setting, the default of `--on` means three machines.
fn machines(request: &Request, asked: &Config) -> anyhow::Result<Machines> {
    let named = |name: &str| {
        let config = Config::named(name).map_err(|error| bad_input(format!("--set on: {error}")));
        config.map(Chip)
    };
    if let Some(names) = (request.settings).list("on", |name| Ok::<_, String>(name.to_owned()))? {
        let chips = names.iter().map(|name| named(name));
        return Ok(Machines(chips.collect::<Result<_, _>>()?));
    }
    let home = named(HOME)?;
    match home.0.to_toml() == asked.to_toml() {
        true => {
            let chips = TOGETHER.iter().map(|name| named(name));
            Ok(Machines(chips.collect::<Result<_, _>>()?))
        }
        false => Ok(Machines(vec![Chip(asked.clone())])),
    }
}

/// The numbers of threads on a machine.
fn threads(request: &Request, machine: &str, cores: usize) -> anyhow::Result<Vec<usize>> {
    let most = cores + cores / 2;
    let mut counts: Vec<usize> = match request.threads.is_empty() {
        false => request.threads.iter().map(|count| count.get()).collect(),
        true if request.full => {
            let doubled = std::iter::successors(Some(1), |count| Some(count * 2));
            let mut counts: Vec<usize> = doubled.take_while(|&count| count < cores).collect();
            counts.extend([cores, most]);
            counts
        }
        true => QUICK.map(|count| count.min(cores)).to_vec(),
    };
    counts.sort_unstable();
    counts.dedup();
    // One list of threads applies to several machines. Some machines may be too small for some numbers.
    counts.retain(|&count| count <= most);
    match counts.is_empty() {
        false => Ok(counts),
        true => Err(bad_input(format!(
            "--threads: {machine} has {cores} cores; expected 1 to {most}"
        ))),
    }
}

/// The requested programs, or else the default ones.
fn programs(request: &Request) -> anyhow::Result<Vec<String>> {
    let known = |name: &str| {
        let stem = match name.strip_prefix("unit-") {
            Some(block) if block.parse::<u32>().is_ok_and(|block| block > 0) => "unit",
            _ => name,
        };
        match BRIEF.iter().chain(&FURTHER).any(|known| *known == stem) {
            true => Ok(name.to_owned()),
            false => Err(format!(
                "unknown program `{name}`; expected some of {}, {}, unit-N",
                BRIEF.join(", "),
                FURTHER.join(", ")
            )),
        }
    };
    let all = || {
        let further = FURTHER.iter().chain(&UNITS).filter(|_| request.full);
        BRIEF.iter().chain(further).map(|&name| name.to_owned())
    };
    Ok(request
        .settings
        .list("programs", known)?
        .unwrap_or_else(|| all().collect()))
}

/// Returns two lists of the requested peers: peers with binaries, and peers without. Both are in the order of the
/// tables.
fn peers(request: &Request, folder: &str) -> anyhow::Result<(Vec<String>, Vec<String>)> {
    let name = |name: &str| peer::find(name).map(|peer| peer.name);
    let mut asked = request.settings.list("peers", name)?.unwrap_or_default();
    for only in &request.only {
        asked.push(name(only).map_err(|error| bad_input(format!("--only: {error}")))?);
    }
    let wanted =
        |peer: &&Peer| asked.is_empty() || peer.name == SERIAL || asked.contains(&peer.name);
    let is_there = |peer: &&Peer| {
        let files = peer.files(folder);
        files
            .iter()
            .all(|file| std::path::Path::new(file).is_file())
    };
    let (there, missing): (Vec<_>, Vec<_>) = PEERS.iter().filter(wanted).partition(is_there);
    let names = |peers: Vec<&Peer>| peers.iter().map(|peer| peer.name.to_owned()).collect();
    let there: Vec<String> = names(there);
    match there.iter().any(|name| name != SERIAL) {
        true => Ok((there, names(missing))),
        false => Err(bad_input(format!(
            "--set folder={folder}: this folder has no binary of a peer; expected the folder that \
             ci/guests.sh builds"
        ))),
    }
}

/// Returns each file that is run, with its fingerprint. A journal thus belongs to one build of the binaries.
fn files(peers: &[String], folder: &str) -> anyhow::Result<Vec<(String, String)>> {
    let mut files: Vec<(String, String)> = Vec::new();
    for name in peers {
        let peer = peer::find(name).map_err(bad_input)?;
        for file in peer.files(folder) {
            if files.iter().all(|(known, _)| *known != file) {
                let bytes = std::fs::read(&file).map_err(|error| {
                    bad_input(format!("--set folder={folder}: {file}: {error}"))
                })?;
                files.push((file, fingerprint_of(&bytes)));
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::settings::Settings;

    #[test]
    fn sleeps_that_end_late_have_time() {
        let late = ["graviton2-64", "gold5225r"].map(|name| {
            let machine = Config::preset(name).unwrap();
            late_ms(&Chip(machine))
        });
        // Linux, and Windows with its clock interrupts of 15.6 ms.
        assert_eq!(late, [5, 32]);
    }

    #[test]
    fn a_machine_without_random_delays_or_with_a_seed_has_one_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in [SERIAL, "manycore"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let path = |name: &str| folder.path().join(name).display().to_string();
        let machine = Config::preset(HOME).unwrap();
        std::fs::write(path("delayed.toml"), machine.to_toml()).unwrap();
        for (name, setting) in [
            ("exact.toml", "perturb=0"),
            ("seeded.toml", "perturb-seed=7"),
        ] {
            let mut machine = machine.clone();
            machine.set(setting).unwrap();
            std::fs::write(path(name), machine.to_toml()).unwrap();
        }
        for (names, expected) in [
            (["delayed.toml", "exact.toml"], [vec![1, 2, 3], vec![0]]),
            (["exact.toml", "delayed.toml"], [vec![0], vec![1, 2, 3]]),
            (["seeded.toml", "delayed.toml"], [vec![0], vec![1, 2, 3]]),
        ] {
            let on = format!("on={}", names.map(path).join(","));
            let set = [format!("folder={}", path("")), on, "orders=3".into()];
            let world = World::Simulated(Box::new(machine.clone()));
            let settings = Settings::parse(&set, super::super::KEYS).unwrap();
            let request = Request {
                threads: vec![2.try_into().unwrap()],
                ..Request::plain(world, settings)
            };
            let config = PeersConfig::new(&request).unwrap();
            assert_eq!(config.orders, expected);
            let cases = config.cases();
            for (machine, orders) in expected.iter().enumerate() {
                let all = cases.iter().filter(|case| case.machine == machine);
                let of = |peer: &str, program: &str| -> Vec<u64> {
                    let same = all
                        .clone()
                        .filter(|case| (&*case.peer, &*case.program) == (peer, program));
                    same.map(|case| case.order).collect()
                };
                assert_eq!(of("manycore", "fib"), *orders);
                // A serial program has one order on each machine.
                assert_eq!(of(SERIAL, "fib"), orders[..1]);
            }
        }
    }
}
