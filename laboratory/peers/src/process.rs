//! Visits to a peer, each a process of its own: this program again, as `peers child`.
//!
//! Threads that spin, or outlive their team, so never meet the next peer, and libgomp and libomp,
//! which export the same names, never meet at all.

use anyhow::{Context, Result, anyhow, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Write;
use std::process::{Command, Stdio};

/// This program as a process of `peer`, which does what `contest` does with `order`.
///
/// # Errors
///
/// When the system does not say which program this is.
pub fn of_peer(contest: &str, peer: &str, order: &str) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["child", contest, peer, order]);
    Ok(command)
}

/// Starts a process of `peer`, and returns what [`answer`] says there.
///
/// # Errors
///
/// The error of that process, or its death.
pub fn visit<T: DeserializeOwned>(contest: &str, peer: &str, order: &impl Serialize) -> Result<T> {
    let output = of_peer(contest, peer, &serde_json::to_string(order)?)?
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start the process of {peer}"))?;
    if !output.status.success() {
        bail!("its process ended early: {}", output.status);
    }
    let answer: Result<T, String> = serde_json::from_slice(&output.stdout)?;
    answer.map_err(|why| anyhow!(why))
}

/// Carries out the `order` of a [`visit`], and reports the measurements, or the reason why there
/// are none, to the calling process.
///
/// # Errors
///
/// When the order cannot be read, or the answer not written.
pub fn answer<O: DeserializeOwned, T: Serialize>(
    peer: &str,
    order: &str,
    measure: impl FnOnce(&str, O) -> Result<T>,
) -> Result<()> {
    say(measure(peer, serde_json::from_str(order)?))
}

/// Writes an answer.
///
/// # Errors
///
/// When that cannot be done.
pub fn say<T: Serialize>(measured: Result<T>) -> Result<()> {
    let answer = measured.map_err(|error| format!("{error:#}"));
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, &answer)?;
    Ok(out.flush()?)
}
