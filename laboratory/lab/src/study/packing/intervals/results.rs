//! The ratios of the ways' times, and the lengths of intervals at which ours is fast enough.

use super::super::case::PackingSample;
use super::super::load::interval;
use super::config::{IntervalsConfig, IntervalsWay};
use crate::measure::ratio::Ratio;
use crate::measure::statistics::geometric_mean;
use crate::report::csv::columns;
use crate::report::table::{Cell, Table};
use crate::study::trial::{Results, Runs};
use manycore_figure::{Axis, Figure, Panel, Point, Series, Value};

pub(super) type IntervalsResults<'a> = Results<'a, IntervalsConfig>;

/// Our time may exceed the time under thread reduction by this factor.
const LEVEL: f64 = 1.05;

/// A number of cores, and a length of intervals in us.
type Place = (usize, u64);

columns! {
    /// A way to run the ranks, on some cores and with some length of intervals. `over_tr` and `over_ours` are ratios
    /// with the ends of their 95% intervals.
    pub(super) IntervalsRow(
        results: IntervalsResults<'_>,
        at: Place,
        way: &IntervalsWay,
        over_tr: [Option<f64>; 3],
        over_ours: [Option<f64>; 3],
    ) {
        machine: String = results.config.setup.machine.clone(),
        threads: usize = results.config.threads,
        cores: usize = at.0,
        /// The work of a rank between two barriers.
        work_us: u64 = at.1,
        mode: &'static str = way.name(),
        /// The barrier of threads. Empty for ranks on a team.
        barrier: String = way.barrier.clone().unwrap_or_default(),
        orders: usize = results.times(at, way).len(),
        /// The time from one barrier to the next: the geometric mean over orders.
        interval_us: f64 = geometric_mean(results.times(at, way)).round() / 1e3,
        /// The time divided by the time under thread reduction.
        over_tr: Option<f64> = over_tr[0],
        over_tr_low: Option<f64> = over_tr[1],
        over_tr_high: Option<f64> = over_tr[2],
        /// The time divided by the time of ranks on a team.
        over_ours: Option<f64> = over_ours[0],
        over_ours_low: Option<f64> = over_ours[1],
        over_ours_high: Option<f64> = over_ours[2],
        /// Whether the runs of all orders became steady.
        steady: bool = results.are_steady(at, way),
    }
}

type PackingRuns = Runs<super::PackingCase>;

/// A ratio and the ends of its interval, rounded.
fn rounded(ratio: Option<Ratio>) -> [Option<f64>; 3] {
    let ends = ratio.and_then(|ratio| ratio.interval);
    let all = [
        ratio.map(|ratio| ratio.mean),
        ends.map(|ends| ends[0]),
        ends.map(|ends| ends[1]),
    ];
    all.map(|number| Some((number? * 1e4).round() / 1e4))
}

impl<'a> IntervalsResults<'a> {
    fn places(self) -> Vec<Place> {
        let lengths = &self.config.lengths;
        let cores = self.config.cores.iter();
        cores
            .flat_map(|&cores| lengths.iter().map(move |&length| (cores, length)))
            .collect()
    }

    /// The runs of a way, one for each order.
    fn runs(self, (cores, length): Place, way: &IntervalsWay) -> Vec<&'a PackingRuns> {
        let orders = self.config.orders.iter();
        let case = |&order| self.config.case(cores, length, way, order);
        orders.filter_map(|order| self.of(&case(order))).collect()
    }

    /// The time between two barriers under each order, in ns.
    fn times(self, at: Place, way: &IntervalsWay) -> Vec<f64> {
        let runs = self.runs(at, way).into_iter();
        runs.map(|runs| runs.median(PackingSample::interval_ns))
            .collect()
    }

    fn are_steady(self, at: Place, way: &IntervalsWay) -> bool {
        let runs = self.runs(at, way).into_iter();
        let mut outcomes = runs.flat_map(|runs| &runs.outcomes);
        !outcomes.any(PackingSample::is_unsteady)
    }

    /// A way's time divided by the time of the way number `base`.
    fn over(self, at: Place, way: &IntervalsWay, base: usize) -> Option<Ratio> {
        let base = &self.config.ways()[base];
        let pairs = self.times(at, way).into_iter().zip(self.times(at, base));
        Ratio::of(&pairs.collect::<Vec<_>>()).filter(|_| base != way)
    }

    pub(super) fn rows(self) -> Vec<IntervalsRow> {
        let ways = self.config.ways();
        let of = |at: Place| {
            let rows = ways.iter().map(move |way| (at, way));
            rows.map(move |(at, way)| {
                let [tr, ours] = [0, 1].map(|base| rounded(self.over(at, way, base)));
                IntervalsRow::new(self, at, way, tr, ours)
            })
        };
        self.places().into_iter().flat_map(of).collect()
    }

    /// A table for each number of cores.
    pub(super) fn tables(self) -> Vec<Table> {
        let config = self.config;
        let ways = config.ways();
        let mut header = vec!["work".to_owned(), format!("{}, us", ways[0])];
        header.extend(ways[1..].iter().map(|way| way.to_string()));
        let cell = |at, way| {
            let tilde = if self.are_steady(at, way) { "" } else { "~" };
            let ratio = self.over(at, way, 0);
            Cell::or_dash(ratio.map(|ratio| format!("{tilde}{ratio}")))
        };
        let row = |at: Place| {
            let us = geometric_mean(self.times(at, &ways[0])) / 1e3;
            let mut row = [interval(at.1 * 1_000), format!("{us:.2}")]
                .map(Cell::new)
                .to_vec();
            row.extend(ways[1..].iter().map(|way| cell(at, way)));
            row
        };
        let table = |&cores: &usize| {
            let places = config.lengths.iter().map(|&length| (cores, length));
            let caption = format!(
                "{} ranks on {cores} cores: the time from one barrier to the next under tr, and the times of the \
                 other ways divided by it, by the work of a rank between two barriers",
                config.threads
            );
            Table::new(caption, header.clone(), places.map(row))
        };
        config.cores.iter().map(table).collect()
    }

    pub(super) fn figure(self) -> Figure {
        let config = self.config;
        let line = |cores, way: &IntervalsWay| {
            let point = |&length: &u64| {
                let ratio = self.over((cores, length), way, 0)?;
                let value = |[low, high]: [f64; 2]| Value {
                    at: ratio.mean,
                    low,
                    high,
                };
                let value = ratio.interval.map_or(Value::exact(ratio.mean), value);
                Some(Point::new(length as f64, value))
            };
            let points = config.lengths.iter().filter_map(point).collect();
            Series::estimated(way.to_string(), points)
        };
        let panel = |&cores: &usize| {
            let ways = config.ways();
            let mut series: Vec<Series> = ways[1..].iter().map(|way| line(cores, way)).collect();
            series.push(Series::level("tr", 1.0));
            Panel::lines(
                format!("{} ranks on {cores} cores", config.threads),
                Axis::logarithmic("work of a rank between two barriers", "us"),
                Axis::logarithmic("time / time of tr", ""),
                series,
            )
        };
        Figure {
            part: String::new(),
            message: self.sentence(),
            note: format!(
                "Time from one barrier to the next, divided by the time of one thread on each core ({})",
                config.setup.place()
            ),
            panels: config.cores.iter().map(panel).collect(),
        }
    }

    /// Says for each number of cores at which lengths ranks on a team are as fast as reduction, and faster than packing.
    fn sentence(self) -> String {
        let config = self.config;
        let (ways, lengths) = (config.ways(), &config.lengths);
        let of = |&cores: &usize| {
            let high = |length, base| {
                let ratio = self.over((cores, length), &ways[1], base)?;
                Some(ratio.interval.map_or(ratio.mean, |ends| ends[1]))
            };
            let holds = |length, base, bound| high(length, base).is_some_and(|high| high < bound);
            let as_fast = from(lengths, |length| holds(length, 0, LEVEL));
            let faster = from(lengths, |length| {
                (2..ways.len()).all(|base| holds(length, base, 1.0))
            });
            format!(
                "On {cores} cores {} ranks on a team take at most {:.0}% longer than {cores} threads {}, and less time than \
                 {} threads {}",
                config.threads,
                100.0 * (LEVEL - 1.0),
                told(as_fast),
                config.threads,
                told(faster),
            )
        };
        let ground = match config.orders.len() {
            1 => "one order of events".to_owned(),
            count => format!("95% intervals of {count} orders"),
        };
        let all: Vec<String> = config.cores.iter().map(of).collect();
        format!("{} ({ground})", all.join(". "))
    }
}

/// The least length such that `holds` is true for it and all longer ones. The lengths ascend.
fn from(lengths: &[u64], holds: impl Fn(u64) -> bool) -> Option<u64> {
    let all = lengths.iter().rev().copied();
    all.take_while(|&length| holds(length)).last()
}

fn told(from: Option<u64>) -> String {
    match from {
        Some(length) => format!("from {} between barriers on", interval(length * 1_000)),
        None => "at no measured length".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_holds_from_a_length_on() {
        let lengths = [2, 5, 10, 20];
        assert_eq!(from(&lengths, |length| length != 5), Some(10));
        assert_eq!(from(&lengths, |_| true), Some(2));
        assert_eq!(from(&lengths, |length| length < 20), None);
    }
}
