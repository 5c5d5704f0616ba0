//! Synthetic measurements for tests. The algorithm is Life, and every time has three equal runs.

use super::cell::{Policy, SleepCell};
use super::measured::{Line, MeasuredPolicies, PolicySamples, SleepSample};
use crate::study::unit::Unit;
use manycore_programs::fork::Algorithm;
use manycore_programs::sleep::Mode;

/// Makes measurements from policies' names, numbers of threads and times.
pub(super) fn measured(times: &[(&str, usize, f64)]) -> Vec<MeasuredPolicies> {
    let mut all: Vec<MeasuredPolicies> = Vec::new();
    for &(name, threads, time) in times {
        let cell = SleepCell {
            algorithm: Algorithm::Life,
            threads,
        };
        let sample = SleepSample {
            order: 0,
            time,
            cpu_time: time * threads as f64,
            waited: 0.0,
            sleeps: 3,
            wakeups: 2,
            recovered: 0,
        };
        let samples = PolicySamples {
            policy: Policy {
                name: name.into(),
                mode: Mode::Sound,
            },
            runs: vec![sample; 3],
            hash: String::new(),
            lines: vec![Line {
                names: "sleep: counters".into(),
                lines: 1,
                reads: 30,
                writes: 60,
                transfers: 45,
            }],
        };
        match all.iter_mut().find(|known| known.cell == cell) {
            Some(known) => known.policies.push(samples),
            None => all.push(MeasuredPolicies {
                complete: true,
                policies: vec![samples],
                ..MeasuredPolicies::new(cell, Unit::Cycles, &[])
            }),
        }
    }
    all
}
