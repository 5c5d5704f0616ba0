//! The figures: what each policy takes relative to rayon's, a row a policy; and, where there
//! are more than two thread counts, how programs speed up.

use super::cell::Policy;
use super::config::SleepConfig;
use super::measured::MeasuredPolicies;
use super::speedup;
use crate::report::words::more_or_less;
use crate::study::block_size::grid::threads;
use manycore_figure::{Axis, Content, DotRow, Figure, Panel, Point, Series, Value};
use manycore_programs::fork::Algorithm;

/// Beyond it a dot stands at the edge: one disturbed run would flatten all others.
const MOST: f64 = 2.0;

/// Times over packed's of the same mode, on one thread and on the most there are.
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
                x: Axis::linear("time over packed's", "").up_to(MOST),
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
        message: message(config, measured),
        note: format!(
            "Median time over that of packed, rayon's way, with ranges from the 10th to the 90th \
             percentile of runs; a panel for each program, left is faster ({place})"
        ),
        panels: panels.filter(has_dots).collect(),
    }
}

/// A policy's runs over packed's median.
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

/// As in the document, over the fastest single-thread time of any policy; a line a policy.
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
        message: "How far fork-join programs speed up with more threads, by sleep policy".into(),
        note: format!(
            "The fastest single-thread time of any policy over the median time; bars from the 10th \
             to the 90th percentile of runs ({place})"
        ),
        panels: config.algorithms.iter().filter_map(panel).collect(),
    })
}

/// Differences of means that are less are called none.
const LEVEL: f64 = 0.02;

/// Whether the policy matters.
fn message(config: &SleepConfig, measured: &[MeasuredPolicies]) -> String {
    let threads = config.most_threads();
    let others = config.policies.iter().filter(|policy| !policy.is_base());
    let means: Vec<(&Policy, f64)> = others
        .filter_map(|policy| {
            let mean = speedup::mean_delta(measured, &config.algorithms, policy, threads)?;
            Some((policy, mean))
        })
        .collect();
    let Some(best) = means.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return "Time that programs take by sleep policy".into();
    };
    let greatest = means.iter().map(|mean| mean.1.abs()).fold(0.0, f64::max);
    if greatest < LEVEL {
        return format!(
            "On {threads} threads all sleep policies are within {:.1}% of rayon's, in the mean",
            100.0 * greatest
        );
    }
    let ours = means.iter().find(|mean| mean.0.name == Policy::OURS);
    let ours = ours.filter(|ours| ours.0 != best.0);
    let ours = ours.map(|ours| format!("; ours {}", more_or_less(ours.1)));
    format!(
        "On {threads} threads {} takes {} time than rayon's (packed), in the mean of {} \
         programs{}",
        best.0,
        more_or_less(best.1),
        config.algorithms.len(),
        ours.unwrap_or_default()
    )
}
