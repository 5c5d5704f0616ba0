//! The figure: latency against block size, one line a thread count.

use super::grid::{Class, Workload, threads};
use super::measure::{Measured, Samples};
use crate::measure::statistics::Spread;
use crate::report::figure::{self, Panel, Point, Series};
use crate::study::settings::power;
use manycore::Partitioner;

/// One panel a workload.
pub(super) fn render(measured: &[Measured]) -> String {
    let mut panels: Vec<(Workload, Panel)> = Vec::new();
    for cell in measured.iter().filter(|cell| cell.rounds() > 0) {
        let workload = cell.cell.workload;
        let series = series(cell);
        match panels.iter_mut().find(|(known, _)| *known == workload) {
            Some((_, panel)) => panel.series.push(series),
            None => panels.push((workload, panel(workload, series))),
        }
    }
    let panels: Vec<Panel> = panels.into_iter().map(|(_, panel)| panel).collect();
    figure::render(
        "block-size",
        "Latency of a parallel loop against its block size",
        &panels,
        "adaptive, which picks its own blocks",
    )
}

fn panel(workload: Workload, series: Series) -> Panel {
    let name = workload.task.name();
    let title = match workload.task.class() {
        Class::UnitTask => format!(
            "{name}: read {}, write {}, comp {}",
            power(workload.read as u64),
            power(workload.write as u64),
            power(workload.comp)
        ),
        Class::Irregular | Class::Tiny => format!("{name}: N = {}", workload.n),
    };
    Panel {
        title,
        x_label: "block size (iterations)".into(),
        y_label: "latency (us)".into(),
        series: vec![series],
    }
}

fn series(cell: &Measured) -> Series {
    let point = |samples: &Samples| {
        let block = samples.fixed_block()?;
        let spread = Spread::of(&samples.us);
        Some(Point {
            x: block as f64,
            y: spread.median,
            low: spread.p10,
            high: spread.p90,
        })
    };
    let mut points: Vec<Point> = cell.policies.iter().filter_map(point).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let adaptive = cell
        .policies
        .iter()
        .find(|samples| samples.partitioner() == Partitioner::Adaptive);
    Series {
        name: threads(cell.cell.threads),
        points,
        level: adaptive.map(Samples::median),
    }
}
