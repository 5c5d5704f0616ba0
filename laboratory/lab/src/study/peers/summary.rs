//! The time of manycore relative to the times of peers (other runtimes), over many cells.

use super::cells::{Cells, Gap};
use super::config::PeersConfig;
use super::peer::{Peer, RAYON};
use crate::measure::ratio::Ratio;
use crate::measure::statistics::geometric_mean;

/// A cell where a peer may be as fast as manycore.
pub(super) struct Ahead<'a> {
    pub(super) machine: usize,
    pub(super) threads: usize,
    pub(super) program: &'a str,
    pub(super) gap: Gap,
    pub(super) peer: &'a str,
    pub(super) ratio: Ratio,
}

/// Geometric means over the programs that manycore and the peer both have.
pub(super) struct Means {
    pub(super) over_rayon: Option<f64>,
    pub(super) over_best: Option<f64>,
    /// The number of cells (a machine, a number of threads and a program) with a best peer.
    pub(super) cells: usize,
}

/// Returns the mean ratios of manycore's time to rayon's time and to the best peer's time. A place is a machine and a
/// number of threads.
pub(super) fn means<'a>(
    config: &'a PeersConfig,
    cells: &Cells<'a>,
    places: &[(usize, usize)],
    gap: Gap,
) -> Means {
    let (mut rayon, mut best) = (Vec::new(), Vec::new());
    for &(machine, threads) in places {
        for program in &config.programs {
            let place = (machine, threads, &**program);
            let ratio = |peer: &str| Some(cells.ratio(place, peer, gap)?.mean);
            rayon.extend(ratio(RAYON));
            let fastest = cells.best(place, &config.peers, gap);
            best.extend(fastest.and_then(|(peer, _)| ratio(peer)));
        }
    }
    let cells = best.len();
    let mean = |ratios: Vec<f64>| (!ratios.is_empty()).then(|| geometric_mean(ratios));
    Means {
        over_rayon: mean(rayon),
        over_best: mean(best),
        cells,
    }
}

/// Returns all cells where a peer may be as fast as manycore.
pub(super) fn ahead<'a>(config: &'a PeersConfig, cells: &Cells<'a>) -> Vec<Ahead<'a>> {
    let mut found = Vec::new();
    for (machine, threads) in config.places() {
        for program in &config.programs {
            for gap in Gap::ALL {
                for peer in config.peers.iter().filter(|peer| Peer::is_peer(peer)) {
                    let ratio = cells.ratio((machine, threads, program), peer, gap);
                    if let Some(ratio) = ratio.filter(|ratio| !ratio.is_below_one()) {
                        found.push(Ahead {
                            machine,
                            threads,
                            program,
                            gap,
                            peer,
                            ratio,
                        });
                    }
                }
            }
        }
    }
    found
}
