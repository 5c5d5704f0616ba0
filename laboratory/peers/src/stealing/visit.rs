//! One visit to a contestant: a process of its own, so that threads that spin or are kept never
//! meet the next one.

use crate::contestants;
use crate::piles::Piles;
use anyhow::Result;
use manycore_peers::program;
use manycore_programs::stealing::Distribution;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// For how long it is measured, and at least how many runs.
const SAMPLING: Duration = Duration::from_millis(100);
const FEWEST: usize = 5;
/// Runs that do not count.
const WARM_UP: usize = 3;

/// What is run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Cell {
    pub threads: usize,
    pub shape: Distribution,
    /// Tasks a thread, on average.
    pub tasks: usize,
    /// Dependent multiplications of a task.
    pub steps: u32,
}

/// Measures in a process of its own: each run's time over the ideal one.
///
/// # Errors
///
/// What that process says, or that it died.
pub fn visit(name: &str, cell: Cell) -> Result<Vec<f64>> {
    program::visit(name, &["--cell", &serde_json::to_string(&cell)?])
}

/// What that process does.
///
/// # Errors
///
/// When it cannot answer.
pub fn answer(name: &str, cell: &str) -> Result<()> {
    program::answer(measure(name, serde_json::from_str(cell)?))
}

fn measure(name: &str, cell: Cell) -> Result<Vec<f64>> {
    let mut contestant = contestants::open(name, cell.threads)?;
    let mut piles = Piles::new(cell.shape, cell.threads, cell.tasks, cell.steps);
    let cpus = std::thread::available_parallelism()?.get();
    let cores = cell.threads.min(cpus) as f64;
    let mut ratios = Vec::new();
    let end = Instant::now() + SAMPLING;
    while ratios.len() < WARM_UP + FEWEST || Instant::now() < end {
        // Just before, so that both have the machine at the same speed.
        let ideal = piles.serial() / cores;
        contestant.run(&piles)?;
        ratios.push(piles.outcome()? / ideal);
    }
    Ok(ratios.split_off(WARM_UP))
}
