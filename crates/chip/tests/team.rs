//! Teams on the chip: sixteen ranks on fewer cores, by the machine of the thread packing
//! poster. Simulated time is deterministic.

mod support;

use manycore::elastic::{Allotment, Body, Policy, Rank, Report, Site, Stackful, Step, Team, Turn};
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::Platform;
use std::cell::Cell;
use support::machine;

const RANKS: usize = 16;
/// Work between two places where a rank can be interrupted.
const US: u64 = 1;

/// A rank that computes so many times so many microseconds.
struct Worker<'a> {
    /// Of the interval whose number it is given, of this rank.
    micros: &'a (dyn Fn(u64) -> u64 + Sync),
    per_us: u64,
    left: u64,
    interval: u64,
    intervals: u64,
    /// When the intervals began, of rank 0.
    starts: Option<&'a Starts>,
}

/// Written by one simulated thread at a time, which are all on one of the host's.
struct Starts(Cell<Vec<u64>>);

// SAFETY: see above.
unsafe impl Sync for Starts {}

impl Starts {
    fn push(&self) {
        let mut starts = self.0.take();
        starts.push(Simulated::now());
        self.0.set(starts);
    }
}

impl Body<Simulated> for Worker<'_> {
    fn go_on(&mut self, turn: &Turn<'_, Simulated>) -> Step {
        if self.left == 0 {
            self.left = (self.micros)(self.interval);
        }
        while self.left > 0 {
            Simulated::compute(self.per_us * US);
            self.left -= US;
            if self.left > 0 && turn.is_over() {
                return Step::Cut;
            }
        }
        self.interval += 1;
        if let Some(starts) = self.starts {
            starts.push();
        }
        if self.interval == self.intervals {
            Step::Done
        } else {
            Step::Arrived(Site::named("step"))
        }
    }
}

/// Instructions in a microsecond.
fn per_us(machine: &Config) -> u64 {
    (machine.ghz * 1e3 / machine.core.cpi) as u64
}

/// The cycles that each of so many intervals has taken, and the report; `micros` of a rank in an
/// interval.
fn intervals(
    machine: &Config,
    policy: Policy,
    cores: usize,
    intervals: u64,
    micros: impl Fn(usize, u64) -> u64 + Sync,
) -> (Vec<u64>, Report) {
    let run = Simulation::new(machine).limit(1 << 40).run(|| {
        let workers = machine.cores as usize;
        let mut team = Team::builder(workers, Allotment::new(cores))
            .cpus((0..workers).map(|worker| vec![worker]).collect())
            .policy(policy)
            .build()
            .unwrap();
        let per_us = per_us(machine);
        let starts = Starts(Cell::new(vec![]));
        let of: Vec<_> = (0..RANKS)
            .map(|rank| {
                let micros = &micros;
                move |interval| micros(rank, interval)
            })
            .collect();
        let report = team.run(RANKS, |rank| Worker {
            micros: &of[rank],
            per_us,
            left: 0,
            interval: 0,
            intervals,
            starts: (rank == 0).then_some(&starts),
        });
        (starts.0.take(), report)
    });
    let run = run.unwrap_or_else(|error| panic!("{policy:?} on {cores}: {error}"));
    let (ends, report) = run.value;
    assert_eq!(report.episodes, intervals);
    (
        ends.windows(2).map(|pair| pair[1] - pair[0]).collect(),
        report,
    )
}

fn mean(cycles: &[u64]) -> f64 {
    cycles.iter().sum::<u64>() as f64 / cycles.len() as f64
}

/// Within 5% of McNaughton's bound, from the second time on.
#[test]
fn wrap_reaches_the_bound() {
    let machine = machine("e5-2640x2", &[]);
    for cores in [15, 11, 7] {
        for micros in [100, 300, 1_000] {
            let (taken, report) = intervals(&machine, Policy::Wrap, cores, 24, |_, _| micros);
            let ideal = RANKS as f64 * micros as f64 / cores as f64 * machine.ghz * 1e3;
            let ratio = mean(&taken[2..]) / ideal;
            println!("{cores} cores, {micros} us: {ratio:.4} of the ideal, {report:?}");
            assert!(ratio <= 1.05, "{cores} cores, {micros} us: {ratio}");
        }
    }
}
