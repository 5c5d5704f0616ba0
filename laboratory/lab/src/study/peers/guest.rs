//! One run of a peer's binary, on a simulated machine or on this host.

use super::case::PeersCase;
use super::output;
use super::peer::{self, Libraries, SYSROOT};
use super::sample::PeersSample;
use crate::streams::Captured;
use crate::study::order;
use crate::study::spawn::Run;
use crate::study::trial::{Machines, Trial};
use manycore::topology::Topology;
use manycore_chip::Simulation;
use manycore_riscv::{Outcome, Program};
use std::path::Path;
use std::time::Duration;

/// The longest reason of a failed run, in characters.
const LONGEST_REASON: usize = 200;

impl Trial for PeersCase {
    type Sample = PeersSample;

    fn cores(&self) -> usize {
        self.threads
    }

    fn simulate(&self, machines: &Machines) -> anyhow::Result<(PeersSample, u64)> {
        match simulate(self, machines) {
            Ok(found) => Ok(found),
            Err(reason) => Ok((sample_of(Err(reason)), 0)),
        }
    }

    fn run_here(&self, topology: &Topology, _pinned: bool) -> anyhow::Result<PeersSample> {
        Ok(sample_of(run_natively(self, &topology.compact_order())))
    }
}

/// Returns the sample of a run. The sample of a failed run has a reason.
fn sample_of(found: Result<PeersSample, String>) -> PeersSample {
    found.unwrap_or_else(|reason| {
        let line = reason.lines().next().unwrap_or("no reason");
        // The rest of the line lists all threads. It is too long for a table.
        let line = line.split(": thread").next().unwrap_or(line);
        PeersSample {
            reason: Some(line.chars().take(LONGEST_REASON).collect()),
            ..PeersSample::default()
        }
    })
}

/// Runs the binary on the first of `cpus`, a CPU for each thread if there are enough CPUs.
fn run_natively(case: &PeersCase, cpus: &[usize]) -> Result<PeersSample, String> {
    let peer = peer::find(&case.peer)?;
    let files = peer.files(&case.folder);
    // The program starts in its own folder.
    let absolute =
        |file: &String| std::path::absolute(file).map_err(|error| format!("{file}: {error}"));
    let mut variables = Vec::new();
    for library in &files[1..] {
        variables.push(("LD_PRELOAD", absolute(library)?.display().to_string()));
    }
    let environment = peer.environment.iter();
    variables.extend(environment.map(|(name, value)| (*name, (*value).to_owned())));
    let ended = Run {
        program: &absolute(&files[0])?,
        arguments: &arguments(case),
        variables: &variables,
        cpus: &cpus[..case.threads.min(cpus.len())],
        limit: Duration::from_millis(case.limit_ms),
    }
    .to_its_end()
    .map_err(|error| format!("{error:#}"))?;
    match (ended.timed_out, ended.succeeded) {
        (true, _) => Err(format!("no end within {} ms", case.limit_ms)),
        (_, true) => output::parse(&ended.output),
        (_, false) => {
            let last = ended.output.lines().last().unwrap_or_default();
            Err(format!("failed: {last}").trim_end_matches(": ").to_owned())
        }
    }
}

/// The binary's arguments.
fn arguments(case: &PeersCase) -> Vec<String> {
    let numbers = [case.threads, case.steady, case.gaps];
    let numbers = numbers.iter().map(usize::to_string);
    std::iter::once(case.program.clone())
        .chain(numbers)
        .collect()
}

/// Simulates the binary. Returns its sample and the simulation's fingerprint.
fn simulate(case: &PeersCase, machines: &Machines) -> Result<(PeersSample, u64), String> {
    let chip = order::machine(&machines.0[case.machine], case.order).0;
    let peer = peer::find(&case.peer)?;
    let files = peer.files(&case.folder);
    let mut program = Program::new(&files[0]);
    for argument in arguments(case) {
        program = program.argument(argument);
    }
    for (name, value) in peer.environment {
        program = program.environment(format!("{name}={value}"));
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
