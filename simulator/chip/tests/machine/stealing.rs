//! The disciplines of work stealing on the thesis's chip.

#[path = "support/stealing.rs"]
mod benchmark;

use crate::support::machine;
use benchmark::{Benchmark, Distribution};
use manycore_chip::{Simulated, Simulation};
use manycore_platform::Platform;
use manycore_programs::channel::Channel;
use manycore_programs::stealing::{Discipline, OfferCas, Task, TaskDeque, disciplines};
use manycore_team::barrier::Placement;

#[test]
fn each_task_runs_once_from_every_distribution() {
    for (cores, cycles) in [(16, 3_000), (64, 12_000)] {
        let machine = machine("atac-64", &[]);
        for distribution in Distribution::ALL {
            for name in disciplines() {
                let benchmark = Benchmark {
                    cores,
                    tasks: 8 * cores,
                    cycles,
                    parts: 1,
                    distribution,
                    seed: 1,
                };
                let what = format!("{name}, {}, {cores} cores", distribution.name());
                let run = || {
                    benchmark
                        .run(&machine, name)
                        .unwrap_or_else(|no| panic!("{what}: {no}"))
                };
                let (first, second) = (run(), run());
                let outcome = &first.value;
                assert!(outcome.runs.iter().all(|runs| *runs == 1), "{what}");
                assert_eq!(*outcome, second.value, "{what}");
                assert_eq!(first.statistics.hash, second.statistics.hash, "{what}");
                assert!(outcome.done as f64 >= benchmark.ideal(), "{what}");
                assert!(outcome.over >= outcome.done, "{what}");
            }
        }
    }
}

/// If tasks take much longer than a steal, a worker that begins without tasks gets its part.
#[test]
fn all_share_what_one_had() {
    let machine = machine("atac-64", &[]);
    for name in disciplines() {
        let benchmark = Benchmark {
            cores: 16,
            tasks: 256,
            cycles: 100_000,
            parts: 1,
            distribution: Distribution::TotalSkew,
            seed: 1,
        };
        let outcome = benchmark.run(&machine, name).unwrap().value;
        assert!(
            outcome.shares.iter().all(|tasks| *tasks >= 12),
            "{name}: {:?}",
            outcome.shares
        );
    }
}

/// Workers write the common word when they run out of tasks, and not while they have tasks.
#[test]
fn who_has_work_does_not_tell_all() {
    let machine = machine("atac-64", &[]);
    for name in ["random", "offer-mutex", "offer-cas"] {
        let benchmark = Benchmark {
            cores: 64,
            tasks: 64 * 20,
            cycles: 12_000,
            parts: 1,
            distribution: Distribution::Even,
            seed: 1,
        };
        let outcome = benchmark.run(&machine, name).unwrap().value;
        assert_eq!((outcome.census, outcome.counts.steals), (64, 0), "{name}");
    }
}

/// A pile sets its core's filter, which all channels share.
#[test]
fn other_channels_are_heard_beside_a_pile() {
    let run = Simulation::new(&machine("atac-64", &[])).run(|| {
        let channel = Channel::<Simulated>::over();
        let mut port = channel.open();
        let discipline = OfferCas::<Simulated>::new(&Placement::flat(2), 1);
        let mut pile = discipline.deque(0);
        // The pile has few tasks or many.
        for tasks in 0..10 {
            pile.fill((0..tasks).map(|_| Task::MIN));
            let mut other = channel.open();
            let thread = crate::support::spawn(1, move || other.send(7));
            Simulated::join(thread);
            Simulated::compute(100);
            assert_eq!(
                port.try_receive().map(|message| message.payload),
                Some(7),
                "{tasks}"
            );
        }
    });
    run.unwrap();
}

#[test]
fn distributions_have_all_tasks() {
    for distribution in Distribution::ALL {
        for (cores, tasks) in [(1, 5), (16, 100), (64, 1_024)] {
            let counts = distribution.counts(cores, tasks, 3);
            assert_eq!(
                (counts.len(), counts.iter().sum()),
                (cores, tasks),
                "{distribution:?}"
            );
        }
    }
    let random = Distribution::Random.counts(64, 64 * 100, 3);
    let variance = random
        .iter()
        .map(|n| (*n as f64 - 100.0).powi(2))
        .sum::<f64>()
        / 64.0;
    // The deviation is half the mean, to within three standard errors of 64 samples.
    assert!(
        (50.0 - variance.sqrt()).abs() < 3.0 * 50.0 / 128_f64.sqrt(),
        "{variance}"
    );
}
