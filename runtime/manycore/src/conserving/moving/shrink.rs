//! Finds a smaller program that also fails.

use super::program::{Program, Step, Steps};
use std::sync::Arc;

/// The greatest number of runs. A run takes about 10 ms.
const RUNS: usize = 3_000;

/// Returns a program that `fails`, with fewer callers, changes and steps than `program` if one is found.
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
    let mut with = |change: &dyn Fn(&mut Program)| {
        let mut less = program.clone();
        change(&mut less);
        all.push(less);
    };
    if program.callers.len() > 1 {
        for caller in 0..program.callers.len() {
            with(&|less| _ = less.callers.remove(caller));
        }
    }
    for change in 0..program.changes.len() {
        with(&|less| _ = less.changes.remove(change));
    }
    for (caller, steps) in program.callers.iter().enumerate() {
        for fewer in fewer(steps) {
            with(&|less| less.callers[caller] = Arc::clone(&fewer));
        }
    }
    all
}

/// Returns `steps` without a step, or with a step that does less.
fn fewer(steps: &Steps) -> Vec<Steps> {
    let mut all = Vec::new();
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

/// Returns steps that do less than `step`.
fn less(step: &Step) -> Vec<Step> {
    let mut all = Vec::new();
    for (which, inner) in step.inner().into_iter().enumerate() {
        all.extend((fewer(inner).into_iter()).map(|inner| step.with_inner(which, inner)));
    }
    if let Step::Loop(of) = step {
        for at in 0..of.at.len() {
            let mut less = of.clone();
            less.at.remove(at);
            all.push(Step::Loop(less));
        }
    }
    all
}
