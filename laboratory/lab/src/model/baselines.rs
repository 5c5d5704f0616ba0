//! Models with one number, fitted in the same way as `ours`. A better model must have less regret (loss against the
//! best block) than these.

use super::data::PublishedCell;
use super::fitting::{blurred, least};
use super::prices::PriceList;

/// Returns the constant block with the least blurred regret, by quarters of an octave up to 1024.
pub(super) fn constant(cells: &[&PublishedCell]) -> f64 {
    let candidates = (0..=40).map(|quarter| (f64::from(quarter) / 4.0).exp2());
    least(candidates, |block| {
        cells.iter().map(|cell| blurred(cell, block)).sum()
    })
}

/// Returns the time in ns that a block should last, by quarters of an octave from 100 ns to 0.1 s.
pub(super) fn duration(prices: &PriceList, cells: &[&PublishedCell]) -> f64 {
    let candidates = (0..=80).map(|quarter| 100.0 * (f64::from(quarter) / 4.0).exp2());
    least(candidates, |ns| {
        let all = cells.iter();
        all.map(|cell| blurred(cell, block_lasting(prices, ns, cell)))
            .sum()
    })
}

/// Returns the number of iterations that take `ns`.
pub(super) fn block_lasting(prices: &PriceList, ns: f64, cell: &PublishedCell) -> f64 {
    let block = ns / prices.task(&cell.at).iteration_ns;
    block.clamp(1.0, cell.at.n as f64)
}
