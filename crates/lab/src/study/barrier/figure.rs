//! The figure: an episode and its exit latency against cores, one line a
//! barrier; single episodes beside the closed form.

use super::compare::{Numbers, closed_form, closed_form_apart};
use crate::measure::statistics::Spread;
use crate::report::figure::{self, Axis, Height, Panel, Point, Series};
use crate::study::team::Arrivals;
use manycore_chip::config::Optical;

/// Cores of the panel that shows small machines, as the thesis's own does.
const SMALL: usize = 16;

pub(super) fn render(numbers: Numbers<'_>) -> String {
    let config = numbers.config;
    let unit = config.setup.unit().name();
    let panel = |title: &str, height, y_label: String, series| Panel {
        title: title.to_owned(),
        axis: Axis::Logarithmic,
        height,
        x_label: "cores".into(),
        y_label,
        series,
    };
    let wait = format!("{unit} a wait");
    let exit = format!("exit latency, {unit}");
    let mut panels = vec![
        panel(
            "Loop, end to end",
            Height::Logarithmic,
            wait.clone(),
            series(numbers, usize::MAX, |cores, name| {
                let summary = numbers.of(0, cores, name)?;
                Some(a_wait(summary.total, summary.episodes))
            }),
        ),
        panel(
            &format!("Loop, end to end, up to {SMALL} cores"),
            Height::Linear,
            wait,
            series(numbers, SMALL, |cores, name| {
                let summary = numbers.of(0, cores, name)?;
                Some(a_wait(summary.total, summary.episodes))
            }),
        ),
        panel(
            "Loop, exit latency",
            Height::Logarithmic,
            exit.clone(),
            series(numbers, usize::MAX, |cores, name| {
                Some(numbers.of(0, cores, name)?.exit)
            }),
        ),
    ];
    panels.retain(|panel| panel.series.iter().any(|series| !series.points.is_empty()));
    if !config.setup.machines.is_host() {
        type Form = fn(&Optical, usize) -> u64;
        for (arrivals, title, form) in [
            (
                Arrivals::Together,
                "Single, all arriving at once",
                closed_form as Form,
            ),
            (
                Arrivals::Apart,
                "Single, one after the other",
                closed_form_apart,
            ),
        ] {
            let mut lines = series(numbers, usize::MAX, |cores, name| {
                Some(numbers.isolated(cores, name, arrivals)?.exit)
            });
            lines.extend(form_of(numbers, form));
            panels.push(panel(title, Height::Logarithmic, exit.clone(), lines));
        }
    }
    let title = format!("Barriers ({})", config.setup.place());
    figure::render("barrier", &title, &panels, None)
}

/// A line a barrier.
fn series(
    numbers: Numbers<'_>,
    most: usize,
    value: impl Fn(usize, &str) -> Option<Spread>,
) -> Vec<Series> {
    let barriers = numbers.config.setup.barriers.iter();
    let line = |name: &String| {
        let cores = numbers.config.cores.iter().filter(|&&cores| cores <= most);
        let point = |&cores: &usize| Some(point(cores, value(cores, name)?));
        Series {
            name: name.clone(),
            points: cores.filter_map(point).collect(),
            level: None,
        }
    };
    barriers.map(line).collect()
}

fn form_of(numbers: Numbers<'_>, form: fn(&Optical, usize) -> u64) -> Option<Series> {
    let optical = numbers.optical()?;
    let cores = numbers.config.cores.iter();
    let exact = |&cores: &usize| {
        let cycles = form(optical, cores) as f64;
        point(cores, Spread::of(&[cycles]))
    };
    Some(Series {
        name: "closed form of channel".into(),
        points: cores.map(exact).collect(),
        level: None,
    })
}

fn point(cores: usize, spread: Spread) -> Point {
    Point {
        x: cores as f64,
        y: spread.median,
        low: spread.p10,
        high: spread.p90,
    }
}

fn a_wait(total: Spread, episodes: usize) -> Spread {
    let share = |total: f64| total / episodes as f64;
    Spread {
        p10: share(total.p10),
        median: share(total.median),
        p90: share(total.p90),
    }
}
