//! The study's checked settings, with their defaults.

use super::case::StealingCase;
use crate::failure::bad_input;
use crate::study::Request;
use crate::study::settings::{bounded, product};
use crate::study::trial::Setup;
use manycore::topology::Topology;
use manycore_programs::stealing::Distribution;
use manycore_programs::stealing::disciplines;
use serde::Serialize;

/// The number of cores of the machine in the thesis (Park 2013).
const CORES: usize = 64;
/// The cycles of a task in the thesis, where it takes 0.12 ms.
const CYCLES: u64 = 120_000;
/// In the thesis, under the distributions [`SWAPPED`], the first discipline (stealing algorithm) is faster than the
/// second. This study finds the opposite.
const OPPOSITE: [&str; 2] = ["offer-cas", "random"];
const SWAPPED: [Distribution; 2] = [Distribution::Half, Distribution::Quarter];
/// With the number of tasks times this, a worker's last task is less than 1% of its work.
const MANY: usize = 12;
/// How often a worker answers requests within a task, in [`StealingConfig::answering`].
const ANSWERS: u64 = 100;
/// The most tasks of a run. A run keeps a note of each task.
const MOST_TASKS: u64 = 1 << 22;

/// Everything that decides what is measured. Its hash names the journal (the file of measurements).
#[derive(Clone, Debug, Serialize)]
pub(super) struct StealingConfig {
    #[serde(flatten)]
    pub(super) setup: Setup,
    /// The numbers of cores. Tasks of all lengths run on the first number.
    pub(super) cores: Vec<usize>,
    /// The lengths of tasks. Tasks of the first length run on all numbers of cores.
    pub(super) cycles: Vec<u64>,
    /// The mean number of tasks of a core.
    pub(super) tasks: usize,
    pub(super) disciplines: Vec<String>,
    pub(super) distributions: Vec<Distribution>,
}

impl StealingConfig {
    pub(super) fn new(request: &Request) -> anyhow::Result<Self> {
        let setup = Setup::new("stealing", request)?;
        let set = &request.settings;
        let distributions = set.list("distributions", str::parse)?;
        let mut cycles = match set.numbers("task-cycles") {
            Some(cycles) => cycles,
            None if request.full => vec![1_200, 12_000, CYCLES, 1_200_000],
            None => vec![CYCLES, 12_000, 1_200],
        };
        let mut cores = cores(&setup, request)?;
        first(&mut cycles, CYCLES);
        first(&mut cores, CORES);
        let config = Self {
            cores,
            cycles,
            tasks: set.number("tasks")?.unwrap_or(16) as usize,
            disciplines: disciplines_of(&request.only)?,
            distributions: distributions.unwrap_or_else(|| Distribution::ALL.to_vec()),
            setup,
        };
        let most = config.cores.iter().copied().max().unwrap_or(1);
        let tasks = [config.tasks as u64, most as u64];
        product("--set tasks: a core, by cores", &tasks, MOST_TASKS)?;
        let kinds = config.distributions.len() * config.disciplines.len();
        bounded(&[config.cycles.len() + config.cores.len(), kinds])?;
        Ok(config)
    }

    pub(super) fn case(
        &self,
        cores: usize,
        task_cycles: u64,
        distribution: Distribution,
        discipline: &str,
    ) -> StealingCase {
        StealingCase {
            cores,
            distribution,
            discipline: discipline.to_owned(),
            tasks: self.tasks * cores,
            task_cycles,
            answers_every: None,
            seed: self.setup.seed,
        }
    }

    /// Those disciplines of the thesis that are measured and in which workers answer requests for tasks.
    pub(super) fn offering(&self) -> impl Iterator<Item = &str> {
        let names = self.disciplines.iter().map(|name| &**name);
        names.filter(|name| ["offer-mutex", "offer-cas"].contains(name))
    }

    /// The case of the first length on the first number of cores, in which workers answer requests [`ANSWERS`] times in
    /// a task.
    pub(super) fn answering(&self, distribution: Distribution, discipline: &str) -> StealingCase {
        let (cores, task_cycles) = (self.cores[0], self.cycles[0]);
        let case = self.case(cores, task_cycles, distribution, discipline);
        let is_asked = self.offering().any(|name| name == discipline);
        StealingCase {
            answers_every: is_asked.then_some((task_cycles / ANSWERS).max(1)),
            ..case
        }
    }

    /// [`answering`](Self::answering), with so many tasks that a single task at the end makes no difference.
    fn with_many(&self, distribution: Distribution, discipline: &str) -> StealingCase {
        let case = self.answering(distribution, discipline);
        StealingCase {
            tasks: MANY * case.tasks,
            ..case
        }
    }

    /// Cases that may explain why this study finds the opposite of the thesis: answers within tasks, and many tasks.
    fn tried(&self) -> Vec<StealingCase> {
        let mut cases = Vec::new();
        for &distribution in &self.distributions {
            cases.extend((self.offering()).map(|name| self.answering(distribution, name)));
        }
        let has = |name: &&str| self.disciplines.iter().any(|one| one == name);
        let many = (MANY * self.tasks * self.cores[0]) as u64;
        if OPPOSITE.iter().all(has) && many <= MOST_TASKS {
            let swapped = self
                .distributions
                .iter()
                .filter(|one| SWAPPED.contains(one));
            for &distribution in swapped {
                cases.extend(OPPOSITE.map(|name| self.with_many(distribution, name)));
            }
        }
        cases
    }

    /// Pairs of a number of cores and a length of tasks. Only one of the two varies at a time.
    pub(super) fn star(&self) -> Vec<(usize, u64)> {
        let lengths = self.cycles.iter().map(|&cycles| (self.cores[0], cycles));
        let sizes = self.cores[1..].iter().map(|&cores| (cores, self.cycles[0]));
        lengths.chain(sizes).collect()
    }

    pub(super) fn star_cases(&self) -> Vec<StealingCase> {
        let mut cases = Vec::new();
        for (cores, cycles) in self.star() {
            for &distribution in &self.distributions {
                let names = self.disciplines.iter();
                cases.extend(names.map(|name| self.case(cores, cycles, distribution, name)));
            }
        }
        cases
    }

    pub(super) fn cases(&self) -> Vec<StealingCase> {
        let mut cases = self.star_cases();
        cases.extend(self.tried());
        cases
    }
}

/// The requested numbers of cores. Without a request, the number in the thesis, or all cores of a machine with a fixed
/// number.
fn cores(setup: &Setup, request: &Request) -> anyhow::Result<Vec<usize>> {
    let cpus = Topology::detect().usable().len();
    if !request.cores.is_empty() {
        let cores = setup.cores(request, CORES)?;
        // With more cores than CPUs, tasks would spend their time waiting for a CPU.
        return match cores
            .iter()
            .find(|&&cores| setup.machines.is_host() && cores > cpus)
        {
            Some(cores) => Err(bad_input(format!(
                "--cores {cores}: there are {cpus} CPUs; expected at most as many"
            ))),
            None => Ok(cores),
        };
    }
    Ok(match setup.chip() {
        Some(chip) if chip.scales() && request.full => vec![16, CORES, 256, 1024],
        Some(chip) if chip.scales() => vec![CORES],
        Some(chip) => vec![chip.cores()],
        None => vec![cpus],
    })
}

/// Moves `value` to the front, if `values` contains it.
fn first<T: PartialEq>(values: &mut [T], value: T) {
    if let Some(at) = values.iter().position(|known| *known == value) {
        values[..=at].rotate_right(1);
    }
}

/// The disciplines in `names`, or all if there are none.
pub(in crate::study) fn disciplines_of(names: &[String]) -> anyhow::Result<Vec<String>> {
    let all = disciplines();
    if let Some(name) = names.iter().find(|name| !all.contains(&&***name)) {
        return Err(bad_input(format!(
            "--only: unknown discipline `{name}`; expected some of {}",
            all.join(", ")
        )));
    }
    let wanted = |name: &&str| names.is_empty() || names.iter().any(|one| one == name);
    Ok(all.into_iter().filter(wanted).map(str::to_owned).collect())
}
