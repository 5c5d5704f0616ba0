//! The goals of the runtime, and whether the measurement reaches them.

use super::cells::{Cells, Gap};
use super::config::PeersConfig;
use super::peer::{OURS, Peer};
use super::scaling::{self, ALLOWED};
use super::summary;
use crate::report::table::{Cell, Table};

/// From this number of threads on, the goal is that manycore is faster than each peer (other runtime).
const FEWEST: usize = 4;

/// The means are judged at this number of threads, or at a machine's largest number below it.
const MANY: usize = 64;

/// The largest allowed mean ratio of manycore's time to rayon's time, and to the best peer's time.
const OVER_RAYON: f64 = 0.40;
const OVER_BEST: f64 = 0.75;

/// The largest allowed ratio of the first ten calls to ten steady ones.
const FIRST: f64 = 2.0;

/// A row: the goal, its bound, the measured value, and whether the value is within the bound. `found` is `None` if
/// nothing was measured.
struct Verdict {
    asked: String,
    bound: String,
    found: Option<(String, bool)>,
}

/// The table of goals.
pub(super) fn table(config: &PeersConfig, cells: &Cells<'_>) -> Table {
    let verdicts = [
        slower(config, cells),
        ahead(config, cells, Gap::Hot),
        ahead(config, cells, Gap::Millisecond),
        mean(config, cells, "rayon", OVER_RAYON, |means| means.over_rayon),
        mean(config, cells, "the best peer", OVER_BEST, |means| {
            means.over_best
        }),
        first(config, cells),
    ];
    let row = |verdict: Verdict| {
        let reached = verdict
            .found
            .as_ref()
            .map(|(_, is_reached)| match is_reached {
                true => "reached".to_owned(),
                false => "not reached".to_owned(),
            });
        vec![
            Cell::new(verdict.asked),
            Cell::new(verdict.bound),
            Cell::or_dash(verdict.found.map(|(found, _)| found)),
            Cell::or_dash(reached),
        ]
    };
    Table::new(
        "The goals of manycore, and the results",
        ["goal", "bound", "result", "verdict"],
        verdicts.map(row),
    )
}

fn slower(config: &PeersConfig, cells: &Cells<'_>) -> Verdict {
    let steps = scaling::steps(config, cells, OURS);
    let slower = steps.iter().filter(|step| step.is_slower()).count();
    let sure = steps
        .iter()
        .filter(|step| step.is_slower_for_sure())
        .count();
    let worst = steps.iter().map(|step| step.ratio.mean).reduce(f64::max);
    let found = worst.map(|worst| {
        let told = format!(
            "{slower} of {} cells above, {sure} of them certainly; worst {worst:.2}",
            steps.len()
        );
        (told, slower == 0)
    });
    Verdict {
        asked: "time of manycore / its best time with fewer threads".into(),
        bound: format!("at most {ALLOWED}"),
        found,
    }
}

fn ahead(config: &PeersConfig, cells: &Cells<'_>, gap: Gap) -> Verdict {
    let found = summary::ahead(config, cells);
    let counted = |threads: usize, other: Gap| threads >= FEWEST && other == gap;
    let behind = (found
        .iter()
        .filter(|ahead| counted(ahead.threads, ahead.gap)))
    .count();
    let places = config.places().filter(|place| place.1 >= FEWEST);
    let compared: usize = places
        .map(|(machine, threads)| {
            let pairs = config.programs.iter().flat_map(|program| {
                let peers = config.peers_of(program).filter(|peer| Peer::is_peer(peer));
                peers.filter_map(|peer| cells.ratio((machine, threads, program), peer, gap))
            });
            pairs.count()
        })
        .sum();
    let told = format!("{behind} of {compared} cells not certainly below");
    Verdict {
        asked: match gap {
            Gap::Hot => format!("time of manycore / time of each peer, from {FEWEST} threads on"),
            Gap::Millisecond => format!("the same, for calls after {} without work", gap.name()),
        },
        bound: "below 1 with the whole interval".into(),
        found: (compared > 0).then_some((told, behind == 0)),
    }
}

fn mean(
    config: &PeersConfig,
    cells: &Cells<'_>,
    peer: &str,
    bound: f64,
    of: impl Fn(&summary::Means) -> Option<f64>,
) -> Verdict {
    let counts = config.threads.iter().enumerate();
    let places: Vec<(usize, usize)> = counts
        .filter_map(|(machine, counts)| {
            let most = counts
                .iter()
                .copied()
                .filter(|&count| count <= MANY)
                .max()?;
            Some((machine, most))
        })
        .collect();
    let mean = of(&summary::means(config, cells, &places, Gap::Hot));
    Verdict {
        asked: format!(
            "time of manycore / time of {peer} with {MANY} threads (or the largest number below), geometric mean"
        ),
        bound: format!("at most {bound:.2}"),
        found: mean.map(|mean| (format!("{mean:.2}"), mean <= bound)),
    }
}

fn first(config: &PeersConfig, cells: &Cells<'_>) -> Verdict {
    let ratios = config.places().flat_map(|(machine, threads)| {
        let programs = config.programs.iter();
        programs.filter_map(move |program| {
            let ratio = cells.first_over_steady((machine, threads, program), OURS)?;
            Some((ratio, format!("{program}, {threads} threads")))
        })
    });
    let ratios: Vec<(f64, String)> = ratios.collect();
    let above = ratios.iter().filter(|(ratio, _)| *ratio > FIRST).count();
    let worst = ratios.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let found = worst.map(|(worst, place)| {
        let told = format!(
            "{above} of {} cells above; worst {worst:.1} ({place})",
            ratios.len()
        );
        (told, above == 0)
    });
    Verdict {
        asked: "time of the first ten calls / time of ten steady calls".into(),
        bound: format!("at most {FIRST}"),
        found,
    }
}
