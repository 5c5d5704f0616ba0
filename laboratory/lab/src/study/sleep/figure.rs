//! The figures: the time of each policy relative to the time of rayon's policy, with a row for each policy; and the
//! speedup of programs, if there are more than two numbers of threads.

use super::cell::Policy;
use super::config::SleepConfig;
use super::measured::MeasuredPolicies;
use super::published::Published;
use super::speedup;
use crate::measure::ratio::Ratio;
use crate::study::block_size::grid::threads;
use crate::study::compared::{Compared, Sentence, difference};
use manycore_figure::{Axis, Content, DotRow, Figure, Panel, Point, Series, Value};
use manycore_programs::fork::Algorithm;
use manycore_programs::sleep::Mode;

/// The end of the axis. A greater time has its dot at the edge, since one disturbed run would flatten all other rows.
const MOST: f64 = 2.0;

/// Times divided by those of `packed` in the same mode, on one thread and on the most threads.
pub(super) fn relative(place: &str, config: &SleepConfig, measured: &[MeasuredPolicies]) -> Figure {
    let mut counts = vec![config.most_threads(), 1];
    counts.dedup();
    let panel = |&algorithm: &Algorithm| {
        let row = |policy: &Policy| DotRow {
            label: policy.to_string(),
            dots: counts
                .iter()
                .map(|&threads| relative_time(measured, algorithm, policy, threads))
                .collect(),
        };
        Panel {
            title: algorithm.name().to_owned(),
            content: Content::Dots {
                x: Axis::linear("time / time of packed", "").up_to(MOST),
                marks: counts.iter().map(|&count| threads(count)).collect(),
                rows: config.policies.iter().map(row).collect(),
                reference: Some(1.0),
            },
        }
    };
    let has_dots = |panel: &Panel| match &panel.content {
        Content::Dots { rows, .. } => rows.iter().any(|row| row.dots.iter().any(Option::is_some)),
        _ => true,
    };
    let panels = config.algorithms.iter().map(panel);
    Figure {
        part: String::new(),
        message: sentence(&compared(config, measured)).text,
        note: format!(
            "Median time divided by the median time of packed, rayon's policy, with ranges from \
             the 10th to the 90th percentile of {}. Each program has a panel; left is faster \
             ({place})",
            config.samples()
        ),
        panels: panels.filter(has_dots).collect(),
    }
}

/// The times of a policy's runs, divided by the median of `packed`.
fn relative_time(
    measured: &[MeasuredPolicies],
    algorithm: Algorithm,
    policy: &Policy,
    threads: usize,
) -> Option<Value> {
    let base = Policy {
        name: Policy::BASE.into(),
        mode: policy.mode,
    };
    let base = speedup::time(measured, algorithm, &base, threads)?;
    let samples = speedup::cell(measured, algorithm, threads)?.of(policy)?;
    Some(samples.spread().map(|time| time / base).into())
}

/// Speedups over the fastest single-thread time of any policy, as in the document (Fontena's experiment). Each policy
/// has a line.
pub(super) fn speedups(
    place: &str,
    config: &SleepConfig,
    measured: &[MeasuredPolicies],
) -> Option<Figure> {
    if config.threads.len() < 3 {
        return None;
    }
    let panel = |&algorithm: &Algorithm| {
        let single = speedup::fastest_single(measured, algorithm)?;
        let series = config.policies.iter().map(|policy| {
            let point = |&threads: &usize| {
                let spread = speedup::cell(measured, algorithm, threads)?
                    .of(policy)?
                    .spread();
                Some(Point {
                    x: threads as f64,
                    y: Value {
                        at: single / spread.median,
                        low: single / spread.p90,
                        high: single / spread.p10,
                    },
                })
            };
            let points = config.threads.iter().filter_map(point).collect();
            Series::measured(policy.to_string(), points).coloured_as(&*policy.name)
        });
        Some(Panel::lines(
            algorithm.name().to_owned(),
            Axis::linear("threads", ""),
            Axis::linear("speedup", ""),
            series,
        ))
    };
    Some(Figure {
        part: "speedup".into(),
        message: "Speedup of fork-join programs with more threads, by sleep policy".into(),
        note: format!(
            "The fastest single-thread time of any policy divided by the median time; bars from \
             the 10th to the 90th percentile of {} ({place})",
            config.samples()
        ),
        panels: config.algorithms.iter().filter_map(panel).collect(),
    })
}

/// The document's speedups of rayon's branches for the same inputs, drawn as [`speedups`] are. `None` for other inputs.
pub(super) fn published_speedups(config: &SleepConfig, published: &Published) -> Option<Figure> {
    if config.threads.len() < 3 || !config.is_documents() {
        return None;
    }
    let panel = |&algorithm: &Algorithm| {
        let series = config
            .policies
            .iter()
            .filter(|policy| policy.mode == Mode::Sound);
        let series = series.filter_map(|policy| {
            let point = |&threads: &usize| {
                let at = published.speedup(algorithm, policy, threads)?;
                Some(Point::exact(threads as f64, at))
            };
            let points: Vec<Point> = config.threads.iter().filter_map(point).collect();
            (!points.is_empty()).then(|| Series::measured(&*policy.name, points))
        });
        Panel::lines(
            algorithm.name(),
            Axis::linear("threads", ""),
            Axis::linear("speedup", ""),
            series,
        )
    };
    let is_drawn = |panel: &Panel| matches!(&panel.content, Content::Lines { series, .. } if !series.is_empty());
    Some(Figure {
        part: "speedup-2022".into(),
        message: "The same speedups as in the document, measured in July 2022".into(),
        note: "The fastest single-thread time of any branch of rayon divided by the median of 30 \
               runs (native: two Xeon Gold 6130)"
            .into(),
        panels: config
            .algorithms
            .iter()
            .map(panel)
            .filter(is_drawn)
            .collect(),
    })
}

/// Differences of means below this level count as no difference.
const LEVEL: f64 = 0.02;

/// The times on the most threads. Each algorithm and mode has a cell, since a policy is compared with `packed` in the
/// same mode.
pub(super) fn compared(config: &SleepConfig, measured: &[MeasuredPolicies]) -> Compared {
    let threads = config.most_threads();
    let unit = measured.first().map_or(config.unit(), |cell| cell.unit);
    let is_simulated = config.chip.is_some();
    let mut compared = Compared::new(format!("On {threads} threads"), unit, is_simulated);
    for &algorithm in &config.algorithms {
        let Some(cell) = speedup::cell(measured, algorithm, threads) else {
            continue;
        };
        for mode in [Mode::Sound, Mode::AsPublished] {
            let policies = config.policies.iter().filter(|policy| policy.mode == mode);
            let times = policies.filter_map(|policy| {
                let samples = cell.of(policy)?;
                let name = match policy.is_base() {
                    true => Policy::BASE.to_owned(),
                    false => policy.to_string(),
                };
                // The runs of a simulation follow each other, and so belong to one order of events.
                let times = match is_simulated && config.orders.len() == 1 {
                    true => vec![samples.time()],
                    false => samples.times(),
                };
                Some((name, times))
            });
            compared.add(algorithm.name(), times);
        }
    }
    compared
}

/// The sentence that says whether the policy matters.
pub(super) fn sentence(compared: &Compared) -> Sentence {
    let others = compared.names().into_iter();
    let means: Vec<(&str, Ratio)> = others
        .filter(|name| *name != Policy::BASE)
        .filter_map(|name| Some((name, compared.mean_ratio(name, Policy::BASE)?)))
        .collect();
    let Some(&(best, ratio)) = means.iter().min_by(|a, b| a.1.mean.total_cmp(&b.1.mean)) else {
        return Sentence {
            text: "Time of programs by sleep policy".into(),
            ratios: Vec::new(),
        };
    };
    let chosen = compared.chosen_ratio(best, Policy::BASE, means.len());
    let ratio = chosen.unwrap_or(ratio);
    let (place, ground) = (&compared.place, compared.ground());
    let ends = means
        .iter()
        .flat_map(|(_, ratio)| ratio.interval.unwrap_or([ratio.mean; 2]));
    let greatest = ends.map(|end| (end - 1.0).abs()).fold(0.0, f64::max);
    if greatest < LEVEL {
        return Sentence {
            text: format!(
                "{place} the mean times of all sleep policies are within {:.1}% of the time of \
                 rayon's policy{ground}",
                100.0 * greatest
            ),
            ratios: Vec::new(),
        };
    }
    let ours = means.iter().find(|mean| mean.0 == Policy::OURS);
    let ours = ours.filter(|ours| ours.0 != best);
    let told = ours.map(|ours| format!("; with ours {}", difference(ours.1)));
    Sentence {
        text: format!(
            "{place} the mean time of programs, compared with rayon's sleep policy (packed): with \
             {best} {}{}{ground}",
            difference(ratio),
            told.unwrap_or_default()
        ),
        ratios: [Some(ratio), ours.map(|ours| ours.1)]
            .into_iter()
            .flatten()
            .map(|ratio| (ratio, 1.0))
            .collect(),
    }
}
