//! Shares a study's time among its cells on a machine of any speed.

use std::time::Duration;

/// The time that is left, and the number of cells that share it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    left: Duration,
    cells: u32,
}

impl Budget {
    /// A budget of `total` for `cells` cells.
    pub(crate) fn new(total: Duration, cells: usize) -> Self {
        Self {
            left: total,
            cells: cells as u32,
        }
    }

    /// The next cell's share: an equal part of the time that earlier cells left. A cell that needs more than its share
    /// takes time from later cells.
    pub(crate) fn share(&self) -> Duration {
        self.left / self.cells.max(1)
    }

    /// The time that the remaining cells have together.
    pub(crate) fn left(&self) -> Duration {
        self.left
    }

    /// Records that a cell took this long.
    pub(crate) fn spend(&mut self, taken: Duration) {
        self.left = self.left.saturating_sub(taken);
        self.cells = self.cells.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dear_cell_shortens_the_others() {
        let mut budget = Budget::new(Duration::from_secs(10), 4);
        assert_eq!(budget.share(), Duration::from_millis(2500));
        budget.spend(Duration::from_secs(7));
        assert_eq!(budget.share(), Duration::from_secs(1));
        budget.spend(Duration::from_secs(9));
        assert_eq!(budget.share(), Duration::ZERO);
    }
}
