//! Runs all trials (programs to time) of a study. Simulations run side by side on the host's cores. Native trials run
//! in rounds.

use super::Trial;
use super::experiment::{Answer, Fingerprints, Question, Session};
use super::setup::Setup;
use crate::failure::Interrupted;
use crate::measure::journal::{self, Journal};
use crate::measure::progress::Progress;
use crate::measure::statistics::{Spread, median};
use crate::measure::time_left::TimeLeft;
use crate::measure::{interrupt, side_by_side};
use crate::study::Comparison;
use crate::study::compared::Compared;
use anyhow::Context;
use manycore::topology::Topology;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A line of the journal (the file of measurements): one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct TrialRecord<T: Trial> {
    trial: T,
    outcome: T::Sample,
    /// The fingerprint of the simulation. Empty for native runs.
    hash: String,
    /// The seconds that the run took.
    seconds: f64,
}

/// All runs of a trial.
#[derive(Clone, Debug)]
pub(in crate::study) struct Runs<T: Trial> {
    pub(in crate::study) trial: T,
    /// The outcomes of the runs, at least one.
    pub(in crate::study) outcomes: Vec<T::Sample>,
    /// The fingerprint of the simulation. Empty for native runs.
    hash: String,
    /// The seconds that all runs took.
    seconds: f64,
}

impl<T: Trial> Runs<T> {
    /// The spread of what `of` returns for each run.
    pub(in crate::study) fn spread(&self, of: impl Fn(&T::Sample) -> f64) -> Spread {
        Spread::of(&self.outcomes.iter().map(of).collect::<Vec<f64>>())
    }

    /// The values of `of` for all runs.
    pub(in crate::study) fn samples(&self, of: impl Fn(&T::Sample) -> f64) -> Vec<f64> {
        self.outcomes.iter().map(of).collect()
    }

    /// Splits the runs, so that each result has one run.
    pub(in crate::study) fn each(&self) -> impl Iterator<Item = Self> {
        self.outcomes.iter().map(|outcome| Self {
            outcomes: vec![outcome.clone()],
            ..self.clone()
        })
    }

    /// The fingerprint of the simulation.
    pub(in crate::study) fn hash(&self) -> &str {
        &self.hash
    }

    /// The median of what `of` returns for each run.
    pub(in crate::study) fn median(&self, of: impl Fn(&T::Sample) -> f64) -> f64 {
        median(self.outcomes.iter().map(of))
    }
}

/// The runs of each trial.
#[derive(Clone, Debug)]
pub(in crate::study) struct MeasuredTrials<T: Trial>(Vec<Runs<T>>);

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

/// The fewest and the most rounds. With fewer rounds a native median would be unreliable. More rounds make no
/// difference.
const ROUNDS: [usize; 2] = [3, 30];

/// A question that is a list of trials.
pub(in crate::study) trait Trials: Serialize + Sync {
    type Trial: Trial;

    /// A line of the CSV file.
    type Row: Serialize;

    fn setup(&self) -> &Setup;

    /// All measured trials.
    fn trials(&self) -> Vec<Self::Trial>;

    fn answer(results: Results<'_, Self>) -> anyhow::Result<Answer<Self::Row>>;

    /// The trials that [`Trials::compared`] requires.
    fn compared_trials(&self) -> Vec<Self::Trial> {
        self.trials()
    }

    /// The times that the study's finding compares. The study prints this finding as a sentence.
    fn compared(_results: Results<'_, Self>) -> Option<Compared> {
        None
    }
}

/// A study's measurements.
pub(in crate::study) struct Results<'a, Q: Trials + ?Sized> {
    pub(in crate::study) config: &'a Q,
    /// The runs of each trial, in the order of the trials.
    pub(in crate::study) measured: &'a [Runs<Q::Trial>],
}

impl<Q: Trials> Clone for Results<'_, Q> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q: Trials> Copy for Results<'_, Q> {}

impl<'a, Q: Trials> Results<'a, Q> {
    /// The runs of a trial, if there are any.
    pub(in crate::study) fn of(self, trial: &Q::Trial) -> Option<&'a Runs<Q::Trial>> {
        self.measured.iter().find(|runs| runs.trial == *trial)
    }
}

impl<Q: Trials> Question for Q {
    type Measured = MeasuredTrials<Q::Trial>;
    type Row = Q::Row;

    fn measure(&self, session: &Session<'_>) -> anyhow::Result<(Self::Measured, Journal)> {
        measure(session, self.setup(), &self.trials())
    }

    fn answer(&self, measured: &Self::Measured) -> anyhow::Result<Answer<Q::Row>> {
        let results = Results {
            config: self,
            measured: &measured.0,
        };
        let mut answer = Trials::answer(results)?;
        answer.extra.compared = Q::compared(results);
        Ok(answer)
    }

    fn compare(&self, session: &Session<'_>) -> anyhow::Result<Comparison> {
        let (measured, journal) = measure(session, self.setup(), &self.compared_trials())?;
        Ok(Comparison {
            compared: Q::compared(Results {
                config: self,
                measured: &measured.0,
            }),
            hash: measured.hash()?,
            journal,
        })
    }
}

/// Runs the trials that the journal does not hold yet.
fn measure<T: Trial>(
    session: &Session<'_>,
    setup: &Setup,
    trials: &[T],
) -> anyhow::Result<(MeasuredTrials<T>, Journal)> {
    let (journal, found) = session.journal::<TrialRecord<T>>()?;
    interrupt::watch();
    let kept = Mutex::new((journal, found));
    match setup.machines.is_host() {
        true => run_in_rounds(setup, trials, &kept)?,
        false => simulate_side_by_side(setup, trials, &kept)?,
    }
    let (journal, records) = (kept.into_inner()).unwrap_or_else(|error| error.into_inner());
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

/// The journal, and the records in it.
type Kept<T> = Mutex<(Journal, Vec<TrialRecord<T>>)>;

/// The seconds that each run of a trial took.
fn seconds_of<T: Trial>(kept: &Kept<T>, trial: &T) -> Vec<f64> {
    let kept = lock(kept);
    let of_trial = kept.1.iter().filter(|record| record.trial == *trial);
    of_trial.map(|record| record.seconds).collect()
}

/// Runs a trial and keeps its result.
fn keep<T: Trial>(
    kept: &Kept<T>,
    trial: &T,
    run: impl FnOnce() -> anyhow::Result<(T::Sample, String)>,
) -> anyhow::Result<()> {
    let begin = Instant::now();
    let (outcome, hash) = run().with_context(|| trial.to_string())?;
    let record = TrialRecord {
        trial: trial.clone(),
        outcome,
        hash,
        seconds: begin.elapsed().as_secs_f64(),
    };
    let mut kept = lock(kept);
    kept.0.append(&record)?;
    kept.1.push(record);
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panics leaves only complete records.
    mutex.lock().unwrap_or_else(|error| error.into_inner())
}

/// Simulates one trial at a time on each host thread, in order of decreasing numbers of cores.
fn simulate_side_by_side<T: Trial>(
    setup: &Setup,
    trials: &[T],
    kept: &Kept<T>,
) -> anyhow::Result<()> {
    let mut order: Vec<&T> = trials.iter().collect();
    order.sort_by_key(|trial| std::cmp::Reverse(trial.cores()));
    let host = side_by_side::host()?;
    let weight = |trial: &T| trial.cores() as f64;
    let left = TimeLeft::new(trials.iter().map(weight), host.threads());
    let progress = Mutex::new(Progress::new(setup.study, left));
    let failed: Mutex<Option<anyhow::Error>> = Mutex::new(None);
    side_by_side::side_by_side(host, order.len(), |at| {
        let trial = order[at];
        if interrupt::asked() || lock(&failed).is_some() {
            return;
        }
        if seconds_of(kept, trial).is_empty() {
            lock(&progress).inside(&trial.to_string(), 0.0);
            let run = || {
                let (outcome, hash) = trial.simulate(&setup.machines)?;
                Ok((outcome, format!("{hash:016x}")))
            };
            if let Err(error) = keep(kept, trial, run) {
                lock(&failed).get_or_insert(error);
            }
        }
        let seconds = seconds_of(kept, trial).iter().sum();
        lock(&progress).step(weight(trial), seconds);
    });
    let failed = failed
        .into_inner()
        .unwrap_or_else(|error| error.into_inner());
    failed.map_or(Ok(()), Err)
}

/// Runs every trial once in each round, in a random order. A host changes its speed, and other processes disturb it.
/// Rounds spread these effects over all trials.
fn run_in_rounds<T: Trial>(setup: &Setup, trials: &[T], kept: &Kept<T>) -> anyhow::Result<()> {
    let topology = Topology::detect();
    let ([fewest, most], time) = match setup.effort.runs {
        Some(runs) => ([runs as usize; 2], 0.0),
        None => (ROUNDS, setup.effort.seconds as f64),
    };
    let mut progress = Progress::new(setup.study, TimeLeft::new([1.0], 1));
    for round in 0..most {
        // Runs of an earlier process count too.
        if round >= fewest && spent(kept).1 >= time {
            break;
        }
        let mut order: Vec<&T> = trials.iter().collect();
        fastrand::Rng::with_seed(setup.seed ^ round as u64).shuffle(&mut order);
        for trial in order {
            if interrupt::asked() {
                return Ok(());
            }
            if seconds_of(kept, trial).len() <= round {
                let (runs, seconds) = spent(kept);
                let missing = (fewest * trials.len()).saturating_sub(runs) as f64;
                let left = (missing * seconds / runs.max(1) as f64).max(time - seconds);
                progress.allot(Duration::from_secs_f64(left));
                let all = (seconds + left).max(f64::MIN_POSITIVE);
                progress.inside(&trial.to_string(), seconds / all);
                let pinned = setup.effort.pinned;
                keep(kept, trial, || {
                    Ok((trial.run_here(&topology, pinned)?, String::new()))
                })?;
            }
        }
    }
    Ok(())
}

/// The number of runs, and the seconds that they took.
fn spent<T: Trial>(kept: &Kept<T>) -> (usize, f64) {
    let kept = lock(kept);
    (
        kept.1.len(),
        kept.1.iter().map(|record| record.seconds).sum(),
    )
}
