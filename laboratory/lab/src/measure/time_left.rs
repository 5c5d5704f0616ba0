//! Estimates how long a measurement still takes. The estimate assumes that the cost of a cell (one combination of
//! settings) grows with its weight, the number of threads or cores.

use std::time::Duration;

/// Cells, their weights, and the times of finished cells.
#[derive(Clone, Debug)]
pub(crate) struct TimeLeft {
    /// The number of cells that are measured side by side.
    lanes: f64,
    cells: f64,
    /// The sum of all weights.
    weight: f64,
    /// The number of finished cells, their weights, and their seconds.
    done: [f64; 3],
    /// The seconds that the remaining cells use at least.
    allotted: f64,
}

impl TimeLeft {
    /// Starts an estimate for cells of these weights. `lanes` cells run at a time.
    pub(crate) fn new(weights: impl IntoIterator<Item = f64>, lanes: usize) -> Self {
        let weights: Vec<f64> = weights.into_iter().collect();
        Self {
            lanes: lanes as f64,
            cells: weights.len() as f64,
            weight: weights.iter().sum(),
            done: [0.0; 3],
            allotted: 0.0,
        }
    }

    /// Records that a cell is done, either now or by an earlier process.
    pub(crate) fn done(&mut self, weight: f64, seconds: f64) {
        let [cells, weights, all_seconds] = self.done;
        self.done = [cells + 1.0, weights + weight, all_seconds + seconds];
    }

    /// Records the time that the remaining cells may fill with measurements.
    pub(crate) fn allot(&mut self, time: Duration) {
        self.allotted = time.as_secs_f64();
    }

    /// Returns the share of the cells that is done. `inside` is the finished part of the cells that are being measured,
    /// as a number of cells.
    pub(crate) fn part(&self, inside: f64) -> f64 {
        ((self.done[0] + inside) / self.cells.max(1.0)).min(1.0)
    }

    /// Returns the time left in words, with `inside` as in [`part`](Self::part). Returns an empty text if there is no
    /// estimate.
    pub(crate) fn told(&self, inside: f64) -> String {
        let [cells, weights, seconds] = self.done;
        if cells == 0.0 && self.allotted == 0.0 {
            return String::new();
        }
        // This assumes that the cells that are being measured are average cells.
        let rest = 1.0 - (inside / (self.cells - cells).max(1.0)).min(1.0);
        let left = (self.weight - weights).max(0.0) * rest;
        let by_weight = seconds / weights.max(f64::MIN_POSITIVE) * left / self.lanes;
        format!("about {} left  ", rounded(by_weight.max(self.allotted)))
    }
}

/// Formats a time with the precision of an estimate.
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

    #[test]
    fn cells_cost_as_their_weight() {
        let mut left = TimeLeft::new([1.0, 32.0, 1.0, 32.0], 2);
        assert_eq!(left.told(0.5), "");
        left.done(1.0, 4.0);
        assert_eq!(left.told(0.0), "about 2 min left  ");
        left.done(32.0, 128.0);
        assert_eq!(left.told(0.0), "about 1 min left  ");
        assert_eq!((left.part(0.0), left.part(1.0)), (0.5, 0.75));
        // The second-last cell is nearly done.
        assert_eq!(left.told(1.0), "about 35 s left  ");
    }

    #[test]
    fn allotted_time_is_spent() {
        let mut left = TimeLeft::new([1.0; 4], 1);
        left.allot(Duration::from_secs(90));
        assert_eq!(left.told(0.0), "about 2 min left  ");
        // A cell takes longer than the allotted time.
        left.done(1.0, 200.0);
        left.allot(Duration::ZERO);
        assert_eq!(left.told(0.0), "about 10 min left  ");
    }
}
