//! Latencies and bandwidth of the caches and of memory.

use crate::machine::team;
use manycore_platform::{Native, Platform};
use std::hint::black_box;
use std::io;

/// The bytes of a cache line.
pub(super) const LINE: usize = 64;

/// The loads in one sample of a chase (a walk around a circle of dependent loads).
const LOADS: usize = 20_000;

/// The number of samples of a chase. At least one sample should be undisturbed.
const SAMPLES: usize = 5;

/// Words of 8 bytes in a line.
const STEP: usize = LINE / 8;

/// Cache lines in a random circle. Each holds the position of the next one.
pub(super) struct Chase {
    words: Vec<usize>,
    lines: usize,
    at: usize,
}

/// Bytes of a large page.
const LARGE: usize = 2 << 20;

/// Returns zeros, on large pages if the system has them. On small pages a load from memory also costs a walk through
/// the page tables. In a virtual machine it costs two walks.
fn zeros(words: usize) -> Vec<usize> {
    let words = vec![0; words];
    advise(&words);
    words
}

#[cfg(target_os = "linux")]
fn advise(words: &[usize]) {
    let all = words.as_ptr_range();
    let begin = all.start.addr().next_multiple_of(LARGE);
    let end = all.end.addr() / LARGE * LARGE;
    if begin < end {
        let pages = all.start.map_addr(|_| begin).cast_mut().cast();
        // SAFETY: the pages lie within the slice, and the advice changes no content. If the system refuses the advice,
        // the pages stay small.
        unsafe { libc::madvise(pages, end - begin, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_: &[usize]) {}

impl Chase {
    pub(super) fn new(bytes: usize) -> Self {
        let lines = (bytes / LINE).max(2);
        // The circle begins on a large page.
        let mut words = zeros(lines * STEP + 2 * LARGE / 8);
        let first = (LARGE - words.as_ptr().addr() % LARGE) / 8;
        let mut order: Vec<usize> = (0..lines).collect();
        fastrand::Rng::with_seed(1).shuffle(&mut order);
        for (place, &line) in order.iter().enumerate() {
            words[first + line * STEP] = first + order[(place + 1) % lines] * STEP;
        }
        Self {
            words,
            lines,
            at: first,
        }
    }

    /// Returns the nanoseconds of a load: the least of some samples, since disturbances only add time. First walks
    /// twice around a small circle, to bring the circle into its cache.
    pub(super) fn sample(&mut self) -> f64 {
        self.walk((2 * self.lines).min(2 * LOADS));
        self.least()
    }

    fn least(&mut self) -> f64 {
        let samples = (0..SAMPLES).map(|_| self.once());
        samples.fold(f64::INFINITY, f64::min)
    }

    fn once(&mut self) -> f64 {
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

/// Returns the largest size from `least` to `most` bytes whose chase stays in the last cache, where a load takes `ns`.
/// A virtual machine may have a much smaller part of that cache than its system says.
pub(super) fn capacity(least: usize, most: usize, ns: f64) -> usize {
    let sizes = std::iter::successors(Some(2 * least), |bytes| Some(2 * bytes));
    let found = sizes
        .take_while(|&bytes| bytes <= most)
        .take_while(|&bytes| {
            let mut chase = Chase::new(bytes);
            chase.walk(2 * chase.lines);
            chase.least() < 2.0 * ns
        })
        .last();
    found.unwrap_or(least)
}

/// The bytes of each thread's array, far more than its share of a cache.
const ARRAY: usize = 64 << 20;
/// The bytes that a thread reads in one sample.
const READ: usize = 16 << 20;

/// Returns the bytes that all threads together read in a nanosecond. Each thread reads its own memory.
pub(super) fn bandwidth(places: &[Vec<usize>]) -> io::Result<f64> {
    let rates = team::run_on::<Native, _>(places, |_| {
        let array = vec![1_u64; ARRAY / 8];
        // By the time the last part of the array is written, the first part has left the caches.
        let start = Native::now();
        let sum: u64 = array[..READ / 8]
            .iter()
            .fold(0, |sum, word| sum.wrapping_add(*word));
        black_box(sum);
        READ as f64 / Native::ticks_to_ns(Native::now().saturating_sub(start))
    })?;
    Ok(rates.iter().sum())
}
