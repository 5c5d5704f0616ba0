//! The thesis's benchmark of work stealing (Park 2013, section 6.2.1): independent tasks of one
//! length, and five distributions at the beginning.

use manycore_chip::config::Config;
use manycore_chip::{Run, Simulated, Simulation, SimulationError};
use manycore_platform::{Platform, ThreadSpec};
use manycore_programs::stealing::{
    Counts, Discipline, DisciplineVisitor, Task, TaskDeque, with_discipline,
};
use manycore_team::barrier::Placement;
use std::sync::{Arc, Mutex};

/// The distribution of tasks at the beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Distribution {
    /// All tasks are on core 0.
    TotalSkew,
    /// The tasks are spread evenly over the first half of the cores.
    Half,
    /// The tasks are spread evenly over the first quarter of the cores.
    Quarter,
    /// The tasks are spread evenly over all cores.
    Even,
    /// The number of tasks on each core is a normal variable. Its standard deviation is half the mean, which the thesis
    /// does not give.
    Random,
}

impl Distribution {
    pub(crate) const ALL: [Self; 5] = [
        Self::TotalSkew,
        Self::Half,
        Self::Quarter,
        Self::Even,
        Self::Random,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TotalSkew => "total-skew",
            Self::Half => "half",
            Self::Quarter => "quarter",
            Self::Even => "even",
            Self::Random => "random",
        }
    }

    /// How many of `tasks` each of `cores` has.
    pub(crate) fn counts(self, cores: usize, tasks: usize, seed: u64) -> Vec<usize> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let weight = |core| match self {
            Self::TotalSkew => u64::from(core == 0),
            Self::Half => u64::from(core < cores.div_ceil(2)),
            Self::Quarter => u64::from(core < cores.div_ceil(4)),
            Self::Even => 1,
            // The sum of 12 uniform variables is normal to three standard deviations. It is in whole numbers, so that
            // it is the same on every host.
            Self::Random => {
                let sum: i64 = (0..12).map(|_| rng.i64(0..=1_000)).sum();
                (2 * 1_000 + (sum - 6 * 1_000)).max(0) as u64
            }
        };
        let weights: Vec<u64> = (0..cores).map(weight).collect();
        // The counts are rounded so that they add up to `tasks`.
        let total: u64 = weights.iter().sum();
        let mut sum = 0;
        let upto = |sum| (sum * tasks as u64 / total) as usize;
        let count = |weight| {
            let before = upto(sum);
            sum += weight;
            upto(sum) - before
        };
        weights.into_iter().map(count).collect()
    }
}

/// One run of the benchmark.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Benchmark {
    pub(crate) cores: usize,
    pub(crate) tasks: usize,
    /// Cycles of each task.
    pub(crate) cycles: u64,
    /// The number of parts of a task. Between two parts, the worker answers requests.
    pub(crate) parts: u64,
    pub(crate) distribution: Distribution,
    pub(crate) seed: u64,
}

/// The results of a run. Times are from the common start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// When the last task was done.
    pub(crate) done: u64,
    /// When the last worker knew that all tasks were done.
    pub(crate) over: u64,
    /// How often each task was run.
    pub(crate) runs: Vec<u32>,
    /// The number of tasks that each worker ran.
    pub(crate) shares: Vec<usize>,
    /// The counts of all workers.
    pub(crate) counts: Counts,
    /// Writes to the word by which the workers detect the end.
    pub(crate) census: u64,
}

/// The cycle at which the benchmark begins. By then all piles are filled.
const START: u64 = 4_000_000;

impl Benchmark {
    /// Runs the benchmark on the first cores of `machine`, at one cycle an instruction.
    pub(crate) fn run(
        self,
        machine: &Config,
        discipline: &str,
    ) -> Result<Run<Outcome>, SimulationError> {
        Simulation::new(machine).limit(1 << 40).run(|| {
            with_discipline::<Simulated, _>(discipline, self).unwrap_or_else(|no| panic!("{no}"))
        })
    }

    /// The cycles of all tasks, divided by the cores.
    pub(crate) fn ideal(self) -> f64 {
        self.tasks as f64 * self.cycles as f64 / self.cores as f64
    }
}

impl DisciplineVisitor<Simulated> for Benchmark {
    type Output = Outcome;

    fn visit<D: Discipline<Simulated>>(self) -> Outcome {
        let discipline = Arc::new(D::new(&Placement::flat(self.cores), self.seed));
        let outcome = Arc::new(Mutex::new(Outcome {
            done: 0,
            over: 0,
            runs: vec![0; self.tasks],
            shares: vec![0; self.cores],
            counts: Counts::default(),
            census: 0,
        }));
        let mut first = 0;
        let counts = self.distribution.counts(self.cores, self.tasks, self.seed);
        let member = |(core, count): (usize, usize)| {
            let (discipline, outcome) = (Arc::clone(&discipline), Arc::clone(&outcome));
            let mine = first..first + count;
            first += count;
            let spec = ThreadSpec {
                name: format!("core {core}"),
                cpus: vec![core],
                ..ThreadSpec::default()
            };
            let body = move || self.work(&mut discipline.deque(core), core, mine, &outcome);
            Simulated::spawn(spec, Box::new(body)).expect("the machine has the core")
        };
        let team: Vec<_> = counts.into_iter().enumerate().map(member).collect();
        team.into_iter().for_each(Simulated::join);
        let mut outcome = outcome.lock().unwrap();
        let lines = Simulated::named_lines();
        let census = (lines.iter()).filter(|line| line.names.iter().any(|name| name == "census"));
        outcome.census = census.map(|line| line.writes).sum();
        outcome.clone()
    }
}

impl Benchmark {
    fn work(
        self,
        pile: &mut impl TaskDeque<Simulated>,
        core: usize,
        mine: std::ops::Range<usize>,
        outcome: &Mutex<Outcome>,
    ) {
        pile.fill(mine.map(|number| Task::new(number as u64 + 1).unwrap()));
        assert!(
            Simulated::now() < START,
            "the piles are not filled by the start"
        );
        Simulated::compute(START - Simulated::now());
        let (mut ran, mut done) = (Vec::new(), START);
        while let Some(task) = pile.get() {
            Simulated::compute(self.cycles / self.parts);
            for _ in 1..self.parts {
                pile.process_pending_requests();
                Simulated::compute(self.cycles / self.parts);
            }
            ran.push(task.get() as usize - 1);
            done = Simulated::now();
        }
        let over = Simulated::now();
        // The standard library's mutex takes no simulated time, so recording costs the benchmark nothing.
        let mut outcome = outcome.lock().unwrap();
        outcome.done = outcome.done.max(done - START);
        outcome.over = outcome.over.max(over - START);
        outcome.shares[core] = ran.len();
        ran.into_iter().for_each(|number| outcome.runs[number] += 1);
        outcome.counts = outcome.counts + pile.counts();
    }
}
