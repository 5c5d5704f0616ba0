//! Predicts for cells that the fit has not seen.

use super::data::PublishedCell;
use super::error::ModelError;
use super::fitting::fit;
use std::collections::BTreeMap;

/// Fits to leave something out of. If there are more parts, several are left out at once.
const MOST_FITS: usize = 64;

/// Regrets of `ours`, in the order of the cells, where each was fitted without
/// the cells of the same `part`. None if some part is all there is.
pub(super) fn leave_out<K: Ord>(
    cells: &[PublishedCell],
    part: impl Fn(usize, &PublishedCell) -> K,
) -> Result<Option<Vec<f64>>, ModelError> {
    let mut known = BTreeMap::new();
    let parts = cells.iter().enumerate().map(|(i, cell)| {
        let next = known.len();
        *known.entry(part(i, cell)).or_insert(next) % MOST_FITS
    });
    let parts: Vec<usize> = parts.collect();
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
            return Ok(None);
        }
        let parameters = fit(&others)?;
        for (j, cell) in cells.iter().enumerate() {
            if parts[j] == parts[i] {
                regrets[j] = Some(cell.regret(parameters.block(&cell.at) as f64));
            }
        }
    }
    Ok(regrets.into_iter().collect())
}

/// Every cell by itself.
pub(super) fn by_cell(cells: &[PublishedCell]) -> Result<Option<Vec<f64>>, ModelError> {
    leave_out(cells, |i, _| i)
}

/// All cells of a machine at once.
pub(super) fn by_machine(cells: &[PublishedCell]) -> Result<Option<Vec<f64>>, ModelError> {
    leave_out(cells, |_, cell| cell.at.machine.clone())
}

/// All cells with as many core groups at once.
pub(super) fn by_core_groups(cells: &[PublishedCell]) -> Result<Option<Vec<f64>>, ModelError> {
    leave_out(cells, |_, cell| cell.at.core_groups)
}
