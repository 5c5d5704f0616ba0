//! All trials of a study: simulated side by side on the host's cores, or
//! natively in rounds.

use super::Trial;
use super::experiment::{Fingerprints, Session};
use super::setup::Setup;
use crate::failure::Interrupted;
use crate::measure::interrupt;
use crate::measure::journal::{self, Journal};
use crate::measure::progress::Progress;
use anyhow::Context;
use manycore::topology::Topology;
use manycore::{Block, Partitioner, Pool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// One run: a line of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct TrialRecord<T: Trial> {
    trial: T,
    outcome: T::Outcome,
    /// The fingerprint of a simulation.
    hash: String,
    /// The part of the study's time that it took.
    seconds: f64,
}

/// All runs of a trial.
#[derive(Clone, Debug)]
pub(in crate::study) struct Runs<T: Trial> {
    pub(in crate::study) trial: T,
    /// At least one.
    pub(in crate::study) outcomes: Vec<T::Outcome>,
    /// The fingerprint of a simulation.
    hash: String,
    /// What they cost.
    seconds: f64,
}

/// What was measured, trial by trial.
#[derive(Clone, Debug)]
pub(in crate::study) struct MeasuredTrials<T: Trial>(pub(in crate::study) Vec<Runs<T>>);

impl<T: Trial> Fingerprints for MeasuredTrials<T> {
    fn seconds(&self) -> f64 {
        self.0.iter().map(|runs| runs.seconds).sum()
    }

    fn hash(&self) -> anyhow::Result<String> {
        let hashes: Vec<&str> = self.0.iter().map(|runs| &*runs.hash).collect();
        journal::hash(&hashes)
    }

    fn hashes(&self) -> Map<String, Value> {
        let all = self.0.iter();
        let one = all.map(|runs| (runs.trial.to_string(), runs.hash.clone().into()));
        one.collect()
    }
}

/// Rounds without which a native median says nothing, and as many as make no
/// more difference.
const ROUNDS: [usize; 2] = [3, 30];

/// Runs the trials that the journal does not hold yet.
pub(in crate::study) fn measure<T: Trial>(
    session: &Session<'_>,
    setup: &Setup,
    trials: &[T],
) -> anyhow::Result<(MeasuredTrials<T>, Journal)> {
    let (journal, found) = session.journal::<TrialRecord<T>>()?;
    interrupt::watch();
    let book = Book {
        progress: Mutex::new(Progress::new(setup.study, trials.len())),
        kept: Mutex::new((journal, found)),
    };
    match setup.machines.is_host() {
        true => run_in_rounds(setup, trials, &book)?,
        false => simulate_side_by_side(setup, trials, &book)?,
    }
    let (journal, records) = (book.kept.into_inner()).unwrap_or_else(|error| error.into_inner());
    let runs = |trial: &T| {
        let of_trial = || records.iter().filter(|record| record.trial == *trial);
        Some(Runs {
            trial: trial.clone(),
            outcomes: of_trial().map(|record| record.outcome.clone()).collect(),
            hash: of_trial().next()?.hash.clone(),
            seconds: of_trial().map(|record| record.seconds).sum(),
        })
    };
    let measured: Vec<Runs<T>> = trials.iter().filter_map(runs).collect();
    if interrupt::asked() {
        return Err(Interrupted::keeping(measured.len(), trials.len(), journal.path()).into());
    }
    Ok((MeasuredTrials(measured), journal))
}

/// What is done, for the reader and for the journal.
struct Book<T: Trial> {
    progress: Mutex<Progress>,
    kept: Mutex<(Journal, Vec<TrialRecord<T>>)>,
}

impl<T: Trial> Book<T> {
    /// How often a trial has been run.
    fn runs(&self, trial: &T) -> usize {
        let kept = lock(&self.kept);
        let of_trial = kept.1.iter().filter(|record| record.trial == *trial);
        of_trial.count()
    }

    /// Runs a trial, and keeps what came of it.
    fn keep(
        &self,
        trial: &T,
        run: impl FnOnce() -> anyhow::Result<(T::Outcome, String)>,
    ) -> anyhow::Result<()> {
        let begin = Instant::now();
        let (outcome, hash) = run().with_context(|| trial.to_string())?;
        let record = TrialRecord {
            trial: trial.clone(),
            outcome,
            hash,
            seconds: begin.elapsed().as_secs_f64(),
        };
        let mut kept = lock(&self.kept);
        kept.0.append(&record)?;
        kept.1.push(record);
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panicked thread leaves is whole records.
    mutex.lock().unwrap_or_else(|error| error.into_inner())
}

/// One simulation at a time for each host thread, those of the most cores
/// first.
fn simulate_side_by_side<T: Trial>(
    setup: &Setup,
    trials: &[T],
    book: &Book<T>,
) -> anyhow::Result<()> {
    let mut order: Vec<&T> = trials.iter().collect();
    order.sort_by_key(|trial| std::cmp::Reverse(trial.cores()));
    let host = Pool::builder().build().context(setup.study)?;
    let one_by_one = host.with(Partitioner::FixedBlock(Block::size(1)));
    let failed: Mutex<Option<anyhow::Error>> = Mutex::new(None);
    one_by_one.parallel_for(0..order.len(), |at| {
        let trial = order[at];
        if interrupt::asked() || lock(&failed).is_some() {
            return;
        }
        if book.runs(trial) == 0 {
            lock(&book.progress).inside(&trial.to_string(), 0.0);
            let run = || {
                let (outcome, hash) = trial.simulate(&setup.machines)?;
                Ok((outcome, format!("{hash:016x}")))
            };
            if let Err(error) = book.keep(trial, run) {
                lock(&failed).get_or_insert(error);
            }
        }
        lock(&book.progress).step();
    });
    let failed = failed
        .into_inner()
        .unwrap_or_else(|error| error.into_inner());
    failed.map_or(Ok(()), Err)
}

/// Every trial once a round, each round in an order of its own: a host changes
/// speed and is disturbed from outside, and all shall see the same.
fn run_in_rounds<T: Trial>(setup: &Setup, trials: &[T], book: &Book<T>) -> anyhow::Result<()> {
    let topology = Topology::detect();
    let begin = Instant::now();
    let time = Duration::from_secs(setup.effort.seconds);
    let [fewest, most] = match setup.effort.runs {
        Some(runs) => [runs as usize; 2],
        None => ROUNDS,
    };
    for round in 0..most {
        if round >= fewest && begin.elapsed() >= time {
            break;
        }
        let mut order: Vec<&T> = trials.iter().collect();
        fastrand::Rng::with_seed(setup.seed ^ round as u64).shuffle(&mut order);
        for trial in order {
            if interrupt::asked() {
                return Ok(());
            }
            if book.runs(trial) <= round {
                let part = round as f64 / most as f64;
                lock(&book.progress).inside(&trial.to_string(), part);
                let pinned = setup.effort.pinned;
                book.keep(trial, || {
                    Ok((trial.run_here(&topology, pinned)?, String::new()))
                })?;
            }
        }
    }
    Ok(())
}
