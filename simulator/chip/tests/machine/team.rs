//! Teams on the chip: sixteen ranks on fewer cores, by the machine of the thread packing
//! poster. Simulated time is deterministic.

use manycore::elastic::Allotment;

use crate::support::machine;
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::Platform;
use manycore_team::{Body, Policy, Rank, Report, Site, Stackful, Step, Team, Turn};
use std::cell::Cell;

const RANKS: usize = 16;
/// Work between two places where a rank can be interrupted.
const US: u64 = 1;

/// A rank that computes a number of times, some microseconds each.
struct Worker<'a> {
    /// The length of this rank's interval of the given number.
    micros: &'a (dyn Fn(u64) -> u64 + Sync),
    per_us: u64,
    left: u64,
    interval: u64,
    intervals: u64,
    /// When the intervals began, of rank 0.
    starts: Option<&'a Starts>,
}

/// One simulated thread writes at a time, and all are on one thread of the host.
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
                return Step::Preempted;
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

/// The cycles of each interval, and the report. `micros` is the work of a rank in an interval.
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

/// The work differs from rank to rank and from site to site.
#[test]
fn unequal_ranks_and_phases() {
    let machine = machine("e5-2640x2", &[]);
    let micros = |rank: usize, interval: u64| match interval % 3 {
        0 => 100,
        1 => 60 + 10 * rank as u64,
        _ => 400 - 20 * rank as u64,
    };
    for cores in [13, 6] {
        let run = Simulation::new(&machine).limit(1 << 40).run(|| {
            const ROUNDS: usize = 10;
            let mut team = Team::builder(16, Allotment::new(cores))
                .cpus((0..16).map(|worker| vec![worker]).collect())
                .build()
                .unwrap();
            let per_us = per_us(&machine);
            let ends = Starts(Cell::new(vec![]));
            let program = |rank: &mut Rank<Simulated>| {
                for _ in 0..ROUNDS {
                    for (interval, site) in ["first", "second", "third"].into_iter().enumerate() {
                        for _ in 0..micros(rank.rank(), interval as u64) {
                            Simulated::compute(per_us);
                            rank.pause();
                        }
                        rank.barrier_at(site);
                        if rank.rank() == 0 {
                            ends.push();
                        }
                    }
                }
            };
            // SAFETY: numbers and shared references are on the stack.
            team.run(RANKS, |_| unsafe { Stackful::new(program) });
            ends.0.take()
        });
        let ends = run.unwrap_or_else(|error| panic!("{cores}: {error}")).value;
        let ideal = |interval| {
            let each: Vec<u64> = (0..RANKS).map(|rank| micros(rank, interval)).collect();
            let sum = each.iter().sum::<u64>() as f64 / cores as f64;
            sum.max(*each.iter().max().unwrap() as f64)
        };
        // Two rounds to learn in; then rounds are whole.
        let taken = (ends[ends.len() - 1] - ends[5]) as f64 / (machine.ghz * 1e3);
        let ideal = (0..3).map(ideal).sum::<f64>() * (ends.len() / 3 - 2) as f64;
        let ratio = taken / ideal;
        println!("{cores} cores: {ratio:.4} of the ideal");
        assert!(ratio <= 1.05, "{cores} cores: {ratio}");
    }
}

/// Turns come close too, whole ranks do not.
#[test]
fn the_other_policies() {
    let machine = machine("e5-2640x2", &[]);
    let ratio = |policy| {
        let (taken, _) = intervals(&machine, policy, 15, 12, |_, _| 500);
        mean(&taken[2..]) / (16.0 / 15.0 * 500.0 * machine.ghz * 1e3)
    };
    let (fifo, turns, wrap) = (
        ratio(Policy::Fifo),
        ratio(Policy::RoundRobin),
        ratio(Policy::Wrap),
    );
    println!("fifo {fifo:.4}, turns {turns:.4}, wrap {wrap:.4}");
    // By the closed form 2 / (16/15) = 1.875, and 14 cores have to be woken for the next one.
    assert!((1.87..1.92).contains(&fifo), "{fifo}");
    assert!(wrap < turns && turns < 1.2, "{wrap}, {turns}");
}

/// Cores are taken away and given back in the middle of intervals. Each interval takes the time
/// that its cores allow, and the next is planned for the cores that remain.
#[test]
fn cores_come_and_go() {
    let machine = machine("e5-2640x2", &[]);
    let run = Simulation::new(&machine).limit(1 << 40).run(|| {
        let allotment = Allotment::new(15);
        let mut team = Team::builder(16, allotment.clone())
            .cpus((0..16).map(|worker| vec![worker]).collect())
            .build()
            .unwrap();
        let per_us = per_us(&machine);
        let ends = Starts(Cell::new(vec![]));
        let program = |rank: &mut Rank<Simulated>| {
            for step in 0..40 {
                for micros in 0..400 {
                    if rank.rank() == 0 && micros == 200 && step % 10 == 9 {
                        allotment.set([8, 16, 5, 15][step / 10]);
                    }
                    Simulated::compute(per_us);
                    rank.pause();
                }
                rank.barrier();
                if rank.rank() == 0 {
                    ends.push();
                }
            }
        };
        // SAFETY: numbers and shared references are on the stack.
        let report = team.run(RANKS, |_| unsafe { Stackful::new(program) });
        assert_eq!(report.episodes, 41);
        ends.0.take()
    });
    let ends = run.unwrap_or_else(|error| panic!("{error}")).value;
    let taken: Vec<f64> = ends
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64 / (machine.ghz * 1e3))
        .collect();
    for (quarter, cores) in [15, 8, 16, 5].into_iter().enumerate() {
        let ideal = RANKS as f64 * 400.0 / cores as f64;
        // The intervals from the second after this change of the cores to the last before the next change.
        for interval in &taken[10 * quarter + 1..10 * quarter + 8] {
            let ratio = interval / ideal;
            assert!(ratio <= 1.05, "{cores} cores: {ratio}, {taken:?}");
        }
    }
}
