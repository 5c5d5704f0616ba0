//! Visits to a peer. Each visit is a process: this program, as `peers child`.
//!
//! So threads that spin, or outlive their team, cannot disturb the next peer. libgomp and libomp,
//! which export the same names, are never in one process.

use anyhow::{Context, Result, anyhow, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Write;
use std::process::{Command, Stdio};

/// The command of a process of `peer`, which carries out an `order` of `contest`.
///
/// # Errors
///
/// If the system does not know the path of this program.
pub fn of_peer(contest: &str, peer: &str, order: &str) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["child", contest, peer, order]);
    Ok(command)
}

/// Starts a process of `peer`, and returns the result that [`answer`] sends from there.
///
/// # Errors
///
/// The error that the process reports, or its early end.
pub fn visit<T: DeserializeOwned>(contest: &str, peer: &str, order: &impl Serialize) -> Result<T> {
    let output = of_peer(contest, peer, &serde_json::to_string(order)?)?
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start the process of {peer}"))?;
    if !output.status.success() {
        bail!("the process ended early: {}", output.status);
    }
    let answer: Result<T, String> = serde_json::from_slice(&output.stdout)?;
    answer.map_err(|why| anyhow!(why))
}

/// Carries out the `order` of a [`visit`], and sends the measurements, or the error, to the calling
/// process.
///
/// # Errors
///
/// If the order cannot be read, or the answer cannot be written.
pub fn answer<O: DeserializeOwned, T: Serialize>(
    peer: &str,
    order: &str,
    measure: impl FnOnce(&str, O) -> Result<T>,
) -> Result<()> {
    say(measure(peer, serde_json::from_str(order)?))
}

/// Writes an answer to standard output.
///
/// # Errors
///
/// If it cannot be written.
pub fn say<T: Serialize>(measured: Result<T>) -> Result<()> {
    let answer = measured.map_err(|error| format!("{error:#}"));
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, &answer)?;
    Ok(out.flush()?)
}
