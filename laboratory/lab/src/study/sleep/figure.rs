//! The figures: the time of each policy relative to the time of rayon's policy, with a row for each policy; and the
//! speedup of programs, if there are more than two numbers of threads.

use super::cell::Policy;
use super::config::SleepConfig;
use super::measured::MeasuredPolicies;
use super::published::{Published, branch};
use super::speedup::{self, Single};
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
    Figure {
        part: String::new(),
        message: sentence(&compared(config, measured)).text,
        note: format!(
            "Time divided by the time of packed, rayon's policy, with {}. \
             Each program has a panel; left is faster ({place})",
            config.ranges()
        ),
        panels: config.algorithms.iter().map(panel).collect(),
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
    let base = speedup::time(measured, algorithm, &policy.base(), threads)?;
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

/// Speedups over the fastest single-thread time of any policy. Each policy has a line. If the inputs are Fontena's, his
/// speedups are in the same panels. If also no policies were selected, the figure shows only his policies and ours.
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
        config.selects_policies
            || !config.has_published_inputs()
            || branch(&policy.name).is_some()
            || policy.name == Policy::OURS
    };
    let shown: Vec<&Policy> = config.policies.iter().filter(is_shown).collect();
    let series = |algorithm: Algorithm, policy: &Policy| {
        let single = speedup::fastest_single(measured, algorithm)?;
        let point = |&threads: &usize| {
            let cell = speedup::cell(measured, algorithm, threads)?;
            let spread = cell.of(policy)?.spread();
            let ratio = speedup::speedup(orders, algorithm, policy, threads, Single::Fastest)?;
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
        let is_shown = config.has_published_inputs() && policy.mode == config.policies[0].mode;
        let points: Vec<Point> = config.threads.iter().filter_map(point).collect();
        let series = Series::published(format!("{policy}, 2022"), points);
        (is_shown && !series.is_empty()).then(|| series.coloured_as(&*policy.name))
    };
    let panel = |&algorithm: &Algorithm| {
        let theirs = shown.iter().filter_map(|policy| of_2022(algorithm, policy));
        let here = shown.iter().filter_map(|policy| series(algorithm, policy));
        let here: Vec<Series> = here.filter(|series| !series.is_empty()).collect();
        // The document's lines only accompany measured lines.
        (!here.is_empty()).then(|| {
            Panel::lines(
                algorithm.name(),
                Axis::linear("threads", ""),
                Axis::linear("speedup", ""),
                theirs.chain(here),
            )
        })
    };
    let beside = match config.has_published_inputs() {
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
        panels: config.algorithms.iter().filter_map(panel).collect(),
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
    // A claim about all policies needs simultaneous confidence intervals (Bonferroni).
    let all = means.iter().map(|(name, ratio)| {
        let chosen = compared.chosen_ratio(name, Policy::BASE, means.len());
        chosen.unwrap_or(*ratio)
    });
    let all: Vec<Ratio> = all.collect();
    let ends = all
        .iter()
        .flat_map(|ratio| ratio.interval.unwrap_or([ratio.mean; 2]));
    let greatest = ends.map(|end| (end - 1.0).abs()).fold(0.0, f64::max);
    if greatest < LEVEL {
        let bounds = [1.0 - LEVEL, 1.0 + LEVEL];
        let bounded = |ratio: Ratio| bounds.map(|bound| (ratio, bound));
        return Sentence {
            text: format!(
                "{place} the mean times of all sleep policies are within {:.1}% of the time of \
                 rayon's policy{ground}",
                100.0 * greatest
            ),
            ratios: all.into_iter().flat_map(bounded).collect(),
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

#[cfg(test)]
mod tests {
    use super::super::measured::by_order;
    use super::super::synthetic;
    use super::*;
    use crate::report::section::Captioned;
    use crate::study::unit::Unit;

    /// The names of the lines in each panel of the figure of speedups.
    fn lines(only: &[&str]) -> Vec<Vec<String>> {
        let config = SleepConfig::on_dahu(only, &["size=document"], &[2, 3]).unwrap();
        let times = [("lazy-inactive", 40.0), ("packed", 50.0)];
        let all = times.iter().flat_map(|&(name, time)| {
            [1, 2, 3].map(|threads| (name, threads, time / threads as f64))
        });
        let measured = synthetic::measured(&all.collect::<Vec<_>>());
        let orders = by_order(&measured, &[0]);
        let published = Published::load().unwrap();
        let figure = speedups("here", &config, &published, &measured, &orders).unwrap();
        let panels = Captioned::new(figure, "").map_or(Vec::new(), |shown| shown.figure.panels);
        let names = panels.into_iter().map(|panel| match panel.content {
            Content::Lines { series, .. } => series.into_iter().map(|line| line.name).collect(),
            _ => panic!("expected lines"),
        });
        names.collect()
    }

    #[test]
    fn the_figure_of_speedups_shows_selected_policies_and_no_empty_panel() {
        assert_eq!(lines(&["life", "lazy-inactive"]), [["lazy-inactive"]]);
        // Only Life was measured.
        let all = lines(&[]);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(!all[0].contains(&"lazy-inactive".into()), "{all:?}");
    }

    /// Compares eight policies, each with the same deviations from `packed`.
    fn alike(percent: [f64; 3]) -> Compared {
        let mut compared = Compared::new("On 4 threads".into(), Unit::Cycles, true);
        let names = (0..8).map(|policy| format!("policy {policy}"));
        let times = percent.map(|percent| 1000.0 + 10.0 * percent).to_vec();
        let times = names.map(|name| (name, times.clone()));
        let base = (Policy::BASE.to_owned(), vec![1000.0; 3]);
        compared.add("life", times.chain([base]));
        compared
    }

    #[test]
    fn all_policies_are_within_the_intervals_of_several() {
        let near = sentence(&alike([0.03, 0.0, -0.03]));
        assert!(near.text.contains("of all sleep policies"), "{}", near.text);
        assert_eq!((near.ratios.len(), near.is_decided()), (16, true));
        // The interval of a single policy would end below 2%.
        let far = alike([0.6, 0.0, -0.6]);
        let [low, high] = far
            .mean_ratio("policy 0", Policy::BASE)
            .unwrap()
            .interval
            .unwrap();
        assert!(0.98 < low && high < 1.02, "{low} {high}");
        let text = sentence(&far).text;
        assert!(!text.contains("of all sleep policies"), "{text}");
    }
}
