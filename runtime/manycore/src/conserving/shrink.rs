//! Shrinks a failing program. A reader cannot follow 64 cores and three callers.

use super::program::{Program, Step, Steps};
use std::sync::Arc;

/// The greatest number of runs. A run takes about 50 ms.
const RUNS: usize = 200;

/// Returns a program that `fails`, with fewer callers and steps than `program` if one is found.
pub(super) fn smallest(program: &Program, fails: impl Fn(&Program) -> bool) -> Program {
    let mut best = program.clone();
    let mut runs = 0;
    while let Some(smaller) = simpler(&best).into_iter().find(|candidate| {
        runs += 1;
        runs <= RUNS && fails(candidate)
    }) {
        best = smaller;
    }
    best
}

/// Returns programs with less to do, those with the least first.
fn simpler(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    if program.callers.len() > 1 {
        for caller in 0..program.callers.len() {
            let mut less = program.clone();
            less.callers.remove(caller);
            all.push(less);
        }
    }
    for (caller, steps) in program.callers.iter().enumerate() {
        for fewer in fewer(steps) {
            let mut less = program.clone();
            less.callers[caller] = fewer;
            all.push(less);
        }
    }
    all
}

/// Returns `steps` without some of them, or with a step that does less.
fn fewer(steps: &Steps) -> Vec<Steps> {
    let mut all = Vec::new();
    let half = steps.len() / 2;
    if half > 1 {
        all.push(steps[half..].to_vec());
        all.push(steps[..half].to_vec());
    }
    for at in 0..steps.len() {
        let mut without = steps.to_vec();
        without.remove(at);
        all.push(without);
    }
    for (at, step) in steps.iter().enumerate() {
        for less in less(step) {
            let mut with = steps.to_vec();
            with[at] = less;
            all.push(with);
        }
    }
    all.into_iter().map(Arc::new).collect()
}

/// Returns copies of `step` that repeat fewer steps, or repeat fewer times.
fn less(step: &Step) -> Vec<Step> {
    match step {
        Step::Repeat { times, steps } => {
            let repeat = |times, steps| Step::Repeat { times, steps };
            let often = fewer(steps).into_iter().map(|steps| repeat(*times, steps));
            let rarer = (*times > 1).then(|| repeat(times / 2, Arc::clone(steps)));
            rarer.into_iter().chain(often).collect()
        }
        Step::Rhythm {
            period,
            times,
            steps,
        } => {
            let rhythm = |times, steps| Step::Rhythm {
                period: *period,
                times,
                steps,
            };
            let often = fewer(steps).into_iter().map(|steps| rhythm(*times, steps));
            let rarer = (*times > 1).then(|| rhythm(times / 2, Arc::clone(steps)));
            rarer.into_iter().chain(often).collect()
        }
        _ => Vec::new(),
    }
}
