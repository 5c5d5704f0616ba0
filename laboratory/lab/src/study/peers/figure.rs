//! The figure: speedup by number of threads, with a panel for each machine.

use super::cells::{Cells, Gap};
use super::config::PeersConfig;
use super::peer::{OURS, Peer, SERIAL};
use super::summary;
use crate::measure::statistics::geometric_mean;
use manycore_figure::{Axis, Figure, Panel, Point, Series};

pub(super) fn figure(config: &PeersConfig, cells: &Cells<'_>) -> Figure {
    let machines = 0..config.threads.len();
    let panels = machines.filter_map(|machine| {
        let shown = shown(config, cells, machine);
        let programs = common(config, cells, machine, &shown);
        let series = shown.iter().map(|peer| {
            let point = |&threads: &usize| {
                let value = speedup(cells, (machine, threads), &programs, peer)?;
                Some(Point::exact(threads as f64, value))
            };
            Series::measured(
                *peer,
                config.threads[machine].iter().filter_map(point).collect(),
            )
        });
        (!programs.is_empty()).then(|| {
            Panel::lines(
                config.machine(machine),
                Axis::logarithmic("threads", ""),
                Axis::logarithmic("speedup", ""),
                series,
            )
        })
    });
    Figure {
        part: String::new(),
        message: message(config, cells),
        note: format!(
            "Speedup over one thread without a runtime, geometric mean over programs ({}, seed {})",
            config.setup.world, config.setup.seed
        ),
        panels: panels.collect(),
    }
}

/// Returns manycore and the peers that are fastest with the most threads.
fn shown<'a>(config: &'a PeersConfig, cells: &Cells<'_>, machine: usize) -> Vec<&'a str> {
    let most = config.threads[machine].last().copied().unwrap_or(1);
    let peers = config.peers.iter().filter(|peer| Peer::is_peer(peer));
    let rated = peers.filter_map(|peer| {
        let programs = common(config, cells, machine, &[OURS, peer]);
        // Some peers lack programs, so each peer is compared with manycore on the programs that both have.
        let speedup = |peer| speedup(cells, (machine, most), &programs, peer);
        let share = programs.len() as f64 / config.programs.len() as f64;
        Some((&**peer, share, speedup(peer)? / speedup(OURS)?))
    });
    let mut rated: Vec<_> = rated.collect();
    // Peers that have less than half of the programs come last.
    rated.sort_by(|a, b| {
        (b.1 >= 0.5, b.2)
            .partial_cmp(&(a.1 >= 0.5, a.2))
            .expect("finite")
    });
    let shown = Peer::shown(rated.into_iter().map(|(peer, _, speedup)| (peer, speedup)));
    std::iter::once(OURS)
        .chain(shown.into_iter().map(|(peer, _)| peer))
        .collect()
}

/// Returns the programs that all of `peers` ran with each number of threads.
fn common<'a>(
    config: &'a PeersConfig,
    cells: &Cells<'_>,
    machine: usize,
    peers: &[&str],
) -> Vec<&'a str> {
    let has = |program: &str| {
        let counts = config.threads[machine].iter();
        let places = counts.map(|&threads| (machine, threads, program));
        let mut all = places.flat_map(|place| peers.iter().map(move |peer| (place, *peer)));
        all.all(|(place, peer)| cells.time(place, peer, Gap::Hot).is_some())
            && cells
                .time((machine, 1, program), SERIAL, Gap::Hot)
                .is_some()
    };
    let programs = config.programs.iter().map(String::as_str);
    programs.filter(|program| has(program)).collect()
}

fn speedup(
    cells: &Cells<'_>,
    (machine, threads): (usize, usize),
    programs: &[&str],
    peer: &str,
) -> Option<f64> {
    let ratios = programs.iter().map(|program| {
        let place = (machine, threads, *program);
        let serial = cells.time(place, SERIAL, Gap::Hot)?;
        Some(serial / cells.time(place, peer, Gap::Hot)?)
    });
    let ratios: Option<Vec<f64>> = ratios.collect();
    let ratios = ratios.filter(|ratios| !ratios.is_empty())?;
    Some(geometric_mean(ratios))
}

/// States manycore's time relative to rayon's time and to the best peer's time, with the most threads.
fn message(config: &PeersConfig, cells: &Cells<'_>) -> String {
    let most = config.threads.iter().enumerate();
    let places: Vec<(usize, usize)> = most
        .filter_map(|(machine, counts)| Some((machine, counts.last().copied()?)))
        .collect();
    let means = summary::means(config, cells, &places, Gap::Hot);
    let told = [
        means
            .over_rayon
            .map(|mean| format!("{mean:.2} times the time of rayon")),
        (means.over_best).map(|mean| format!("{mean:.2} times the time of the best peer")),
    ];
    let told: Vec<String> = told.into_iter().flatten().collect();
    match told.is_empty() {
        true => "No peer has a result to compare with".into(),
        false => format!(
            "With the most threads manycore takes {} (geometric means of {} cells)",
            told.join(", and "),
            means.cells
        ),
    }
}
