//! One visit to a contestant: a process of its own, so that threads that spin or are
//! kept after their team has gone, as OpenMP's are, never meet the next one, and
//! libgomp and libomp, which export the same names, never meet at all.

use crate::contestant;
use crate::session::{Plan, Session};
use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use std::process::{Command, Stdio};
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
    let output = Command::new(std::env::current_exe()?)
        .args(["--child", name, "--threads", &threads.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start the process of {name}"))?;
    if !output.status.success() {
        bail!("its process ended early: {}", output.status);
    }
    let answer: Result<Visit, String> = serde_json::from_slice(&output.stdout)?;
    answer.map_err(|why| anyhow!(why))
}

/// What that process does.
///
/// # Errors
///
/// When it cannot answer.
pub fn answer(name: &str, threads: usize) -> Result<()> {
    let answer = measure(name, threads).map_err(|error| format!("{error:#}"));
    serde_json::to_writer(std::io::stdout(), &answer)?;
    Ok(())
}

fn measure(name: &str, threads: usize) -> Result<Visit> {
    let contestant = contestant::find(name)?;
    let session = Session::new(threads, PLAN);
    let version = contestant.run(threads, &|rank, member| session.take_part(rank, member))?;
    let samples = session.into_samples()?;
    Ok(Visit { version, samples })
}
