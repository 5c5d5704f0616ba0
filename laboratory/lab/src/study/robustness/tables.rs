//! The tables: each changed value, and the other barriers on the unchanged machine.

use super::config::Contestants;
use super::curve::{Curve, others};
use crate::report::table::{Cell, Table};
use crate::study::team::{BASELINES, PointSummary, Race};

pub(super) fn sweeps(race: Race<'_, Contestants<'_>>) -> Table {
    let config = race.config.config;
    let beside = beside(race);
    let mut header = vec!["parameter".to_owned()];
    header.extend(["cycles", "end to end", "per wait", "divided by\nits own"].map(str::to_owned));
    header.extend(
        beside
            .iter()
            .map(|other| format!("divided by\n{}", other.point.barrier)),
    );
    let mut rows = Vec::new();
    for sweep in &config.sweeps {
        let Some(curve) = Curve::of(race, sweep.parameter) else {
            continue;
        };
        for &(value, time) in &curve.points {
            let mut row = vec![
                Cell::new(sweep.parameter.name()),
                Cell::new(value.to_string()),
                Cell::new(format!("{time:.0}")),
                Cell::new(format!("{:.0}", time / curve.episodes as f64)),
                Cell::new(
                    curve
                        .factor(value)
                        .map_or("-".into(), |times| format!("{times:.2}")),
                ),
            ];
            let relative = |other: &&PointSummary| format!("{:.2}", time / other.total.median);
            row.extend(beside.iter().map(relative).map(Cell::new));
            rows.push(row);
        }
    }
    Table {
        caption: format!(
            "{}, {} cores: the thesis's barrier with one delay of the network changed. The last \
             columns have its time divided by its time with the machine's own delay, and divided \
             by the times of other barriers",
            race.config.app.name(),
            config.cores
        ),
        header,
        rows,
    }
}

pub(super) fn references(race: Race<'_, Contestants<'_>>) -> Table {
    let row = |other: &PointSummary| {
        vec![
            Cell::new(&*other.point.barrier),
            Cell::new(format!("{:.0}", other.total.median)),
            Cell::new(format!("{:.0}", other.an_episode())),
            Cell::new(if other.broadcasts() {
                "network"
            } else {
                "memory"
            }),
        ]
    };
    Table {
        caption: format!(
            "{}, {} cores: the other barriers",
            race.config.app.name(),
            race.config.config.cores
        ),
        header: ["barrier", "end to end", "per wait", "through"]
            .map(str::to_owned)
            .into(),
        rows: others(race).into_iter().map(row).collect(),
    }
}

/// The baselines of the thesis (Park 2013), and the best barrier through memory.
pub(super) fn beside<'a>(race: Race<'a, Contestants<'_>>) -> Vec<&'a PointSummary> {
    let others = others(race);
    let mut beside: Vec<&PointSummary> = BASELINES
        .iter()
        .filter_map(|name| others.iter().find(|other| other.point.barrier == *name))
        .copied()
        .collect();
    let best = others.iter().find(|other| !other.broadcasts());
    if let Some(best) = best.filter(|best| !BASELINES.contains(&&*best.point.barrier)) {
        beside.push(best);
    }
    beside
}
