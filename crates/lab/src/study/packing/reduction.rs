//! A panel of the poster's figure 1: the time of thread reduction over that of other ways.

use super::closed_form::{fair, ideal, pinned};
use super::mode::Mode;
use crate::report::figure::{Axis, Content, DotRow, Panel, Point, Series, Value};

/// A way to run `threads` threads, and its ratio on each number of cores, where it is known.
pub(super) type Ratios = (String, Vec<Option<f64>>);

/// Lines over the numbers of cores; on one number of cores there is no line, but dots.
pub(super) fn panel(title: String, threads: usize, cores: &[usize], ways: Vec<Ratios>) -> Panel {
    let content = match cores {
        [one] => dots(*one, ways),
        _ => lines(threads, cores, ways),
    };
    Panel { title, content }
}

fn time() -> Axis {
    Axis::linear("time of tr over its time", "")
}

fn lines(threads: usize, cores: &[usize], ways: Vec<Ratios>) -> Content {
    let against = |ratios: Vec<Option<f64>>| -> Vec<Point> {
        let points = cores.iter().zip(ratios);
        let known = points.filter_map(|(&cores, ratio)| Some(Point::exact(cores as f64, ratio?)));
        known.collect()
    };
    let closed = |name, form: fn(usize, usize) -> f64| {
        let ratio = |&cores: &usize| Some(ideal(threads, cores, 1.0) / form(threads, cores));
        Series::computed(name, against(cores.iter().map(ratio).collect()))
    };
    let measured = ways.into_iter();
    let mut series: Vec<Series> = measured
        .map(|(name, ratios)| Series::measured(name, against(ratios)))
        .collect();
    series.push(Series::level(Mode::Tr.name(), 1.0));
    series.push(closed("fair sharing", fair));
    series.push(closed("pinned", pinned));
    Content::Lines {
        x: Axis::linear("cores", ""),
        y: time(),
        series,
    }
}

fn dots(cores: usize, ways: Vec<Ratios>) -> Content {
    let row = |(label, ratios): Ratios| DotRow {
        label,
        dots: vec![ratios.first().copied().flatten().map(Value::exact)],
    };
    Content::Dots {
        x: time(),
        marks: vec![format!("{cores} cores")],
        rows: ways.into_iter().map(row).collect(),
        reference: Some(1.0),
    }
}
