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
        /// The number of runs that succeeded.
        orders: usize = cells.orders(place, peer),
        /// The sum of the first ten calls, which have no gap between them.
        first_ten_us: Option<f64> = (gap == Gap::Hot)
            .then(|| cells.first(place, peer).map(rounded))
            .flatten(),
        steady_us: Option<f64> = cells.time(place, peer, gap).map(rounded),
        /// The runtime's time divided by the serial time.
        ratio_serial: Option<f64> = cells
            .time(place, peer, gap)
            .zip(cells.time(place, SERIAL, Gap::Hot))
            .map(|(time, serial)| rounded(time / serial)),
        /// The time of manycore divided by the runtime's, with the interval.
        ratio_ours: Option<f64> = ratio.map(|ratio| rounded(ratio.mean)),
        ratio_ours_low: Option<f64> = interval(ratio).map(|[low, _]| rounded(low)),
        ratio_ours_high: Option<f64> = interval(ratio).map(|[_, high]| rounded(high)),
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

/// Rounds times to a nanosecond, and ratios to a thousandth.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
