//! One visit to a contestant: a process of its own, so that threads that spin or are
//! kept after their team has gone, as OpenMP's are, never meet the next one, and
//! libgomp and libomp, which export the same names, never meet at all.

use crate::contestant;
use crate::session::{Plan, Session};
use anyhow::Result;
use manycore_peers::program;
use serde::{Deserialize, Serialize};
use std::time::Duration;

const PLAN: Plan = Plan {
    warm_up: Duration::from_millis(20),
    sampling: Duration::from_millis(60),
    sample: Duration::from_millis(1),
};

#[derive(Serialize, Deserialize)]
pub struct Visit {
    /// If `Cargo.lock` does not name it.
    pub version: Option<String>,
    /// Nanoseconds an episode, one a sample.
    pub samples: Vec<f64>,
}

/// Measures in a process of its own.
///
/// # Errors
///
/// What that process says, or that it died.
pub fn visit(name: &str, threads: usize) -> Result<Visit> {
    program::visit(name, &["--threads", &threads.to_string()])
}

/// What that process does.
///
/// # Errors
///
/// When it cannot answer.
pub fn answer(name: &str, threads: usize) -> Result<()> {
    program::answer(measure(name, threads))
}

fn measure(name: &str, threads: usize) -> Result<Visit> {
    let contestant = contestant::find(name)?;
    let session = Session::new(threads, PLAN);
    let version = contestant.run(threads, &|rank, member| session.take_part(rank, member))?;
    let samples = session.into_samples()?;
    Ok(Visit { version, samples })
}
