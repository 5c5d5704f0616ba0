//! The CPU time that was used in the last period of a quota, and what this use leaves for the next period.
//!
//! The kernel counts the use from the beginning of one period to the beginning of the next. [`Window`] does not know
//! when a period begins: it looks at intervals that are as long as a period and begin at any time. If no such interval
//! uses more than the quota, then no period of the kernel does. For a use that repeats from period to period this bound
//! is no stricter, since all such intervals then use the same.

use std::collections::VecDeque;

/// A time between two looks is divided into parts of at most the window's length divided by this number. A very
/// long time has twice as many parts, and the window keeps the last one.
const PARTS: f64 = 20.0;

/// All times are in seconds.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// Pairs of a time and the CPU time that had been used by then. The first pair is at most one length old, and the
    /// last is the latest look. Between two pairs, the use counts as even.
    looks: VecDeque<(f64, f64)>,
}

impl Window {
    /// Notes that `used` had been used at `now`. Forgets what is older than `length`.
    ///
    /// The use before the first look is unknown, so this assumes one thread. A long time between two looks is
    /// divided, since [`left`](Self::left) returns an interval for each pair.
    pub(super) fn note(&mut self, now: f64, used: f64, length: f64) {
        if self.looks.is_empty() {
            let before = used - used.min(length);
            self.looks.push_back((now - length, before));
        }
        let (last, before) = self.looks[self.looks.len() - 1];
        let parts = (PARTS * (now - last) / length)
            .ceil()
            .clamp(1.0, 2.0 * PARTS);
        for part in 1..=parts as u32 {
            let part = f64::from(part) / parts;
            let at = |from: f64, to: f64| from + part * (to - from);
            self.looks.push_back((at(last, now), at(before, used)));
        }
        let begin = now - length;
        while let [(first, before), (second, after), ..] = *self.looks.make_contiguous() {
            if second <= begin {
                self.looks.pop_front();
                continue;
            }
            if first < begin {
                let slope = (after - before) / (second - first);
                self.looks[0] = (begin, before + slope * (begin - first));
            }
            break;
        }
    }

    /// Returns intervals of the given length that end from now on, as pairs: how much later than now the interval ends,
    /// and how much of `grant` is left for the time between now and that end.
    pub(super) fn left(&self, grant: f64, length: f64) -> impl Iterator<Item = (f64, f64)> {
        let (now, used) = self.looks.back().copied().unwrap_or_default();
        let left = move |&(time, before)| (time + length - now, grant - (used - before));
        self.looks.iter().map(left)
    }

    /// Returns how much later than now the use of more than `cpus` CPUs becomes old.
    pub(super) fn relief(&self, cpus: f64, length: f64) -> Option<f64> {
        let now = self.looks.back()?.0;
        let mut pairs = self.looks.iter().zip(self.looks.iter().skip(1));
        let steep = pairs.find(|((from, before), (to, after))| after - before > cpus * (to - from));
        Some(steep?.0.0 + length - now)
    }
}
