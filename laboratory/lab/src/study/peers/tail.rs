//! Finds cells with rare slow calls, which a median hides.

use super::cells::{Calls, Cells, Gap};
use super::config::PeersConfig;
use super::peer::{OURS, Peer};
use super::tables::microseconds;
use crate::report::table::{Cell, Table};

/// A cell is listed if the mean of its calls is more than this many times their median.
const MOST_MEAN: f64 = 1.25;
/// A call is slow if it takes more than this many times the median.
const SLOW: f64 = 2.0;

/// The cells of manycore with slow calls. Beside each cell is the peer with the smallest mean.
pub(super) fn table(config: &PeersConfig, cells: &Cells<'_>) -> Table {
    let mut rows = Vec::new();
    for (machine, threads) in config.places() {
        for program in &config.programs {
            let place = (machine, threads, &**program);
            for gap in Gap::ALL {
                let Some(ours) = cells.calls(place, OURS, gap).filter(has_slow_calls) else {
                    continue;
                };
                let peers = config.peers_of(program).filter(|peer| Peer::is_peer(peer));
                let means = peers.filter_map(|peer| {
                    let calls = cells.calls(place, peer, gap)?;
                    Some((peer, calls.mean()))
                });
                let best = means.min_by(|a, b| a.1.total_cmp(&b.1));
                rows.push(vec![
                    Cell::new(config.machine(machine)),
                    Cell::new(threads.to_string()),
                    Cell::new(program),
                    Cell::new(gap.name()),
                    Cell::new(microseconds(ours.median())),
                    Cell::new(microseconds(ours.mean())),
                    Cell::new(microseconds(ours.longest())),
                    Cell::new(format!(
                        "{} of {}",
                        ours.above(SLOW * ours.median()),
                        ours.count()
                    )),
                    Cell::or_dash(
                        best.map(|(peer, mean)| format!("{} ({peer})", microseconds(mean))),
                    ),
                ]);
            }
        }
    }
    Table::new(
        format!(
            "Cells in which the mean of manycore's calls is more than {MOST_MEAN} times their median: us"
        ),
        [
            "machine",
            "threads",
            "program",
            "gap",
            "median",
            "mean",
            "longest",
            &*format!("above {SLOW} medians"),
            "mean of the best peer",
        ],
        rows,
    )
}

fn has_slow_calls(calls: &Calls) -> bool {
    calls.mean() > MOST_MEAN * calls.median()
}
