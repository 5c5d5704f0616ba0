//! Scopes that spawn.

use super::sum_below;
use crate::Program;
use rayon::Scope;
use std::sync::atomic::{AtomicU64, Ordering};

const JOBS: u64 = 4_096;

pub fn programs() -> Vec<Program> {
    let flat = || {
        let sum = AtomicU64::new(0);
        rayon::scope(|scope| {
            for i in 0..JOBS {
                let sum = &sum;
                scope.spawn(move |_| add(sum, i));
            }
        });
        sum.into_inner()
    };
    let fifo = || {
        let sum = AtomicU64::new(0);
        rayon::scope_fifo(|scope| {
            for i in 0..JOBS {
                let sum = &sum;
                scope.spawn_fifo(move |_| add(sum, i));
            }
        });
        sum.into_inner()
    };
    let halves = || {
        let sum = AtomicU64::new(0);
        rayon::scope(|scope| halve(scope, &sum, 0, JOBS));
        sum.into_inner()
    };
    let expected = sum_below(JOBS);
    vec![
        Program::giving("scope_flat", flat, expected),
        Program::giving("scope_fifo", fifo, expected),
        Program::giving("scope_halves", halves, expected),
    ]
}

/// A sum needs no order.
fn add(sum: &AtomicU64, number: u64) {
    sum.fetch_add(number, Ordering::Relaxed);
}

fn halve<'s>(scope: &Scope<'s>, sum: &'s AtomicU64, from: u64, to: u64) {
    if to - from == 1 {
        add(sum, from);
        return;
    }
    let middle = from.midpoint(to);
    scope.spawn(move |scope| halve(scope, sum, from, middle));
    scope.spawn(move |scope| halve(scope, sum, middle, to));
}
