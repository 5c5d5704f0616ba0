//! Latencies and bandwidth of the caches and of memory.

use crate::machine::team;
use manycore_platform::{Native, Platform};
use std::hint::black_box;
use std::io;

/// Bytes in a line, if the system does not say.
pub(super) const LINE: usize = 64;

/// Loads in one sample of a chase.
const LOADS: usize = 20_000;

/// Words of 8 bytes in a line.
const STEP: usize = LINE / 8;

/// Lines that each hold the place of the next one, in a random circle.
pub(super) struct Chase {
    words: Vec<usize>,
    at: usize,
}

impl Chase {
    pub(super) fn new(bytes: usize) -> Self {
        let lines = (bytes / LINE).max(2);
        let mut order: Vec<usize> = (0..lines).collect();
        fastrand::Rng::with_seed(1).shuffle(&mut order);
        let mut words = vec![0; lines * STEP];
        for (place, &line) in order.iter().enumerate() {
            words[line * STEP] = order[(place + 1) % lines] * STEP;
        }
        Self { words, at: 0 }
    }

    /// Nanoseconds a load. A small circle is gone round once before.
    pub(super) fn sample(&mut self) -> f64 {
        self.walk((self.words.len() / STEP).min(LOADS));
        let start = Native::now();
        self.walk(LOADS);
        Native::ticks_to_ns(Native::now().saturating_sub(start)) / LOADS as f64
    }

    fn walk(&mut self, loads: usize) {
        let mut at = self.at;
        for _ in 0..loads {
            at = self.words[at];
        }
        self.at = black_box(at);
    }
}

/// Bytes of each thread's array, far more than its share of a cache, and bytes of one sample.
const ARRAY: usize = 64 << 20;
const READ: usize = 16 << 20;

/// Bytes a nanosecond that threads read together, each from memory of its own.
pub(super) fn bandwidth(places: &[Vec<usize>]) -> io::Result<f64> {
    let rates = team::run_on::<Native, _>(places, |_| {
        let array = vec![1_u64; ARRAY / 8];
        // The first part has left the caches when the last is written.
        let start = Native::now();
        let sum: u64 = array[..READ / 8]
            .iter()
            .fold(0, |sum, word| sum.wrapping_add(*word));
        black_box(sum);
        READ as f64 / Native::ticks_to_ns(Native::now().saturating_sub(start))
    })?;
    Ok(rates.iter().sum())
}
