//! Measures the points of a sweep, side by side if they are simulated.

use super::sweep_grid::{Grid, Point, Points, Record};
use crate::measure::journal::Journal;
use crate::measure::side_by_side;
use crate::report::files::OutFolder;
use crate::shard::Shard;
use crate::study::Plan;
use crate::study::ordered::FEWEST;

/// The points to measure.
pub(super) struct SweepPoints<'a> {
    pub(super) grid: &'a Grid,
    /// A plan for each point.
    pub(super) plans: &'a [Box<dyn Plan>],
    pub(super) shard: Shard,
    /// Whether points run natively. Such points would disturb each other, so they do not run side by side.
    pub(super) is_native: bool,
    /// Whether to stop after the first orders that decide all findings.
    pub(super) until: bool,
    pub(super) out: &'a OutFolder,
}

impl SweepPoints<'_> {
    /// Measures the points that `points` lacks. Returns the number of points that the findings need.
    pub(super) fn measure(
        &self,
        points: &mut Points,
        journal: &mut Journal,
    ) -> anyhow::Result<usize> {
        let (grid, shard) = (self.grid, self.shard);
        let of_shard = (shard.index - 1..grid.len()).step_by(shard.all);
        let missing: Vec<usize> = of_shard
            .filter(|number| !points.contains_key(number))
            .collect();
        let mut orders = FEWEST;
        if let Some(end) = self.decided(points, &mut orders)? {
            return Ok(end);
        }
        let host = side_by_side::host()?;
        let at_once = if self.is_native { 1 } else { host.threads() };
        for some in missing.chunks(at_once.max(1)) {
            let measure = |at: usize| {
                let number = some[at];
                eprintln!(
                    "manycore: sweep, point {} of {}: {}",
                    number + 1,
                    grid.len(),
                    grid.name(number)
                );
                self.plans[number].measure(self.out)
            };
            let found = match self.is_native {
                true => vec![measure(0)],
                false => side_by_side::side_by_side(host, some.len(), measure),
            };
            for (&number, findings) in some.iter().zip(found) {
                let findings = findings?;
                let point = Point::of(number, &findings);
                journal.append(&Record::Point(point.clone()))?;
                findings.journal.remove()?;
                points.insert(number, point);
            }
            if let Some(end) = self.decided(points, &mut orders)? {
                return Ok(end);
            }
        }
        Ok(grid.len())
    }

    /// Returns the number of points under the first N orders, for the smallest N that decides all
    /// findings. Tries N from `orders` on, since smaller N are known not to decide them.
    fn decided(&self, points: &Points, orders: &mut usize) -> anyhow::Result<Option<usize>> {
        if !self.until {
            return Ok(None);
        }
        let an_order = self.grid.points_of_an_order();
        for end in (*orders * an_order..=self.grid.len()).step_by(an_order) {
            let done: Points = (points.range(..end))
                .map(|(&number, point)| (number, point.clone()))
                .collect();
            if done.len() < end {
                break;
            }
            if self.grid.until(end).is_decided(&done)? {
                return Ok(Some(end));
            }
            *orders += 1;
        }
        Ok(None)
    }
}
