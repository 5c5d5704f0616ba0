//! The figure: latency against block size, one line a thread count.

use super::grid::{Class, Workload, threads};
use super::measure::{LoopSamples, MeasuredLoops};
use super::policy::LoopPolicy;
use crate::measure::statistics::Spread;
use crate::report::figure::{self, Axis, Height, Panel, Point, Series};
use crate::study::settings::power;
use crate::study::trial::CellRecord;
use manycore::Partitioner;

/// Whose fixed blocks a panel shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WhosePool {
    Ours,
    /// Simulated only.
    Documents,
}

/// One panel a workload and pool.
pub(super) fn render(place: &str, measured: &[MeasuredLoops]) -> String {
    let mut panels: Vec<(Workload, WhosePool, Panel)> = Vec::new();
    for cell in measured.iter().filter(|cell| cell.runs() > 0) {
        for pool in [WhosePool::Ours, WhosePool::Documents] {
            let workload = cell.cell.workload;
            let series = series(cell, pool);
            let same =
                |known: &&mut (Workload, WhosePool, Panel)| (known.0, known.1) == (workload, pool);
            match panels.iter_mut().find(same) {
                _ if series.points.is_empty() && pool == WhosePool::Documents => {}
                Some((_, _, panel)) => panel.series.push(series),
                None => panels.push((workload, pool, panel(cell, pool, series))),
            }
        }
    }
    let panels: Vec<Panel> = panels.into_iter().map(|(_, _, panel)| panel).collect();
    figure::render(
        "block-size",
        &format!("Latency of a parallel loop against its block size ({place})"),
        &panels,
        Some("adaptive, which picks its own blocks"),
    )
}

fn panel(cell: &MeasuredLoops, pool: WhosePool, series: Series) -> Panel {
    let workload = cell.cell.workload;
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
        title: match pool {
            WhosePool::Ours => title,
            // Without the task's name: it is folded, and the line is full.
            WhosePool::Documents => {
                let sizes = title.split_once(": ").map_or(&*title, |(_, sizes)| sizes);
                format!("document's pool: {sizes}")
            }
        },
        axis: Axis::Logarithmic,
        height: Height::Linear,
        x_label: "block size (iterations)".into(),
        y_label: format!("latency ({})", cell.unit.name()),
        series: vec![series],
    }
}

fn series(cell: &MeasuredLoops, pool: WhosePool) -> Series {
    let point = |samples: &LoopSamples| {
        let block = match pool {
            WhosePool::Ours => samples.fixed_block()?,
            WhosePool::Documents => samples.document_block()?,
        };
        let spread = Spread::of(&samples.latency);
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
        .find(|samples| samples.policy() == LoopPolicy::Ours(Partitioner::Adaptive));
    let adaptive = adaptive.filter(|_| pool == WhosePool::Ours);
    Series {
        name: threads(cell.cell.threads),
        points,
        level: adaptive.map(LoopSamples::median),
    }
}
