//! One run of the benchmark: independent tasks of one length, and the workers that do them (Park
//! 2013, section 6.2.1).

use crate::instrument;
use crate::study::trial::{Binding, Machines, Trial, pass_until};
use anyhow::{anyhow, bail};
use manycore::Native;
use manycore::topology::Topology;
use manycore_chip::{Broadcast, Simulated, Simulation};
use manycore_platform::Platform;
use manycore_programs::barrier::{Barrier, DisseminationBarrier};
use manycore_programs::stealing::Distribution;
use manycore_programs::stealing::{
    Counts, Discipline, DisciplineVisitor, Task, TaskDeque, with_discipline,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StealingCase {
    pub(super) cores: usize,
    pub(super) distribution: Distribution,
    pub(super) discipline: String,
    pub(super) tasks: usize,
    /// The length of each task in cycles or, in native runs, in ns.
    pub(super) task_cycles: u64,
    /// Time between answers to requests within a task. If `None`, workers answer only between tasks.
    pub(super) answers_every: Option<u64>,
    pub(super) seed: u64,
}

/// The result. Times are in cycles or ns from the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct StealingSample {
    /// When the last task ended.
    pub(super) makespan: f64,
    /// When the last worker knew that all tasks had ended.
    pub(super) over: f64,
    pub(super) steals: u64,
    pub(super) attempts: u64,
    pub(super) sent: u64,
    pub(super) received: u64,
}

impl StealingCase {
    /// The time of all tasks, divided by the number of cores.
    pub(super) fn ideal(&self) -> f64 {
        self.tasks as f64 * self.task_cycles as f64 / self.cores as f64
    }

    fn run<P: Broadcast>(
        &self,
        binding: &Binding,
        per_unit: f64,
        cpi: f64,
    ) -> anyhow::Result<StealingBooks> {
        let ticks = |units: u64| (units as f64 * per_unit) as u64;
        let ticks_of_task = ticks(self.task_cycles);
        let team = StealingTeam {
            case: self,
            binding,
            work: TaskWork {
                ticks: ticks_of_task,
                bout: self.answers_every.map_or(ticks_of_task, ticks).max(1),
                cpi,
            },
        };
        with_discipline::<P, _>(&self.discipline, team)?
    }
}

impl Trial for StealingCase {
    type Sample = StealingSample;

    fn cores(&self) -> usize {
        self.cores
    }

    fn simulate(&self, machines: &Machines) -> anyhow::Result<(StealingSample, u64)> {
        let chip = machines.build(0, self.cores, &[])?;
        let binding = Binding::on_chip(&chip, self.cores);
        let cpi = chip.0.core.cpi;
        let program = || self.run::<Simulated>(&binding, 1.0, cpi)?.outcome(1.0);
        let run = instrument::run(Simulation::new(&chip.0), self, program);
        let run = run.map_err(|error| anyhow!("{error}"))?;
        Ok((run.value?, run.statistics.hash))
    }

    fn run_here(&self, topology: &Topology, pinned: bool) -> anyhow::Result<StealingSample> {
        let binding = Binding::on_host(topology, self.cores, pinned);
        let rate = Native::ticks_per_ns();
        self.run::<Native>(&binding, rate, 1.0)?.outcome(1.0 / rate)
    }
}

impl fmt::Display for StealingCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {} cores, {} tasks of {}, {}",
            self.distribution, self.cores, self.tasks, self.task_cycles, self.discipline
        )?;
        match self.answers_every {
            Some(units) => write!(f, " that answers every {units}"),
            None => Ok(()),
        }
    }
}

#[derive(Clone, Copy)]
struct TaskWork {
    ticks: u64,
    /// Ticks between answers to requests.
    bout: u64,
    cpi: f64,
}

struct StealingTeam<'a> {
    case: &'a StealingCase,
    binding: &'a Binding,
    work: TaskWork,
}

/// The workers' notes, which take no simulated time.
struct StealingBooks {
    /// How often each task ran.
    runs: Vec<u32>,
    /// When the first worker began.
    begin: u64,
    done: u64,
    over: u64,
    counts: Counts,
    workers: usize,
}

impl StealingBooks {
    /// Checks that each task ran once. A tick counts as `scale` units.
    fn outcome(&self, scale: f64) -> anyhow::Result<StealingSample> {
        if self.workers > 0 {
            bail!("a worker panicked");
        }
        if self.runs.iter().any(|&runs| runs != 1) {
            bail!("a task was not done exactly once");
        }
        let since = |tick: u64| tick.saturating_sub(self.begin) as f64 * scale;
        Ok(StealingSample {
            makespan: since(self.done),
            over: since(self.over),
            steals: self.counts.steals,
            attempts: self.counts.attempts,
            sent: self.counts.sent,
            received: self.counts.received,
        })
    }
}

impl<P: Platform> DisciplineVisitor<P> for StealingTeam<'_> {
    type Output = anyhow::Result<StealingBooks>;

    fn visit<D: Discipline<P>>(self) -> Self::Output {
        let (case, binding) = (self.case, self.binding);
        let table = Arc::new(StealingShared {
            discipline: D::new(&binding.placement, case.seed),
            start: DisseminationBarrier::<P>::new(&binding.placement),
            work: self.work,
            books: Mutex::new(StealingBooks {
                runs: vec![0; case.tasks],
                begin: u64::MAX,
                done: 0,
                over: 0,
                counts: Counts::default(),
                workers: case.cores,
            }),
        });
        let shares = case.distribution.shares(case.tasks, case.cores, case.seed);
        let (mut shares, mut first, shared) = (shares.into_iter(), 0, &table);
        binding.run::<P, _>(case.cores, move |rank| {
            let mine = first..first + shares.next().unwrap_or(0);
            first = mine.end;
            let table = Arc::clone(shared);
            move || table.work(rank, mine)
        })?;
        let mut books = table
            .books
            .lock()
            .unwrap_or_else(|error| error.into_inner());
        // The notes are taken out of the shared data.
        Ok(StealingBooks {
            runs: std::mem::take(&mut books.runs),
            ..*books
        })
    }
}

struct StealingShared<P: Platform, D> {
    discipline: D,
    start: DisseminationBarrier<P>,
    work: TaskWork,
    books: Mutex<StealingBooks>,
}

impl<P: Platform, D: Discipline<P>> StealingShared<P, D> {
    /// Runs worker `rank`, which begins with the tasks `mine`.
    fn work(&self, rank: usize, mine: Range<usize>) {
        let mut pile = self.discipline.deque(rank);
        let mut start = self.start.member(rank);
        pile.fill(mine.filter_map(|number| Task::new(number as u64 + 1)));
        // Waits until all piles are filled.
        self.start.wait(&mut start);
        let begin = P::now();
        let (mut ran, mut done) = (Vec::new(), begin);
        while let Some(task) = pile.get() {
            done = self.run(&mut pile);
            ran.push(task.get() as usize - 1);
        }
        let over = P::now();
        let mut books = self.books.lock().unwrap_or_else(|error| error.into_inner());
        books.begin = books.begin.min(begin);
        books.done = books.done.max(done);
        books.over = books.over.max(over);
        books.counts = books.counts + pile.counts();
        books.workers -= 1;
        ran.into_iter().for_each(|number| books.runs[number] += 1);
    }

    /// Runs one task, with answers to requests. Returns the time at which the task ended.
    fn run(&self, pile: &mut D::Deque) -> u64 {
        let TaskWork { ticks, bout, cpi } = self.work;
        let begin = P::now();
        let end = begin + ticks;
        let mut pause = begin + bout;
        while pause < end {
            pass_until::<P>(pause, cpi);
            pile.process_pending_requests();
            pause = P::now() + bout;
        }
        pass_until::<P>(end, cpi);
        P::now()
    }
}
