//! Programs in which the pool was once late. A random search with more seeds than the test uses found them. Then
//! they were made smaller.

use super::program::{Program, Shape, Step, Steps, Work};
use std::sync::Arc;

/// The programs and their names.
pub(super) fn programs() -> [(&'static str, Program); 3] {
    [
        (
            "a loop in the last job of another",
            nested_in_the_last_job(),
        ),
        ("waits that end one after the other", chain_of_waits()),
        ("a loop that is longer than ever before", suddenly_long()),
    ]
}

fn steps(steps: impl Into<Vec<Step>>) -> Steps {
    Arc::new(steps.into())
}

fn even(site: usize, n: usize, each: u64) -> Step {
    let work = Work::Even(each);
    Step::Loop { site, n, work }
}

fn spawn(each: u64, awaited: bool) -> Step {
    let job = steps([Step::Compute(each)]);
    Step::Spawn { job, awaited }
}

/// A few near threads share a short loop. Then each iteration of the same loop takes thousands of times as long,
/// and far threads must be invited too.
pub(super) fn suddenly_long() -> Program {
    let short = Step::Repeat {
        times: 42,
        steps: steps([even(3, 58, 13), Step::Compute(800)]),
    };
    Program {
        cores: 64,
        threads: 60,
        callers: vec![steps([short, even(3, 58, 100_000)])],
    }
}

/// Each of two iterations runs a loop. The thread that finishes first waits for the other thread, and could
/// help it. The other thread must learn that a helper is available.
fn nested_in_the_last_job() -> Program {
    let first = steps([
        Step::Compute(700),
        spawn(5_000_000, true),
        Step::Compute(700),
        even(3, 13, 9_000),
        Step::Compute(700),
        spawn(600_000, false),
    ]);
    let halves = Step::Halves(
        steps([
            Step::Compute(200),
            even(0, 18, 500),
            Step::Compute(90_000),
            spawn(800, true),
            Step::Compute(5_000),
            even(1, 15, 1),
        ]),
        steps([Step::Compute(800), even(2, 19, 30)]),
    );
    let last = steps([Step::Compute(700), even(2, 28, 90_000)]);
    let iterations = |site, n, each| Step::Loop {
        site,
        n,
        work: Work::Steps(each),
    };
    let caller = [
        iterations(0, 7, first),
        halves,
        Step::Gap(100_000),
        iterations(2, 2, last),
    ];
    Program {
        cores: 16,
        threads: 2,
        callers: vec![steps(caller)],
    }
}

/// A hundred nested joins, all stolen. Each thread's wait ends after the next thread's wait.
fn chain_of_waits() -> Program {
    let jobs = |times, each| {
        let steps = steps([spawn(each, false)]);
        Step::Repeat { times, steps }
    };
    let install = |times, each| {
        Step::Install(steps([
            Step::Compute(500_000),
            jobs(times, each),
            Step::Loop {
                site: 0,
                n: 32,
                work: Work::Ragged(10_000_000),
            },
        ]))
    };
    let join = Step::Join {
        shape: Shape::Right,
        leaves: 100,
        leaf: 600_000,
    };
    let rhythm = Step::Rhythm {
        period: 20_208_709,
        times: 1,
        steps: steps([even(2, 26, 5_052_177)]),
    };
    Program {
        cores: 32,
        threads: 32,
        callers: vec![
            steps([join]),
            steps([even(0, 71, 700_000), rhythm]),
            steps([install(2, 5_000_000), install(29, 2_000_000)]),
        ],
    }
}
