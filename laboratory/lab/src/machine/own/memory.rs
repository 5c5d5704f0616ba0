//! Latencies and bandwidth of the caches and of memory.

use crate::machine::team;
use manycore_platform::{Native, Ordering, Platform};
use std::hint::black_box;
use std::io;
use std::sync::atomic::AtomicUsize;

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
    largest(least, most, |bytes| {
        let mut chase = Chase::new(bytes);
        chase.walk(2 * chase.lines);
        chase.least() < 2.0 * ns
    })
}

/// Returns the last size before the first one that is not `near`. The sizes are doubled from `least` on, and end with
/// `most`.
fn largest(least: usize, most: usize, near: impl Fn(usize) -> bool) -> usize {
    let doubled = std::iter::successors(Some(2 * least), |bytes| Some(2 * bytes));
    let sizes = doubled.take_while(|&bytes| bytes < most).chain([most]);
    let found = sizes.take_while(|&bytes| near(bytes)).last();
    found.unwrap_or(least)
}

/// The fewest and the most bytes of a thread's array.
const ARRAY: [usize; 2] = [64 << 20, 256 << 20];
/// The bytes that a thread reads in one sample.
const READ: usize = 16 << 20;

/// Returns the bytes of the array of each of `threads`, all together four times a cache of `llc` bytes.
fn array(llc: usize, threads: usize) -> usize {
    let [fewest, most] = ARRAY;
    (4 * llc / threads).clamp(fewest, most)
}

/// Returns the bytes that all threads together read in a nanosecond. Each thread reads its own memory. Caches have
/// `llc` bytes.
pub(super) fn bandwidth(places: &[Vec<usize>], llc: usize) -> io::Result<f64> {
    let threads = places.len();
    let words = array(llc, threads) / 8;
    let filled = AtomicUsize::new(0);
    let rates = team::run_on::<Native, _>(places, move |_| {
        let array = vec![1_u64; words];
        // A thread fills its array in much more time than it reads a part of it. So all threads meet before they
        // read. Relaxed: the threads exchange no data here.
        filled.fetch_add(1, Ordering::Relaxed);
        while filled.load(Ordering::Relaxed) < threads {
            Native::relax();
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_is_reached_as_a_whole_has_its_whole_size() {
        const MIB: usize = 1 << 20;
        assert_eq!(largest(4 * MIB, 105 * MIB, |_| true), 105 * MIB);
        assert_eq!(
            largest(4 * MIB, 105 * MIB, |bytes| bytes < 20 * MIB),
            16 * MIB
        );
        assert_eq!(
            largest(4 * MIB, 105 * MIB, |bytes| bytes < 100 * MIB),
            64 * MIB
        );
        assert_eq!(largest(4 * MIB, 105 * MIB, |_| false), 4 * MIB);
    }

    #[test]
    fn arrays_do_not_fit_into_a_large_cache() {
        const MIB: usize = 1 << 20;
        for threads in [1, 2, 4, 8, 64] {
            assert!(
                threads * array(96 * MIB, threads) > 2 * 96 * MIB,
                "{threads}"
            );
        }
        assert_eq!(array(1024 * MIB, 1), 256 * MIB);
    }
}
