//! The benchmark of Park's thesis (2013, section 6.2.1): independent tasks of one length begin in
//! the workers' piles. A run ends when workers have run, or stolen and run, all tasks.

use crate::tasks::{self, Task};
use anyhow::{Result, ensure};
use manycore_programs::stealing::Distribution;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// The tasks of each worker, and the times of the present run. Several runs may use them, one after the other.
pub struct Piles {
    /// The tasks of each worker.
    own: Vec<Range<usize>>,
    /// Dependent multiplications of each task.
    steps: Vec<u32>,
    clock: Instant,
    /// The number of arrivals at meetings in this run.
    met: AtomicUsize,
    /// The time when the last pile was filled, in nanoseconds of `clock`.
    begin: AtomicU64,
    /// The time when each task ended, and how often it ran.
    ends: Vec<AtomicU64>,
    runs: Vec<AtomicU32>,
}

impl Piles {
    /// Makes `tasks_each` tasks for each worker on average, with equal numbers of multiplications.
    pub fn new(shape: Distribution, workers: usize, tasks_each: usize, steps: u32) -> Self {
        let tasks = workers * tasks_each;
        let mut first = 0;
        let shares = shape.shares(tasks, workers, 1).into_iter();
        let own = shares.map(|share| {
            first += share;
            first - share..first
        });
        Self {
            own: own.collect(),
            steps: vec![steps; tasks],
            clock: Instant::now(),
            met: AtomicUsize::new(0),
            begin: AtomicU64::new(0),
            ends: (0..tasks).map(|_| AtomicU64::new(0)).collect(),
            runs: (0..tasks).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    pub fn workers(&self) -> usize {
        self.own.len()
    }

    /// Calls `put` with the worker's own tasks. Returns after all workers have filled their piles.
    /// Each worker calls this before it runs tasks, so no task runs before all piles are full.
    pub fn fill(&self, rank: usize, put: impl FnOnce(Range<usize>)) {
        self.meet(1);
        put(self.own[rank].clone());
        // Relaxed, as all below: the times are read after all workers have ended.
        self.begin.fetch_max(self.now(), Ordering::Relaxed);
        self.meet(2);
    }

    /// Waits until all workers have arrived at this meeting.
    fn meet(&self, meeting: usize) {
        let all = meeting * self.workers();
        self.met.fetch_add(1, Ordering::AcqRel);
        let mut looks = 0_u32;
        while self.met.load(Ordering::Acquire) < all {
            looks += 1;
            match looks % 1_000 {
                // There may be more workers than CPUs.
                0 => std::thread::yield_now(),
                _ => std::hint::spin_loop(),
            }
        }
    }

    /// Runs a task.
    pub fn run(&self, number: usize) {
        self.task().run(number);
        self.runs[number].fetch_add(1, Ordering::Relaxed);
        self.ends[number].store(self.now(), Ordering::Relaxed);
    }

    /// Runs all tasks on this thread. Returns the nanoseconds.
    pub fn serial(&mut self) -> f64 {
        let begin = self.now();
        (0..self.steps.len()).for_each(|number| self.run(number));
        let end = self.now();
        self.runs.iter_mut().for_each(|runs| *runs.get_mut() = 0);
        (end - begin) as f64
    }

    /// Nanoseconds from the filling of the last pile to the end of the last task. Prepares the
    /// piles for the next run.
    ///
    /// # Errors
    ///
    /// If a task was not run exactly once.
    pub fn outcome(&mut self) -> Result<f64> {
        for (number, runs) in self.runs.iter_mut().enumerate() {
            let runs = std::mem::take(runs.get_mut());
            ensure!(runs == 1, "task {number} was run {runs} times");
        }
        let ends = self.ends.iter_mut().map(|end| *end.get_mut());
        let end = ends.max().unwrap_or(0);
        *self.met.get_mut() = 0;
        let begin = std::mem::take(self.begin.get_mut());
        Ok((end - begin) as f64)
    }

    fn task(&self) -> Task<'_> {
        tasks::steps(&self.steps)
    }

    fn now(&self) -> u64 {
        self.clock.elapsed().as_nanos() as u64
    }
}
