//! Fits the part of the model `ours` that is not measured: how the best block decreases with an iteration's bytes.
//!
//! Only one number is fitted, so a search over its values is enough. The fit minimises the regret (how much slower the
//! loop is than with its best block), not the latency. Even equal cells have best blocks a few octaves (factors of two)
//! apart. A table has only powers of two, so the exact regret would jump where rounding leads to the next power.
//! Therefore each cell's regret is averaged over blocks around the model's block, with the weights of a normal
//! distribution in octaves.

use super::data::PublishedCell;
use super::prices::{PriceList, data_factor};

/// The standard deviation of the weights in the average of a cell's regret, in octaves.
const BLUR: f64 = 0.6;
/// A greater regret counts as this regret. One latency in the tables is ten times its neighbours, because of a
/// misprint.
const MOST: f64 = 3.0;
/// The number of exponents that are tried, from 0 to 2.
const STEPS: u32 = 200;

/// Returns the exponent with the least blurred regret over `cells`, with the prices of `list`.
pub(super) fn data_exponent(list: &PriceList, cells: &[&PublishedCell]) -> f64 {
    let balances: Vec<f64> = cells.iter().map(|cell| list.balance(&cell.at)).collect();
    let regret = |exponent: f64| -> f64 {
        let all = cells.iter().zip(&balances);
        all.map(|(cell, balance)| blurred(cell, balance * data_factor(&cell.at, exponent)))
            .sum()
    };
    least(
        (0..=STEPS).map(|step| 2.0 * f64::from(step) / f64::from(STEPS)),
        regret,
    )
}

/// Returns the candidate with the least `cost`. If several have this cost, returns the first of them. Returns 0 if
/// there are no candidates.
pub(super) fn least(candidates: impl Iterator<Item = f64>, cost: impl Fn(f64) -> f64) -> f64 {
    let costs = candidates.map(|candidate| (candidate, cost(candidate)));
    let best = costs.min_by(|a, b| a.1.total_cmp(&b.1));
    best.map_or(0.0, |(candidate, _)| candidate)
}

/// Returns a cell's regret, averaged over blocks around `block`. For a block beyond the table, the end of the table
/// counts.
pub(super) fn blurred(cell: &PublishedCell, block: f64) -> f64 {
    let best = cell.best();
    let distance = |at: usize| ((at as f64 / block).log2() / BLUR).powi(2);
    let distances = cell.measured.iter().map(|&(at, _)| distance(at));
    // Distances are relative to the nearest block, so that at least one weight is 1.
    let nearest = distances.fold(f64::INFINITY, f64::min);
    let (mut sum, mut weights) = (0.0, 0.0);
    for &(at, latency) in &cell.measured {
        let weight = (0.5 * (nearest - distance(at))).exp();
        sum += weight * (latency / best - 1.0).min(MOST);
        weights += weight;
    }
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Configuration, shipped};

    fn cell(measured: &[(usize, f64)]) -> PublishedCell {
        let configurations = shipped::latency().configurations().unwrap();
        PublishedCell {
            at: Configuration {
                unit_read: 4096,
                ..configurations[0].clone()
            },
            measured: measured.to_vec(),
        }
    }

    #[test]
    fn regret_is_averaged_over_neighbours() {
        let cell = cell(&[(1, 200.0), (2, 100.0), (4, 200.0)]);
        let at = |block| blurred(&cell, block);
        assert!(at(2.0) > 0.0 && at(2.0) < at(3.0) && at(3.0) < at(4.0));
        assert!((at(1.0) - at(4.0)).abs() < 1e-12);
        // Far beyond the table, only its end counts. A misprint counts as `MOST`.
        assert!((at(1e9) - 1.0).abs() < 1e-6);
        let slip = self::cell(&[(1, 1000.0), (1024, 10.0)]);
        assert_eq!(blurred(&slip, 1e-9), MOST);
    }

    #[test]
    fn the_exponent_of_synthetic_cells_is_found() {
        let list = PriceList::shipped();
        let mut cell = cell(&[]);
        for exponent in [0.25, 1.0] {
            let best = list.balance(&cell.at) * data_factor(&cell.at, exponent);
            // The latencies are symmetric around the best block. There is one for each eighth of an octave.
            cell.measured = (0..80)
                .map(|eighth| {
                    let block = (f64::from(eighth) / 8.0).exp2().round();
                    (block as usize, 1.0 + (block / best).log2().abs())
                })
                .collect();
            let found = data_exponent(&list, &[&cell]);
            assert!((found - exponent).abs() < 0.1, "{exponent}: {found}");
        }
    }
}
