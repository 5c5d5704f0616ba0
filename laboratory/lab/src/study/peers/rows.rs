//! The numbers: a row for each cell and gap.

use super::cells::{Cells, Gap, Place};
use super::config::PeersConfig;
use super::peer::SERIAL;
use crate::measure::ratio::Ratio;
use crate::report::csv::columns;

columns! {
    /// A line of `peers.csv`: a cell and a gap.
    pub(super) PeersRow(
        config: &PeersConfig,
        cells: &Cells<'_>,
        place: Place<'_>,
        peer: &str,
        gap: Gap,
        ratio: Option<Ratio>,
    ) {
        world: &'static str = config.setup.world,
        machine: String = config.machine(place.0),
        threads: usize = place.1,
        program: String = place.2.to_owned(),
        peer: String = peer.to_owned(),
        /// The time between two calls.
        gap: &'static str = gap.name(),
        /// The number of runs that succeeded: one in each order, or natively one in each round.
        orders: usize = cells.successes(place, peer),
        /// The sum of the first ten calls, which have no gap between them.
        first_ten_us: Option<f64> = (gap == Gap::Hot)
            .then(|| cells.first(place, peer).map(rounded))
            .flatten(),
        steady_us: Option<f64> = cells.time(place, peer, gap).map(rounded),
        /// The mean and the longest of all calls, of all orders. Medians hide rare slow calls.
        mean_us: Option<f64> = cells.calls(place, peer, gap).map(|calls| rounded(calls.mean())),
        longest_us: Option<f64> =
            cells.calls(place, peer, gap).map(|calls| rounded(calls.longest())),
        /// The runtime's time divided by the serial time.
        ratio_serial: Option<f64> = cells
            .time(place, peer, gap)
            .zip(cells.time(place, SERIAL, Gap::Hot))
            .map(|(time, serial)| significant(time / serial)),
        /// The time of manycore divided by the runtime's time, with the interval.
        ratio_ours: Option<f64> = ratio.map(|ratio| significant(ratio.mean)),
        ratio_ours_low: Option<f64> = interval(ratio).map(|[low, _]| significant(low)),
        ratio_ours_high: Option<f64> = interval(ratio).map(|[_, high]| significant(high)),
        /// Why a run failed, if one did.
        reason: String = cells.reason(place, peer).unwrap_or_default().to_owned(),
        hash: String = cells.hash(place, peer),
    }
}

/// All rows.
pub(super) fn all(config: &PeersConfig, cells: &Cells<'_>) -> Vec<PeersRow> {
    let mut rows = Vec::new();
    for (machine, threads) in config.places() {
        for program in &config.programs {
            let place = (machine, threads, &**program);
            for peer in config.peers_of(program) {
                for gap in Gap::ALL {
                    let ratio = cells.ratio(place, peer, gap);
                    rows.push(PeersRow::new(config, cells, place, peer, gap, ratio));
                }
            }
        }
    }
    if config.peers.iter().any(|peer| peer == SERIAL) {
        for machine in 0..config.threads.len() {
            for program in config.serial_programs() {
                let place = (machine, 1, program);
                rows.push(PeersRow::new(config, cells, place, SERIAL, Gap::Hot, None));
            }
        }
    }
    rows
}

fn interval(ratio: Option<Ratio>) -> Option<[f64; 2]> {
    ratio?.interval
}

/// Rounds a ratio to four digits. A ratio of a thousandth has as many digits as a ratio of thousand.
fn significant(ratio: f64) -> f64 {
    format!("{ratio:.3e}").parse().unwrap_or(ratio)
}

/// Rounds times to a nanosecond.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_speedup_keeps_its_digits() {
        let speedup = |time: f64, serial: f64| 1.0 / significant(time / serial);
        assert!((speedup(10.0, 573.0) - 57.3).abs() < 0.02);
        assert!((speedup(1.0, 5_000.0) - 5_000.0).abs() < 3.0);
        assert_eq!(significant(1.23456), 1.235);
    }
}
