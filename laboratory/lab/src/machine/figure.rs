//! The figure: what operations cost, with a row for each operation.

use super::MachineReport;
use super::atomics::CounterOperation;
use super::launch::Before;
use super::simulated::{Operation, SimulatedReport};
use super::summary::Summary;
use crate::report::words;
use manycore_figure::{Axis, Content, DotRow, Figure, Panel, Value};

/// The rows are in the order of the machine's report. A cost that could not be measured has no row.
pub(crate) fn native(report: &MachineReport) -> Figure {
    let mut rows = Vec::new();
    let mut add = |label: String, cost: &Summary| {
        let value = Value {
            at: cost.median,
            low: cost.p10,
            high: cost.p90,
        };
        rows.push((label, value));
    };
    for cost in &report.atomics {
        let operation = match cost.operation {
            CounterOperation::FetchAndAdd => ADD,
            CounterOperation::CompareAndSwap => ADD_BY_CAS,
        };
        add(on_threads(operation, cost.threads), &cost.ns_per_op);
    }
    for cost in &report.launches {
        let after = match cost.before {
            Before::Hot => "",
            Before::Busy1Ms => " after 1 ms of work",
            Before::Sleep10Ms => " after 10 ms of sleep",
        };
        let what = format!("start a loop{after}");
        add(on_threads(&what, cost.threads), &cost.overhead_ns);
    }
    if let Some(wake) = &report.wake {
        add(WAKE.into(), &wake.latency_ns);
    }
    figure(rows, "measured on this machine")
}

/// The same figure of a simulated machine.
pub(crate) fn simulated(report: &SimulatedReport) -> Figure {
    let counted = report.contended.iter().map(|cost| {
        let operation = match cost.operation {
            Operation::Faa => ADD,
            Operation::Cas => ADD_BY_CAS,
            other => other.name(),
        };
        (on_threads(operation, cost.threads), cost.ns.simulated)
    });
    let launches = report
        .launches
        .iter()
        .map(|cost| (on_threads("start a loop", cost.threads), cost.ns));
    let wakes = report.wakes.iter().map(|cost| {
        (
            format!("{WAKE} for {}", time(1e3 * cost.asleep_us as f64)),
            cost.ns,
        )
    });
    let all = counted.chain(launches).chain(wakes);
    let rows = all.map(|(label, ns)| (label, Value::exact(ns)));
    figure(rows.collect(), &format!("simulated: {}", report.preset))
}

const ADD: &str = "add to a counter";
const ADD_BY_CAS: &str = "add to a counter by compare-and-swap";
const WAKE: &str = "wake a thread that sleeps";

fn on_threads(what: &str, threads: usize) -> String {
    match threads {
        1 => format!("{what}, 1 thread"),
        _ => format!("{what}, {threads} threads"),
    }
}

fn figure(rows: Vec<(String, Value)>, place: &str) -> Figure {
    let message = match (rows.first(), rows.last()) {
        (Some((least, cost)), Some((most, other))) => format!(
            "It takes {} to {most}, which is {} times as long as to {least} ({})",
            time(other.at),
            words::count((other.at / cost.at).round() as u64),
            time(cost.at)
        ),
        _ => "The costs of the machine".into(),
    };
    let row = |(label, value)| DotRow {
        label,
        dots: vec![Some(value)],
    };
    let panel = Panel {
        title: String::new(),
        content: Content::Dots {
            x: Axis::logarithmic("time", "ns"),
            marks: vec!["median".into()],
            rows: rows.into_iter().map(row).collect(),
            reference: None,
        },
    };
    Figure {
        part: String::new(),
        message,
        note: format!("Time of an operation ({place})"),
        panels: vec![panel],
    }
}

/// Writes a time with three digits.
fn time(ns: f64) -> String {
    match ns {
        ..10.0 => format!("{ns:.2} ns"),
        ..1e3 => format!("{ns:.0} ns"),
        ..1e6 => format!("{:.1} us", ns / 1e3),
        _ => format!("{:.1} ms", ns / 1e6),
    }
}
