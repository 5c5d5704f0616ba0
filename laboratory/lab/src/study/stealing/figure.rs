//! The figure: time divided by the ideal, against the length of tasks and against cores, a panel for each distribution.

use super::results::StealingResults;
use crate::measure::ratio::{Ratio, Side};
use crate::report::words;
use crate::study::compared::{Compared, Sentence};
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
        message: sentence(&results.compared()).text,
        note: format!(
            "Time until all tasks are done, divided by the ideal time (the time of all tasks \
             divided by the cores), with a panel for each initial distribution ({})",
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
            Axis::logarithmic("time / ideal time", ""),
            series,
        )
    };
    results.config.distributions.iter().map(panel).collect()
}

/// Times within this factor of the fastest count as the fastest.
const LEVEL: f64 = 1.01;

/// Names the discipline (stealing algorithm) that is fastest most often, and in how many cases this is shown.
pub(super) fn sentence(compared: &Compared) -> Sentence {
    let of = |name: &str| -> Vec<Ratio> {
        let cells = compared.cells.iter();
        let over_best = cells.filter_map(|cell| {
            let others = cell.ranked(|other| other != name);
            cell.chosen_ratio(name, others.first()?, others.len())
        });
        over_best.collect()
    };
    let count = |ratios: &[Ratio], side| {
        let same = ratios.iter().filter(|ratio| ratio.side(LEVEL) == side);
        same.count()
    };
    let names = compared.names().into_iter().rev();
    let all = names.map(|name| (name, of(name)));
    let best = all.max_by_key(|(_, ratios)| count(ratios, Side::Below));
    let Some((name, ratios)) = best.filter(|best| !best.1.is_empty()) else {
        return Sentence {
            text: "How fast tasks spread".into(),
            ratios: Vec::new(),
        };
    };
    let open = match count(&ratios, Side::NotShown) {
        0 => String::new(),
        open => format!("; in {open} cases neither this nor the opposite is shown"),
    };
    Sentence {
        text: format!(
            "In {} of {} cases {name} spreads tasks fastest, or within 1% of the fastest{open}{}",
            count(&ratios, Side::Below),
            ratios.len(),
            compared.ground()
        ),
        ratios: ratios.into_iter().map(|ratio| (ratio, LEVEL)).collect(),
    }
}
