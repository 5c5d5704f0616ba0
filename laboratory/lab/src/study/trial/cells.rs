//! Measures cells one after the other. Each cell compares all policies.

use super::experiment::{Fingerprints, Session};
use crate::failure::Interrupted;
use crate::measure::budget::Budget;
use crate::measure::journal::{self, Journal};
use crate::measure::progress::Progress;
use crate::measure::time_left::TimeLeft;
use crate::measure::{interrupt, side_by_side};
use manycore::Pool;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// The measurements of a cell: a line of the journal (the file of measurements).
pub(in crate::study) trait CellRecord:
    Clone + Serialize + DeserializeOwned
{
    /// The measured cell.
    type At: Copy + PartialEq + ToString;

    fn cell(&self) -> Self::At;

    /// The expected time of a cell's simulation relative to other cells: the number of threads.
    fn weight(cell: Self::At) -> f64;

    /// Whether the cell was measured to its end, without ctrl-C.
    fn is_complete(&self) -> bool;

    /// The number of runs that every policy has.
    fn runs(&self) -> usize;

    /// The seconds that the cell took.
    fn seconds(&self) -> f64;

    /// The fingerprint of each policy's simulation.
    fn hashes(&self) -> Vec<(String, String)>;
}

impl<R: CellRecord> Fingerprints for Vec<R> {
    fn seconds(&self) -> f64 {
        self.iter().map(R::seconds).sum()
    }

    fn hash(&self) -> anyhow::Result<String> {
        let of = |record: &R| -> Vec<String> {
            let hashes = record.hashes().into_iter();
            hashes.map(|(_, hash)| hash).collect()
        };
        journal::hash(&self.iter().map(of).collect::<Vec<_>>())
    }

    fn hashes(&self) -> Map<String, Value> {
        let of = |record: &R| {
            let hashes = record.hashes().into_iter();
            let hashes: Map<_, _> = hashes.map(|(name, hash)| (name, hash.into())).collect();
            (record.cell().to_string(), hashes.into())
        };
        self.iter().map(of).collect()
    }
}

/// Measures the cells that are not in the journal. `seconds` is the time for all cells together.
///
/// `blank` makes an empty record, and `measure` fills it. `measure` gets the host's pool for simulations, or `None` for
/// native runs, and the cell's share of the time.
pub(in crate::study) fn measure_cells<R: CellRecord>(
    session: &Session<'_>,
    cells: &[R::At],
    seconds: u64,
    blank: impl Fn(R::At) -> R,
    measure: impl Fn(&mut R, Option<&Pool>, Duration, &Progress) -> anyhow::Result<()>,
) -> anyhow::Result<(Vec<R>, Journal)> {
    let study = session.study;
    let (mut journal, found) = session.journal::<R>()?;
    interrupt::watch();
    let weights = cells.iter().map(|&cell| R::weight(cell));
    let mut progress = Progress::new(study, TimeLeft::new(weights, 1));
    let mut budget = Budget::new(Duration::from_secs(seconds), cells.len());
    // Simulations share this host's cores; native programs have pools of their own.
    let host = match session.is_simulated {
        true => Some(side_by_side::host()?),
        false => None,
    };
    let mut measured = Vec::new();
    for &cell in cells {
        // The last record of a cell holds all of its rounds.
        let before = found.iter().rfind(|record| record.cell() == cell).cloned();
        let mut record = before.unwrap_or_else(|| blank(cell));
        if !session.is_simulated {
            progress.allot(budget.left());
        }
        if !record.is_complete() {
            measure(&mut record, host, budget.share(), &progress)?;
            if record.runs() > 0 {
                journal.append(&record)?;
            }
        }
        budget.spend(Duration::from_secs_f64(record.seconds()));
        progress.step(R::weight(cell), record.seconds());
        measured.push(record);
        if interrupt::asked() {
            let done = measured.iter().filter(|record| record.is_complete());
            return Err(Interrupted::keeping(done.count(), cells.len(), journal.path()).into());
        }
    }
    Ok((measured, journal))
}

/// Simulates each policy in the cell `what`, one at a time on each thread of the host. Returns `None` after ctrl-C.
pub(in crate::study) fn simulate_policies<T: Send + Sync>(
    host: &Pool,
    progress: &Progress,
    what: &str,
    policies: usize,
    simulate: impl Fn(usize) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Option<Vec<T>>> {
    progress.inside(what, 0.0);
    let done = AtomicUsize::new(0);
    let outcomes = side_by_side::side_by_side(host, policies, |at| {
        if interrupt::asked() {
            return None;
        }
        let outcome = simulate(at);
        let done = done.fetch_add(1, Relaxed) + 1;
        progress.inside(what, done as f64 / policies as f64);
        Some(outcome)
    });
    let outcomes: Option<Vec<_>> = outcomes.into_iter().collect();
    outcomes.map(|all| all.into_iter().collect()).transpose()
}
