//! How long a measurement still takes, as far as that can be known.
//!
//! A cell costs what those of the same weight (its threads or cores) cost that
//! are done. If there is none it may cost what an average cell did, or grow with
//! its weight. The truth is mostly between the two, so both are computed, and if
//! they differ both are told.

use std::fmt;
use std::time::Duration;

/// Cells, their weights, and what those that are done took.
#[derive(Clone, Debug)]
pub(crate) struct TimeLeft {
    /// How many are measured side by side.
    lanes: f64,
    /// The weights of cells that are not done.
    left: Vec<f64>,
    /// The weights of those that are, and the seconds that each took.
    done: Vec<(f64, f64)>,
    /// What is to be spent in any case.
    allotted: f64,
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
        Self {
            lanes: lanes as f64,
            left: weights.into_iter().collect(),
            done: Vec::new(),
            allotted: 0.0,
        }
    }

    /// A cell is done: now, or by an earlier process.
    pub(crate) fn done(&mut self, weight: f64, seconds: f64) {
        if let Some(at) = self.left.iter().position(|&left| left == weight) {
            self.left.swap_remove(at);
        }
        self.done.push((weight, seconds));
    }

    /// So much is spent on the cells that are left, if they can use it.
    pub(crate) fn allot(&mut self, time: Duration) {
        self.allotted = time.as_secs_f64();
    }

    /// The part of the work that is done, if `inside` cells more are.
    pub(crate) fn part(&self, inside: f64) -> f64 {
        let all = self.done.len() + self.left.len();
        ((self.done.len() as f64 + inside) / all.max(1) as f64).min(1.0)
    }

    /// The time left, if `inside` cells more are done; `None` while nothing is
    /// known.
    pub(crate) fn range(&self, inside: f64) -> Option<Range> {
        if self.done.is_empty() && self.allotted == 0.0 {
            return None;
        }
        let (mut least, mut most) = (0.0, 0.0);
        for &weight in &self.left {
            let [by_cells, by_weight] = self.guesses(weight);
            least += by_cells.min(by_weight);
            most += by_cells.max(by_weight);
        }
        // The cells under way are as far as an average one.
        let rest = 1.0 - (inside / self.left.len().max(1) as f64).min(1.0);
        let seconds = |guess: f64| (guess * rest / self.lanes).max(self.allotted);
        Some(Range {
            least: seconds(least),
            most: seconds(most),
        })
    }

    /// The seconds that a cell takes if all cost the same, and if they grow with
    /// their weight.
    fn guesses(&self, weight: f64) -> [f64; 2] {
        let mean = |of: &dyn Fn(&&(f64, f64)) -> bool, by: &dyn Fn(f64) -> f64| {
            let (mut seconds, mut count) = (0.0, 0.0);
            for &(weight, took) in self.done.iter().filter(of) {
                seconds += took;
                count += by(weight);
            }
            (count > 0.0).then(|| seconds / count)
        };
        if let Some(seconds) = mean(&|done| done.0 == weight, &|_| 1.0) {
            return [seconds; 2];
        }
        let by_cells = mean(&|_| true, &|_| 1.0).unwrap_or(0.0);
        let by_weight = mean(&|_| true, &|weight| weight).unwrap_or(0.0);
        [by_cells, by_weight * weight]
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
    fn cells_of_a_known_weight_cost_what_they_did() {
        let mut left = TimeLeft::new([1.0, 32.0, 1.0, 32.0], 1);
        left.done(1.0, 60.0);
        assert_eq!(left.range(0.0).unwrap().to_string(), "3 min to 65 min left");
        left.done(32.0, 120.0);
        assert_eq!(left.range(0.0).unwrap().to_string(), "about 3 min left");
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
