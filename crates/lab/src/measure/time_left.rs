//! How long a measurement still takes, as far as that can be known.
//!
//! What a cell costs is not known before it is measured. It may cost what the
//! others did, or grow with its threads or cores (its weight). The truth is
//! mostly between the two, so both are computed, and if they differ both are
//! told.

use std::fmt;
use std::time::Duration;

/// Cells, their weights, and what those that are done took.
#[derive(Clone, Debug)]
pub(crate) struct TimeLeft {
    /// How many are measured side by side.
    lanes: f64,
    all: Sum,
    done: Sum,
    /// What the cells that are done took, each by itself.
    seconds: f64,
    /// What is to be spent in any case.
    allotted: f64,
}

/// Cells and their weights.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    cells: f64,
    weight: f64,
}

/// From the least that is to be expected to the most, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    least: f64,
    most: f64,
}

impl TimeLeft {
    /// For cells of these weights, `lanes` of them at a time.
    pub(crate) fn new(weights: impl IntoIterator<Item = f64>, lanes: usize) -> Self {
        let mut all = Sum::default();
        for weight in weights {
            all.add(weight);
        }
        Self {
            lanes: lanes as f64,
            all,
            done: Sum::default(),
            seconds: 0.0,
            allotted: 0.0,
        }
    }

    /// A cell is done: now, or by an earlier process.
    pub(crate) fn done(&mut self, weight: f64, seconds: f64) {
        self.done.add(weight);
        self.seconds += seconds;
    }

    /// So much is spent on the cells that are left, if they can use it.
    pub(crate) fn allot(&mut self, time: Duration) {
        self.allotted = time.as_secs_f64();
    }

    /// The part of the work that is done, if `inside` cells more are.
    pub(crate) fn part(&self, inside: f64) -> f64 {
        ((self.done.cells + inside) / self.all.cells.max(1.0)).min(1.0)
    }

    /// The time left, if `inside` cells more are done; `None` while nothing is
    /// known.
    pub(crate) fn range(&self, inside: f64) -> Option<Range> {
        if self.done.cells == 0.0 && self.allotted == 0.0 {
            return None;
        }
        let of = |all: f64, done: f64| match done > 0.0 {
            true => (all - done).max(0.0) * self.seconds / done,
            false => 0.0,
        };
        let by_cells = of(self.all.cells, self.done.cells);
        let by_weight = of(self.all.weight, self.done.weight);
        // The cells under way are as far as an average one.
        let cells = (self.all.cells - self.done.cells).max(1.0);
        let rest = 1.0 - (inside / cells).min(1.0);
        let seconds = |guess: f64| (guess * rest / self.lanes).max(self.allotted);
        Some(Range {
            least: seconds(by_cells.min(by_weight)),
            most: seconds(by_cells.max(by_weight)),
        })
    }
}

impl Sum {
    fn add(&mut self, weight: f64) {
        self.cells += 1.0;
        self.weight += weight;
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [least, most] = [self.least, self.most].map(rounded);
        match least == most {
            true => write!(f, "about {most} left"),
            false => write!(f, "{least} to {most} left"),
        }
    }
}

/// As exact as a guess is.
fn rounded(seconds: f64) -> String {
    let to = |step: f64| ((seconds / step).round().max(1.0) * step) as u64;
    match seconds {
        ..10.0 => format!("{} s", to(1.0)),
        10.0..60.0 => format!("{} s", to(5.0)),
        60.0..600.0 => format!("{} min", to(60.0) / 60),
        600.0..7200.0 => format!("{} min", to(300.0) / 60),
        _ => format!("{} h", to(3600.0) / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights of thread counts, as the studies have them.
    const WEIGHTS: [f64; 8] = [1.0, 1.0, 8.0, 8.0, 16.0, 16.0, 32.0, 32.0];

    /// After each cell: what is told, and the truth.
    fn course(cost: fn(f64) -> f64, lanes: usize) -> Vec<(Range, f64)> {
        let mut left = TimeLeft::new(WEIGHTS, lanes);
        let mut told = Vec::new();
        for (at, &weight) in WEIGHTS.iter().enumerate() {
            left.done(weight, cost(weight));
            let rest = WEIGHTS[at + 1..].iter().map(|&weight| cost(weight));
            let truth = rest.sum::<f64>() / lanes as f64;
            told.push((left.range(0.0).unwrap(), truth));
        }
        told
    }

    #[test]
    fn the_truth_is_within_what_is_told_however_cells_grow() {
        let costs: [fn(f64) -> f64; 3] =
            [|_| 3.0, |threads| threads, |threads| 2.0 + threads / 16.0];
        for cost in costs {
            for lanes in [1, 2] {
                for (range, truth) in course(cost, lanes) {
                    let told = range.least - 1e-9..=range.most + 1e-9;
                    assert!(told.contains(&truth), "{range:?} without {truth}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_told_before_anything_is_known() {
        let mut left = TimeLeft::new([1.0; 4], 1);
        assert_eq!(left.range(0.5), None);
        left.allot(Duration::from_secs(90));
        assert_eq!(left.range(0.0).unwrap().to_string(), "about 2 min left");
        // Cells that take longer than was allotted.
        left.done(1.0, 200.0);
        left.allot(Duration::ZERO);
        assert_eq!(left.range(0.0).unwrap().to_string(), "about 10 min left");
    }

    #[test]
    fn a_cell_half_done_counts_half() {
        let mut left = TimeLeft::new([1.0; 3], 1);
        left.done(1.0, 8.0);
        assert_eq!(left.range(0.0).unwrap().most, 16.0);
        assert_eq!(left.range(0.5).unwrap().most, 12.0);
        assert_eq!(left.part(0.5), 0.5);
    }

    #[test]
    fn guesses_are_rounded() {
        let shown = [0.2, 7.4, 43.0, 61.0, 130.0, 1000.0, 9000.0].map(rounded);
        assert_eq!(
            shown,
            ["1 s", "7 s", "45 s", "1 min", "2 min", "15 min", "3 h"]
        );
    }
}
