//! The study's checked settings, with their defaults.

use super::benchmark::Benchmark;
use super::case::{PackingCase, Turn};
use super::keys;
use super::load::{Kind, Load};
use super::mode::Mode;
use super::variation::{Variation, variations};
use crate::failure::bad_input;
use crate::study::Request;
use crate::study::settings::bounded;
use crate::study::trial::Setup;
use manycore::topology::Topology;
use manycore_programs::barrier::barriers;
use serde::Serialize;

/// Threads of the programs on the poster that this study repeats (`mod.rs`).
const THREADS: usize = 16;
/// Numbers of threads that differ on two cores: few and many, even and odd.
const NATIVE_THREADS: [u64; 6] = [2, 3, 4, 5, 8, 9];

/// Barriers of a run, without and with `--full`.
const INTERVALS: [usize; 2] = [12, 50];
/// The intervals of a sweep, in us.
const SWEEP: [&[u64]; 2] = [
    // 10 us is left out, since two of its cells would take half of the total time.
    &[100, 1_000, 10_000, 100_000],
    &[
        10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000,
    ],
];
/// The intervals of native runs, which neighbours on a shared host hardly disturb.
const NATIVE_SWEEP: [&[u64]; 2] = [&[50, 300], &[20, 50, 100, 300, 1_000, 6_000]];
const SKEW: u32 = 20;
/// The length of a native run.
const NATIVE_RUN_US: u64 = 20_000;

/// The timeline's numbers of cores, one after the other.
const COURSE: [usize; 5] = [16, 15, 7, 12, 16];
/// The time with each number of cores.
const TURN_NS: u64 = 1_000_000_000;

/// Everything that decides what is measured. Its hash names the journal (the file of measurements).
#[derive(Clone, Debug, Serialize)]
pub(super) struct PackingConfig {
    #[serde(flatten)]
    pub(super) setup: Setup,
    pub(super) threads: Vec<usize>,
    pub(super) cores: Vec<usize>,
    pub(super) modes: Vec<Mode>,
    pub(super) benchmarks: Vec<Benchmark>,
    pub(super) kinds: Vec<Kind>,
    intervals: usize,
    doublings: u32,
    barrier: String,
    /// The intervals of the sweep, in us.
    pub(super) sweep: Vec<u64>,
    pub(super) skew: u32,
}

impl PackingConfig {
    pub(super) fn new(request: &Request) -> anyhow::Result<Self> {
        let setup = Setup::new("packing", request)?;
        let set = &request.settings;
        let binaries = keys::OF_BINARIES.iter();
        if let Some(key) = binaries.copied().find(|key| set.text(key).is_some()) {
            return Err(bad_input(format!(
                "--set {key}: it applies only to compiled programs; expected --set \
                 programs=openmp with it"
            )));
        }
        let native = setup.machines.is_host();
        if native && set.text("doublings").is_some() {
            return Err(bad_input(
                "--set doublings: it applies only to simulated runs; expected a simulated machine \
                 with it",
            ));
        }
        let full = usize::from(request.full);
        let most = match setup.chip() {
            Some(chip) if chip.scales() => THREADS.max(chip.cores()),
            Some(chip) => chip.cores(),
            None => Topology::detect().usable().len(),
        };
        let threads = match set.numbers("threads") {
            Some(threads) => threads,
            None if native => NATIVE_THREADS.to_vec(),
            None => vec![THREADS.min(most) as u64],
        };
        let sweep = match set.numbers("sweep") {
            Some(sweep) => sweep,
            None if native => NATIVE_SWEEP[full].to_vec(),
            None => SWEEP[full].to_vec(),
        };
        let threads: Vec<usize> = threads.into_iter().map(|count| count as usize).collect();
        let widest = threads.iter().copied().max().unwrap_or(1);
        let config = Self {
            cores: cores(request, most, widest.min(most))?,
            modes: modes(&request.only)?,
            benchmarks: set
                .list("benchmarks", str::parse)?
                .unwrap_or_else(|| Benchmark::ALL.to_vec()),
            kinds: match set.list("programs", str::parse)? {
                Some(kinds) => no_declared(kinds, native)?,
                None if native => vec![Kind::Real],
                None if request.full => Kind::ALL.to_vec(),
                None => vec![Kind::Declared, Kind::Intervals],
            },
            intervals: match set.number("intervals")? {
                Some(intervals) => intervals as usize,
                None => INTERVALS[full],
            },
            doublings: set.number("doublings")?.map_or(0, |count| count as u32),
            barrier: barrier(set.text("barrier"))?,
            skew: set.number("skew")?.map_or(SKEW, |skew| skew as u32),
            threads,
            sweep,
            setup,
        };
        let programs = config.kinds.len() * config.benchmarks.len() + 2 * config.sweep.len();
        let runs = config.cores.len() * config.modes.len();
        bounded(&[config.threads.len(), programs, runs])?;
        Ok(config)
    }

    pub(super) fn case(&self, load: Load, threads: usize, cores: usize, mode: Mode) -> PackingCase {
        PackingCase {
            load,
            threads,
            mode,
            barrier: self.barrier.clone(),
            turns: vec![Turn { at_ns: 0, cores }],
            doublings: self.doublings,
            most_settling: usize::MAX,
            settings: Vec::new(),
        }
    }

    pub(super) fn programs(&self, kind: Kind) -> Vec<Load> {
        let load = |&benchmark: &Benchmark| kind.load(benchmark, self.intervals);
        self.benchmarks.iter().map(load).collect()
    }

    /// The numbers of cores for the programs. A real program takes seconds on a simulated machine, so it runs on
    /// only one number.
    pub(super) fn cores_of(&self, kind: Kind, threads: usize) -> Vec<usize> {
        match (kind, self.setup.machines.is_host()) {
            (Kind::Real, false) => vec![self.swept_cores(threads)],
            _ => {
                let cores = self.cores.iter().copied();
                cores.filter(|&cores| cores <= threads).collect()
            }
        }
    }

    /// Intervals of all lengths, with ranks (threads) of equal and of unequal work.
    pub(super) fn swept(&self) -> Vec<Load> {
        let mut loads = Vec::new();
        for skew in [0, self.skew] {
            loads.extend(self.sweep.iter().map(|&us| Load::Sweep {
                ns: us * 1000,
                skew,
                intervals: match self.setup.machines.is_host() {
                    true => (NATIVE_RUN_US / us).clamp(3, 200) as usize,
                    false => self.intervals,
                },
            }));
        }
        loads
    }

    /// The timeline's programs: one with long, one with short intervals. They last for all turns even if no core is
    /// ever idle.
    pub(super) fn timed(&self) -> Vec<Load> {
        let timed = |&benchmark: &Benchmark| {
            let cores: usize = COURSE.iter().sum();
            let work = TURN_NS as f64 * cores as f64 / COURSE[0] as f64;
            Load::Interval {
                benchmark,
                intervals: (work / benchmark.interval_ns()).ceil() as usize,
            }
        };
        let timed_ones = [Benchmark::Bt, Benchmark::Cg];
        let asked = timed_ones
            .iter()
            .filter(|one| self.benchmarks.contains(one));
        match self.has_course() {
            true => asked.map(timed).collect(),
            false => Vec::new(),
        }
    }

    /// Whether the study has the timeline's numbers of cores and threads.
    fn has_course(&self) -> bool {
        let enough = self
            .setup
            .chip()
            .is_some_and(|chip| chip.cores() >= COURSE[0]);
        enough && self.threads.contains(&THREADS) && self.cores.contains(&THREADS)
    }

    pub(super) fn course(&self, load: Load, mode: Mode) -> PackingCase {
        let turn = |(at, &cores): (usize, &usize)| Turn {
            at_ns: at as u64 * TURN_NS,
            cores,
        };
        PackingCase {
            turns: COURSE.iter().enumerate().map(turn).collect(),
            ..self.case(load, THREADS, COURSE[0], mode)
        }
    }

    /// Other settings of the operating system, to show how sensitive packing is to them.
    pub(super) fn variations(&self) -> Vec<Variation> {
        let Some(chip) = self.setup.chip() else {
            return Vec::new();
        };
        if !self.modes.contains(&Mode::Tp) {
            return Vec::new();
        }
        let mut all = variations(&chip.0.os);
        let widest = self.cores.iter().copied().max().unwrap_or(1);
        let can_be = |one: &Variation| {
            let machine = self.setup.machines.build(0, widest, &one.settings);
            machine.is_ok()
        };
        all.retain(can_be);
        all
    }

    pub(super) fn varied(
        &self,
        load: Load,
        threads: usize,
        mode: Mode,
        of: &Variation,
    ) -> PackingCase {
        PackingCase {
            settings: of.settings.clone(),
            ..self.case(load, threads, self.swept_cores(threads), mode)
        }
    }

    /// The greatest number of cores below the number of threads, as in the poster's figure 2. If all numbers of cores
    /// are greater, the least.
    pub(super) fn swept_cores(&self, threads: usize) -> usize {
        let few = self.cores.iter().filter(|&&cores| cores < threads);
        few.max().or(self.cores.first()).copied().unwrap_or(1)
    }

    /// The cases that the study's sentence compares: the programs of the first kind, in all modes.
    pub(super) fn compared_cases(&self) -> Vec<PackingCase> {
        let (Some(&threads), Some(&kind)) = (self.threads.first(), self.kinds.first()) else {
            return Vec::new();
        };
        let cores = self.swept_cores(threads);
        let programs = self.programs(kind).into_iter();
        let modes = |load| {
            let modes = self.modes.iter();
            modes.map(move |&mode| self.case(load, threads, cores, mode))
        };
        programs.flat_map(modes).collect()
    }

    pub(super) fn cases(&self) -> Vec<PackingCase> {
        let mut cases = Vec::new();
        for &threads in &self.threads {
            for &kind in &self.kinds {
                for load in self.programs(kind) {
                    for cores in self.cores_of(kind, threads) {
                        let modes = self.modes.iter();
                        cases.extend(modes.map(|&mode| self.case(load, threads, cores, mode)));
                    }
                }
            }
            for variation in self.variations() {
                for load in self.programs(self.kinds[0]) {
                    for mode in [Mode::Tr, Mode::Tp] {
                        cases.push(self.varied(load, threads, mode, &variation));
                    }
                }
            }
            for load in self.swept() {
                let cores = self.swept_cores(threads);
                let modes = self.modes.iter();
                cases.extend(modes.map(|&mode| self.case(load, threads, cores, mode)));
            }
        }
        for load in self.timed() {
            let modes = self.modes.iter().filter(|mode| mode.follows());
            cases.extend(modes.map(|&mode| self.course(load, mode)));
        }
        cases
    }
}

fn no_declared(kinds: Vec<Kind>, native: bool) -> anyhow::Result<Vec<Kind>> {
    match native && kinds.contains(&Kind::Declared) {
        true => Err(bad_input(
            "--set programs: declared programs run only on simulated machines; expected \
             some of intervals, real",
        )),
        false => Ok(kinds),
    }
}

/// The requested numbers of cores, or else 1 to `all`.
pub(super) fn cores(request: &Request, most: usize, all: usize) -> anyhow::Result<Vec<usize>> {
    let mut counts: Vec<usize> = request.cores.iter().map(|count| count.get()).collect();
    if let Some(wrong) = counts.iter().find(|&&cores| cores > most) {
        return Err(bad_input(format!(
            "--cores {wrong}: expected at most {most}, which the machine has"
        )));
    }
    if counts.is_empty() {
        counts = (1..=all).collect();
    }
    counts.sort_unstable();
    counts.dedup();
    Ok(counts)
}

/// The requested modes, or else all modes. Each is compared with thread reduction, which is always added.
fn modes(only: &[String]) -> anyhow::Result<Vec<Mode>> {
    if only.is_empty() {
        return Ok(Mode::ALL.to_vec());
    }
    let mut modes = vec![Mode::Tr];
    for name in only {
        let mode = name
            .parse()
            .map_err(|error| bad_input(format!("--only: {error}")))?;
        if !modes.contains(&mode) {
            modes.push(mode);
        }
    }
    Ok(modes)
}

/// The name of a barrier, by default `futex`.
pub(super) fn barrier(name: Option<&str>) -> anyhow::Result<String> {
    let name = name.unwrap_or("futex");
    match barriers().contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(bad_input(format!(
            "--set barrier: unknown barrier `{name}`; expected one of {}",
            barriers().join(", ")
        ))),
    }
}
