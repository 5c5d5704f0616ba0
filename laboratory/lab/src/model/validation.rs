//! Judges models on cells that their fit has not seen.

use super::data::PublishedCell;
use std::collections::BTreeMap;

/// The most fits. Each fit leaves out one part. If there are more parts than fits, a fit leaves out several parts.
const MOST_FITS: usize = 64;

/// The cells that are left out together.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Cells that differ only in `unit_comp`. A compiler folds this computation, so the cells are repetitions.
    Configuration,
    /// All cells of a machine.
    Machine,
}

/// Returns the regrets (losses of time against the best block) in the order of the cells. Each cell's model is fitted
/// without the cells of the same `part`. Returns `None` if one part has all cells.
pub(super) fn leave_out<M>(
    cells: &[PublishedCell],
    part: Part,
    fit: impl Fn(&[&PublishedCell]) -> M,
    block: impl Fn(&M, &PublishedCell) -> f64,
) -> Option<Vec<f64>> {
    let parts = parts(cells, part);
    let mut regrets = vec![None; cells.len()];
    for i in 0..cells.len() {
        if regrets[i].is_some() {
            continue;
        }
        let others = cells
            .iter()
            .zip(&parts)
            .filter(|(_, other)| **other != parts[i]);
        let others: Vec<&PublishedCell> = others.map(|(cell, _)| cell).collect();
        if others.is_empty() {
            return None;
        }
        let model = fit(&others);
        for (j, cell) in cells.iter().enumerate() {
            if parts[j] == parts[i] {
                regrets[j] = Some(cell.regret(block(&model, cell)));
            }
        }
    }
    regrets.into_iter().collect()
}

/// The number of each cell's part.
fn parts(cells: &[PublishedCell], part: Part) -> Vec<usize> {
    let mut known = BTreeMap::new();
    let parts = cells.iter().map(|cell| {
        let at = &cell.at;
        let sizes = (
            at.core_groups,
            at.threads,
            at.unit_read,
            at.unit_write,
            at.n,
        );
        let key = match part {
            Part::Configuration => (&*at.machine, Some(sizes)),
            Part::Machine => (&*at.machine, None),
        };
        let next = known.len();
        *known.entry(key).or_insert(next) % MOST_FITS
    });
    parts.collect()
}
