//! Measurements made up for tests: Life, every time in three equal runs.

use super::cell::{Cell, Policy};
use super::measured::{Line, Measured, Sample, Samples};
use crate::study::unit::Unit;
use manycore_kernels::fork::Algorithm;
use manycore_research::sleep::Mode;

/// Measurements made of policies' names, threads and times.
pub(super) fn measured(times: &[(&str, usize, f64)]) -> Vec<Measured> {
    let mut all: Vec<Measured> = Vec::new();
    for &(name, threads, time) in times {
        let cell = Cell {
            algorithm: Algorithm::Life,
            threads,
        };
        let sample = Sample {
            time,
            cpu_time: time * threads as f64,
            waited: 0.0,
            sleeps: 3,
            wakeups: 2,
            recovered: 0,
        };
        let samples = Samples {
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
            None => all.push(Measured {
                complete: true,
                policies: vec![samples],
                ..Measured::new(cell, Unit::Cycles, &[])
            }),
        }
    }
    all
}
