//! The benchmark of Park's thesis (2013, section 6.2.1): independent tasks of one length, each in
//! the pile of one worker at first. It is over when all are done, by whoever stole them.

use crate::tasks::{self, Task};
use anyhow::{Result, ensure};
use manycore_programs::stealing::Distribution;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Tasks and where they are at first, for one run after the other.
pub struct Piles {
    /// The tasks of each worker.
    own: Vec<Range<usize>>,
    /// Dependent multiplications of each task.
    steps: Vec<u32>,
    clock: Instant,
    /// Workers that have come to a meeting of a run.
    met: AtomicUsize,
    /// Nanoseconds of the clock when the last pile was full.
    begin: AtomicU64,
    /// Those when each task was done, and how often it was.
    ends: Vec<AtomicU64>,
    runs: Vec<AtomicU32>,
}

impl Piles {
    /// `tasks_each` tasks a worker on average, with equal numbers of multiplications.
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

    /// A worker's part before the tasks run: it calls `put` with its own. No worker runs a task
    /// before all have come and put theirs, since each is in here until then.
    pub fn fill(&self, rank: usize, put: impl FnOnce(Range<usize>)) {
        self.meet(1);
        put(self.own[rank].clone());
        // Relaxed, as all below: the reader of the times has waited for all workers.
        self.begin.fetch_max(self.now(), Ordering::Relaxed);
        self.meet(2);
    }

    /// Waits until all have come to the meeting of that number.
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

    /// Nanoseconds that all tasks take one thread.
    pub fn serial(&mut self) -> f64 {
        let begin = self.now();
        (0..self.steps.len()).for_each(|number| self.run(number));
        let end = self.now();
        self.runs.iter_mut().for_each(|runs| *runs.get_mut() = 0);
        (end - begin) as f64
    }

    /// Nanoseconds from when the last pile was full until the last task was done; the piles are ready
    /// for the next run.
    ///
    /// # Errors
    ///
    /// When a task was not run exactly once.
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
