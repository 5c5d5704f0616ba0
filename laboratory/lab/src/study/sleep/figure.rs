//! The figures: the time of each policy relative to the time of rayon's policy, with a row for each policy; and the
//! speedup of programs, if there are more than two numbers of threads.

use super::cell::Policy;
use super::config::SleepConfig;
use super::measured::MeasuredPolicies;
use super::published::{Published, branch};
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
pub(super) fn relative(
    place: &str,
    config: &SleepConfig,
    measured: &[MeasuredPolicies],
    orders: &[Vec<MeasuredPolicies>],
) -> Figure {
    let mut counts = vec![config.most_threads(), 1];
    counts.dedup();
    let panel = |&algorithm: &Algorithm| {
        let row = |policy: &Policy| DotRow {
            label: policy.to_string(),
            dots: counts
                .iter()
                .map(|&threads| relative_time(measured, orders, algorithm, policy, threads))
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
            "Time divided by the time of packed, rayon's policy, with {}. \
             Each program has a panel; left is faster ({place})",
            config.ranges()
        ),
        panels: panels.filter(has_dots).collect(),
    }
}

/// A policy's time divided by the time of `packed`.
fn relative_time(
    measured: &[MeasuredPolicies],
    orders: &[Vec<MeasuredPolicies>],
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
    let ratio = speedup::to_packed(orders, &[algorithm], policy, threads)?;
    Some(within(ratio).unwrap_or_else(|| samples.spread().map(|time| time / base).into()))
}

/// A ratio with its interval, if it has one.
fn within(ratio: Ratio) -> Option<Value> {
    let [low, high] = ratio.interval?;
    let at = ratio.mean;
    Some(Value { at, low, high })
}

/// Speedups over the fastest single-thread time of any policy. Each policy has a line. For inputs of the document
/// (Fontena's experiment), the document's speedups are in the same panels, and only its policies and ours.
pub(super) fn speedups(
    place: &str,
    config: &SleepConfig,
    published: &Published,
    measured: &[MeasuredPolicies],
    orders: &[Vec<MeasuredPolicies>],
) -> Option<Figure> {
    if config.threads.len() < 3 {
        return None;
    }
    let is_shown = |policy: &&Policy| {
        !config.is_documents() || branch(&policy.name).is_some() || policy.name == Policy::OURS
    };
    let shown: Vec<&Policy> = config.policies.iter().filter(is_shown).collect();
    let series = |algorithm: Algorithm, policy: &Policy| {
        let single = speedup::fastest_single(measured, algorithm)?;
        let point = |&threads: &usize| {
            let cell = speedup::cell(measured, algorithm, threads)?;
            let spread = cell.of(policy)?.spread();
            let ratio = speedup::over_fastest(orders, algorithm, policy, threads)?;
            let value = within(ratio).unwrap_or(Value {
                at: single / spread.median,
                low: single / spread.p90,
                high: single / spread.p10,
            });
            Some(Point::new(threads as f64, value))
        };
        let points = config.threads.iter().filter_map(point).collect();
        let series = match orders.len() {
            1 => Series::measured(policy.to_string(), points),
            _ => Series::estimated(policy.to_string(), points),
        };
        Some(series.coloured_as(&*policy.name))
    };
    let of_2022 = |algorithm: Algorithm, policy: &Policy| {
        let point = |&threads: &usize| {
            let speedups = published.speedups(algorithm, policy, threads)?;
            Some(Point::new(threads as f64, speedups))
        };
        let is_shown = config.is_documents() && policy.mode == config.policies[0].mode;
        let points: Vec<Point> = config.threads.iter().filter_map(point).collect();
        let series = Series::published(format!("{policy}, 2022"), points);
        (is_shown && !series.is_empty()).then(|| series.coloured_as(&*policy.name))
    };
    let panel = |&algorithm: &Algorithm| {
        let theirs = shown.iter().filter_map(|policy| of_2022(algorithm, policy));
        let here = shown.iter().filter_map(|policy| series(algorithm, policy));
        Panel::lines(
            algorithm.name(),
            Axis::linear("threads", ""),
            Axis::linear("speedup", ""),
            theirs.chain(here),
        )
    };
    let beside = match config.is_documents() {
        true => {
            ". Dashed, in the colour of the same policy: the document's times of July 2022 on two \
             Xeon Gold 6130, with a pale band from the 10th to the 90th percentile of 30 runs"
        }
        false => "",
    };
    Some(Figure {
        part: "speedup".into(),
        message: "Speedup of fork-join programs with more threads, by sleep policy".into(),
        note: format!(
            "The fastest single-thread time of any policy divided by a policy's time, with \
             {} ({place}){beside}",
            config.ranges()
        ),
        panels: config.algorithms.iter().map(panel).collect(),
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
