//! The latencies of the same loops in the document (Shuai's paper).

use super::config::Dimension;
use crate::model::{self, Configuration, ModelError, PrintedComparison};

/// Rows of a table. A machine has three tables, in the order of [`Dimension::ALL`].
const ROWS: usize = 6;

/// Rows of the document's nine tables of comparison.
#[derive(Debug)]
pub(super) struct Printed(Vec<PrintedComparison>);

impl Printed {
    pub(super) fn new() -> Result<Self, ModelError> {
        model::printed_comparisons().map(Self)
    }

    /// A loop's row in the table for `dimension`. The middle loop has a row in each table, with different latencies.
    pub(super) fn of(
        &self,
        dimension: Dimension,
        at: &Configuration,
    ) -> Option<&PrintedComparison> {
        let of_machine = self.0.iter().filter(|row| row.machine == at.machine);
        let table = of_machine.skip(dimension as usize * ROWS).take(ROWS);
        let mut same = table.filter(|row| {
            row.threads == at.threads
                && (row.unit_read, row.unit_write, row.unit_comp)
                    == (at.unit_read, at.unit_write, at.unit_comp)
        });
        same.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_has_a_row_in_each_table() -> Result<(), ModelError> {
        let printed = Printed::new()?;
        let at = Configuration {
            machine: "W-3225R".into(),
            core_groups: 1,
            threads: 8,
            unit_read: 1024,
            unit_write: 1024,
            unit_comp: 1 << 60,
            n: 4096,
        };
        let taskflow =
            |dimension, at: &Configuration| printed.of(dimension, at).map(|row| row.taskflow_ns);
        let middle = Dimension::ALL.map(|dimension| taskflow(dimension, &at));
        assert_eq!(middle, [462_600.0, 1_167_500.0, 479_000.0].map(Some));
        let other = Configuration {
            unit_write: 64,
            ..at
        };
        assert_eq!(taskflow(Dimension::Write, &other), Some(580_100.0));
        assert_eq!(taskflow(Dimension::Read, &other), None);
        Ok(())
    }
}
