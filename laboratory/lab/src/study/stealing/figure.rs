//! The figure: time over the ideal against the length of tasks and against
//! cores, a panel a distribution.

use super::results::StealingResults;
use crate::report::words;
use manycore_figure::{Axis, Figure, Panel, Point, Series};

pub(super) fn figure(results: StealingResults<'_>) -> Figure {
    let config = results.config;
    let unit = config.setup.unit().name();
    let (cores, cycles) = (config.cores[0], config.cycles[0]);
    let mut panels = panels(
        results,
        &format!("{cores} cores"),
        &Axis::logarithmic("length of a task", unit),
        &config.cycles,
        |cycles| (cores, cycles),
    );
    if config.cores.len() > 1 {
        let sizes: Vec<u64> = config.cores.iter().map(|&cores| cores as u64).collect();
        let title = format!("tasks of {} {unit}", words::count(cycles));
        let axis = Axis::logarithmic("cores", "");
        let of_cores = self::panels(results, &title, &axis, &sizes, |cores| {
            (cores as usize, cycles)
        });
        panels.extend(of_cores);
    }
    Figure {
        part: String::new(),
        message: message(results),
        note: format!(
            "Time until all tasks are done, over that of all tasks divided by the cores; a panel \
             for each distribution at the beginning ({})",
            config.setup.place()
        ),
        panels,
    }
}

fn panels(
    results: StealingResults<'_>,
    what: &str,
    x: &Axis,
    values: &[u64],
    at: impl Fn(u64) -> (usize, u64),
) -> Vec<Panel> {
    let mut values = values.to_vec();
    values.sort_unstable();
    let panel = |&distribution| {
        let series = results.config.disciplines.iter().map(|name| {
            let point = |&value: &u64| {
                let stretch = results.stretch(at(value), distribution, name)?;
                Some(Point::new(value as f64, stretch))
            };
            Series::measured(&**name, values.iter().filter_map(point).collect())
        });
        Panel::lines(
            format!("{distribution}, {what}"),
            x.clone(),
            Axis::logarithmic("time over the ideal", ""),
            series,
        )
    };
    results.config.distributions.iter().map(panel).collect()
}

/// Within this much of the best counts as the best.
const LEVEL: f64 = 1.01;

/// Which discipline is best most often.
fn message(results: StealingResults<'_>) -> String {
    let config = results.config;
    let (mut cases, mut wins) = (0, vec![0; config.disciplines.len()]);
    for at in config.star() {
        for &distribution in &config.distributions {
            let Some((_, best)) = results.best(at, distribution) else {
                continue;
            };
            cases += 1;
            for (name, won) in config.disciplines.iter().zip(&mut wins) {
                let stretch = results.stretch(at, distribution, name);
                *won += usize::from(stretch.is_some_and(|own| own.median <= LEVEL * best));
            }
        }
    }
    let all = config.disciplines.iter().zip(wins);
    match all.rev().max_by_key(|each| each.1) {
        Some((name, won)) if cases > 0 => format!(
            "In {won} of {cases} cases {name} spreads tasks fastest, or within 1% of the fastest"
        ),
        _ => "How fast tasks spread".into(),
    }
}
