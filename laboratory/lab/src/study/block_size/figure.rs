//! The figure: latency against block size, a line for each thread count.

use super::grid::{Class, Workload, threads};
use super::measure::{LoopSamples, MeasuredLoops};
use super::policy::LoopPolicy;
use super::regret;
use crate::measure::statistics::Spread;
use crate::report::words;
use crate::study::compared::Compared;
use crate::study::settings::power;
use crate::study::trial::CellRecord;
use manycore_figure::{Axis, Figure, Panel, Point, Series};
use manycore_programs::partition::Partitioner;

/// The pool of a panel: manycore's pool, or the pool of the document (Shuai's paper).
#[derive(Clone, Copy, PartialEq, Eq)]
enum WhosePool {
    Ours,
    /// This pool is only simulated.
    Documents,
}

/// A panel for each workload and pool.
pub(super) fn figure(place: &str, measured: &[MeasuredLoops], compared: &Compared) -> Figure {
    let mut panels: Vec<(Workload, WhosePool, &MeasuredLoops, Vec<Series>)> = Vec::new();
    for cell in measured.iter().filter(|cell| cell.runs() > 0) {
        for pool in [WhosePool::Ours, WhosePool::Documents] {
            let workload = cell.cell.workload;
            let series = series(cell, pool);
            if series.is_empty() {
                continue;
            }
            match panels
                .iter_mut()
                .find(|known| (known.0, known.1) == (workload, pool))
            {
                Some((.., all)) => all.extend(series),
                None => panels.push((workload, pool, cell, series)),
            }
        }
    }
    let panel = |(_, pool, cell, series)| panel(cell, pool, series);
    Figure {
        part: String::new(),
        message: regret::sentence(compared).text,
        note: format!(
            "Latency of one parallel loop against the size of the blocks that its threads claim; \
             dashed: the default, which gets no block size ({place})"
        ),
        panels: panels.into_iter().map(panel).collect(),
    }
}

fn panel(cell: &MeasuredLoops, pool: WhosePool, series: Vec<Series>) -> Panel {
    let workload = cell.cell.workload;
    let name = workload.task.name();
    let title = match workload.task.class() {
        Class::UnitTask => format!(
            "{name}: reads {}, writes {}, additions {}",
            power(workload.read as u64),
            power(workload.write as u64),
            power(workload.comp)
        ),
        Class::Irregular | Class::Tiny => {
            format!("{name}: {} iterations", words::count(workload.n as u64))
        }
    };
    Panel::lines(
        match pool {
            WhosePool::Ours => title,
            WhosePool::Documents => format!("document's pool, {title}"),
        },
        Axis::logarithmic("block size (iterations)", ""),
        Axis::linear("latency", cell.unit.name()),
        series,
    )
}

/// A cell's fixed blocks and, for manycore's pool, the default.
fn series(cell: &MeasuredLoops, pool: WhosePool) -> Vec<Series> {
    let point = |samples: &LoopSamples| {
        let block = match pool {
            WhosePool::Ours => samples.fixed_block()?,
            WhosePool::Documents => samples.document_block()?,
        };
        Some(Point::new(block as f64, Spread::of(&samples.latency)))
    };
    let mut points: Vec<Point> = cell.policies.iter().filter_map(point).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let adaptive = cell
        .policies
        .iter()
        .find(|samples| samples.policy() == LoopPolicy::Ours(Partitioner::Adaptive));
    let adaptive = adaptive.filter(|_| pool == WhosePool::Ours);
    let name = threads(cell.cell.threads);
    let blocks = Series::measured(&*name, points);
    let level = adaptive.map(|samples| {
        Series::level(format!("{name}, default"), samples.median()).coloured_as(&*name)
    });
    let all = [Some(blocks), level].into_iter().flatten();
    all.filter(|series| !series.is_empty()).collect()
}
