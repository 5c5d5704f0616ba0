//! All points of a study: simulated side by side on the host's cores, or
//! natively in rounds.

use super::host;
use super::point::{Point, Record, Sample, Summary};
use super::setup::Setup;
use crate::failure::Interrupted;
use crate::measure::interrupt;
use crate::measure::journal::{self, Journal};
use crate::measure::progress::Progress;
use crate::report::files::OutFolder;
use anyhow::Context;
use manycore::topology::Topology;
use manycore::{Block, Partitioner, Pool};
use serde::Serialize;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How often this host runs a point; a simulated machine has no noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(in crate::study) struct Effort {
    /// As many as there is time for.
    pub(in crate::study) runs: Option<u64>,
    pub(in crate::study) seconds: u64,
    /// Each rank on a CPU of its own.
    pub(in crate::study) pinned: bool,
}

/// What was measured, point by point.
#[derive(Clone, Debug)]
pub(in crate::study) struct Measured {
    pub(in crate::study) all: Vec<Summary>,
    /// What it cost.
    pub(in crate::study) seconds: f64,
}

impl Measured {
    /// A point, if it was measured.
    pub(in crate::study) fn of(&self, point: &Point) -> Option<&Summary> {
        self.all.iter().find(|summary| summary.point == *point)
    }

    /// One fingerprint of all simulations.
    pub(super) fn hash(&self) -> anyhow::Result<String> {
        let hashes: Vec<&str> = self.all.iter().map(|summary| &*summary.hash).collect();
        journal::hash(&hashes)
    }
}

/// Rounds without which a native median says nothing, and as many as make no
/// more difference.
const ROUNDS: [usize; 2] = [3, 30];

/// Measures what the journal does not hold yet; `hash` is of all that decides
/// the points and what comes of them.
pub(super) fn measure(
    setup: &Setup,
    points: &[Point],
    hash: &str,
    fresh: bool,
    out: &OutFolder,
) -> anyhow::Result<(Measured, Journal)> {
    let name = format!("{}.{hash}.journal", setup.study);
    let (journal, found) = Journal::open::<Record>(out.path(&name), fresh)?;
    interrupt::watch();
    let book = Book {
        progress: Mutex::new(Progress::new(setup.study, points.len())),
        kept: Mutex::new((journal, found)),
    };
    match setup.machines.is_host() {
        true => run_in_rounds(setup, points, &book)?,
        false => simulate_side_by_side(setup, points, &book)?,
    }
    let (journal, records) = book
        .kept
        .into_inner()
        .unwrap_or_else(|error| error.into_inner());
    let summary = |point: &Point| {
        let of_point = records.iter().filter(|record| record.point == *point);
        let samples: Vec<&Sample> = of_point.map(|record| &record.sample).collect();
        (!samples.is_empty()).then(|| Summary::of(point, &samples))
    };
    let all: Vec<Summary> = points.iter().filter_map(summary).collect();
    if interrupt::asked() {
        return Err(Interrupted::keeping(all.len(), points.len(), journal.path()).into());
    }
    let seconds = records.iter().map(|record| record.seconds).sum();
    Ok((Measured { all, seconds }, journal))
}

/// What is done, for the reader and for the journal.
struct Book {
    progress: Mutex<Progress>,
    kept: Mutex<(Journal, Vec<Record>)>,
}

impl Book {
    /// How often a point has been run.
    fn runs(&self, point: &Point) -> usize {
        let kept = lock(&self.kept);
        kept.1
            .iter()
            .filter(|record| record.point == *point)
            .count()
    }

    /// Runs a point, and keeps what came of it.
    fn keep(
        &self,
        point: &Point,
        run: impl FnOnce() -> anyhow::Result<Sample>,
    ) -> anyhow::Result<()> {
        let begin = Instant::now();
        let sample = run().with_context(|| point.to_string())?;
        let record = Record {
            point: point.clone(),
            sample,
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
/// first: they take longest.
fn simulate_side_by_side(setup: &Setup, points: &[Point], book: &Book) -> anyhow::Result<()> {
    let mut order: Vec<&Point> = points.iter().collect();
    order.sort_by_key(|point| std::cmp::Reverse(point.cores));
    let host = Pool::builder().build().context(setup.study)?;
    let one_by_one = host.with(Partitioner::FixedBlock(Block::size(1)));
    let failed: Mutex<Option<anyhow::Error>> = Mutex::new(None);
    one_by_one.parallel_for(0..order.len(), |at| {
        let point = order[at];
        if interrupt::asked() || lock(&failed).is_some() {
            return;
        }
        if book.runs(point) == 0 {
            lock(&book.progress).inside(&point.to_string(), 0.0);
            if let Err(error) = book.keep(point, || host::simulate(&setup.machines, point)) {
                lock(&failed).get_or_insert(error);
            }
        }
        lock(&book.progress).step();
    });
    failed
        .into_inner()
        .unwrap_or_else(|error| error.into_inner())
        .map_or(Ok(()), Err)
}

/// Every point once a round, each round in an order of its own: a host changes
/// speed and is disturbed from outside, and all points shall see the same.
fn run_in_rounds(setup: &Setup, points: &[Point], book: &Book) -> anyhow::Result<()> {
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
        let mut order: Vec<&Point> = points.iter().collect();
        fastrand::Rng::with_seed(setup.seed ^ round as u64).shuffle(&mut order);
        for point in order {
            if interrupt::asked() {
                return Ok(());
            }
            if book.runs(point) <= round {
                let part = round as f64 / most as f64;
                lock(&book.progress).inside(&point.to_string(), part);
                book.keep(point, || {
                    host::measure(&topology, setup.effort.pinned, point)
                })?;
            }
        }
    }
    Ok(())
}
