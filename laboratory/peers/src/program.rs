//! What the programs of this workspace have in common: how they end, names that a user may choose
//! from, and visits to a peer, each a process of its own.

use anyhow::{Context, Result, anyhow, bail};
use clap::Parser;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Write;
use std::process::{Command, ExitCode, Stdio, Termination};

/// A program's `main`: reads its arguments and runs it. If that fails the process says why on
/// standard error, and its status is 2.
pub fn main<A: Parser, T: Termination>(run: impl FnOnce(A) -> Result<T>) -> ExitCode {
    match run(A::parse()) {
        Ok(done) => done.report(),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// What a program says first if it was built without optimisation.
pub fn unoptimised() -> Option<&'static str> {
    cfg!(debug_assertions).then_some("built without --release: the Rust peers' figures mean little")
}

/// Refuses a name in `asked` that is not in `known`.
///
/// # Errors
///
/// The `flag`, the name, what `kind` of thing it should be, and all that there are.
pub fn all_known(flag: &str, kind: &str, asked: &[String], known: &[&str]) -> Result<()> {
    match asked.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(unknown) => bail!(
            "{flag}: there is no {kind} `{unknown}`; expected some of {}",
            known.join(", ")
        ),
    }
}

/// Starts this program again as the process of `peer`, with `arguments` after `--child PEER`, and
/// returns what [`answer`] says there. A process of its own keeps threads that spin, or outlive
/// their team, away from the next peer.
///
/// # Errors
///
/// What that process says, or that it died.
pub fn visit<T: DeserializeOwned>(peer: &str, arguments: &[&str]) -> Result<T> {
    let output = Command::new(std::env::current_exe()?)
        .args(["--child", peer])
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start the process of {peer}"))?;
    if !output.status.success() {
        bail!("its process ended early: {}", output.status);
    }
    let answer: Result<T, String> = serde_json::from_slice(&output.stdout)?;
    answer.map_err(|why| anyhow!(why))
}

/// Tells the process that made the [`visit`] what was measured, or why nothing was.
///
/// # Errors
///
/// When it cannot be written.
pub fn answer<T: Serialize>(measured: Result<T>) -> Result<()> {
    let answer = measured.map_err(|error| format!("{error:#}"));
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, &answer)?;
    Ok(out.flush()?)
}
