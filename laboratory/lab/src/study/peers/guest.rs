//! One run of a peer's binary on a simulated machine.

use super::case::PeersCase;
use super::output;
use super::peer::{self, Libraries, SYSROOT};
use super::sample::PeersSample;
use crate::streams::Captured;
use crate::study::order;
use crate::study::trial::{Machines, Trial};
use anyhow::bail;
use manycore::topology::Topology;
use manycore_chip::Simulation;
use manycore_riscv::{Outcome, Program};
use std::path::Path;

/// The longest reason of a failed run, in characters.
const LONGEST_REASON: usize = 200;

impl Trial for PeersCase {
    type Sample = PeersSample;

    fn cores(&self) -> usize {
        self.threads
    }

    fn simulate(&self, machines: &Machines) -> anyhow::Result<(PeersSample, u64)> {
        Ok(run(self, machines))
    }

    fn run_here(&self, _topology: &Topology, _pinned: bool) -> anyhow::Result<PeersSample> {
        bail!("the binaries are for RISC-V")
    }
}

/// Runs the binary. Returns its sample and the simulation's fingerprint. The sample of a failed run has a reason.
fn run(case: &PeersCase, machines: &Machines) -> (PeersSample, u64) {
    match attempt(case, machines) {
        Ok(found) => found,
        Err(reason) => {
            let line = reason.lines().next().unwrap_or("no reason");
            // The rest of the line lists all threads. It is too long for a table.
            let line = line.split(": thread").next().unwrap_or(line);
            let reason = line.chars().take(LONGEST_REASON).collect();
            let sample = PeersSample {
                reason: Some(reason),
                ..PeersSample::default()
            };
            (sample, 0)
        }
    }
}

fn attempt(case: &PeersCase, machines: &Machines) -> Result<(PeersSample, u64), String> {
    let chip = order::machine(&machines.0[case.machine], case.order).0;
    let peer = peer::find(&case.peer)?;
    let files = peer.files(&case.folder);
    let numbers = [case.threads, case.steady, case.gaps];
    let mut program = Program::new(&files[0]).argument(&case.program);
    for number in numbers {
        program = program.argument(number.to_string());
    }
    for variable in peer.environment {
        program = program.environment(*variable);
    }
    for library in &files[1..] {
        program = program.environment(format!("LD_PRELOAD={library}"));
    }
    match peer.libraries {
        Libraries::None => (),
        Libraries::Root => program = program.root(&case.root),
        Libraries::Sysroot => program = program.root(Path::new(&case.folder).join(SYSROOT)),
    }
    let (output, error) = (Captured::default(), Captured::default());
    let limit = case.limit_ms as f64 * chip.ghz * 1e6;
    let simulation = Simulation::new(&chip).limit(limit as u64);
    let outcome = program
        .streams(output.clone(), error.clone())
        .run(simulation)
        .map_err(|error| error.to_string())?;
    let [output, error] = [output, error].map(|stream| {
        let bytes = stream.take();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let hash = outcome
        .timing
        .as_ref()
        .map(|timing| timing.run.statistics.hash);
    match failure(&outcome) {
        None => Ok((output::parse(&output)?, hash.unwrap_or(0))),
        Some(status) => {
            let told = [output, error].concat();
            let last = told.lines().last().unwrap_or_default();
            Err(format!("{status}: {last}")
                .trim_end_matches(": ")
                .to_owned())
        }
    }
}

/// Returns how the program failed, or `None` if it succeeded.
fn failure(outcome: &Outcome) -> Option<String> {
    match (&outcome.message, outcome.status) {
        (Some(message), _) => Some(message.clone()),
        (None, 0) => None,
        (None, status) => Some(format!("status {status}")),
    }
}
