//! The table, the figure and its sentence.

use super::fit::{Form, Further};
use super::results::{InputsResults, Judged};
use crate::measure::statistics::Spread;
use crate::measure::student::Mean;
use crate::report::table::{Cell, Table};
use crate::report::words::signed;
use manycore_figure::{Axis, Content, DotRow, Figure, Panel, Value};

/// A row for each model.
pub(super) fn regrets(results: &InputsResults) -> Table {
    let least = results
        .judged
        .iter()
        .filter_map(|judged| Some(judged.mean()?.mean));
    let least = least.fold(f64::INFINITY, f64::min);
    let row = |judged: &Judged| {
        let mean = judged.mean();
        let spread = (!judged.regrets.is_empty()).then(|| Spread::of(&judged.regrets));
        let further = judged.fitted.map_or("-", |(_, further)| further.name());
        let saved = saved(results, judged);
        vec![
            Cell::new(judged.name.clone()),
            Cell::new(further.to_owned()),
            Cell {
                text: mean.map_or("-".into(), percent),
                best: mean.is_some_and(|mean| mean.mean <= least),
            },
            Cell::new(saved.map_or("-".into(), points)),
            Cell::new(spread.map_or("-".into(), |at| format!("{:.1}%", 100.0 * at.median))),
            Cell::new(spread.map_or("-".into(), |at| format!("{:.1}%", 100.0 * at.p90))),
        ]
    };
    Table {
        caption: format!(
            "Regret of {} loops. No model was fitted to the machine of the loop. 95% intervals of \
             means over machines",
            results.cells.len()
        ),
        header: [
            "model",
            "further inputs",
            "mean regret",
            "change by the further\ninputs, points",
            "median",
            "p90",
        ]
        .map(String::from)
        .to_vec(),
        rows: results.judged.iter().map(row).collect(),
    }
}

/// The change by a model's further inputs.
fn saved(results: &InputsResults, judged: &Judged) -> Option<Mean> {
    let (form, further) = judged.fitted?;
    match further {
        Further::Nothing => None,
        _ => judged.more_than(results.of(form, Further::Nothing)?),
    }
}

fn percent(mean: Mean) -> String {
    let of = |share: f64| format!("{:.1}%", 100.0 * share);
    match mean.interval() {
        Some([low, high]) => format!("{} ({} to {})", of(mean.mean), of(low), of(high)),
        None => of(mean.mean),
    }
}

fn points(mean: Mean) -> String {
    let of = |share: f64| signed(100.0 * share, 1);
    match mean.interval() {
        Some([low, high]) => format!("{} ({} to {})", of(mean.mean), of(low), of(high)),
        None => of(mean.mean),
    }
}

pub(super) fn figure(results: &InputsResults, place: &str) -> Figure {
    let dot = |form, further| {
        let mean = results.of(form, further)?.mean()?;
        let [low, high] = mean.interval().unwrap_or([mean.mean; 2]);
        Some(Value {
            at: 100.0 * mean.mean,
            low: 100.0 * low,
            high: 100.0 * high,
        })
    };
    let row = |form: Form| DotRow {
        label: form.name().into(),
        dots: Further::ALL.map(|further| dot(form, further)).into(),
    };
    Figure {
        part: String::new(),
        message: message(results),
        note: format!(
            "Mean regret of models on machines to which they were not fitted. A dot stands for \
             the inputs that a model gets besides threads, core groups and bytes ({place}, \
             varied)"
        ),
        panels: vec![Panel {
            title: String::new(),
            content: Content::Dots {
                x: Axis::linear("mean regret", "%"),
                marks: Further::ALL.map(|further| further.name().into()).into(),
                rows: Form::ALL.map(row).into(),
                reference: None,
            },
        }],
    }
}

/// States the change by both inputs in each form.
fn message(results: &InputsResults) -> String {
    let of = |form: Form| {
        let both = results.of(form, Further::Both)?;
        let change = saved(results, both)?;
        let found = match change.interval() {
            Some([_, high]) if high < 0.0 => "less regret",
            Some([low, _]) if low > 0.0 => "more regret",
            _ => "no difference is shown",
        };
        Some(format!(
            "{}: {found}, {} points",
            form.name(),
            points(change)
        ))
    };
    let all: Vec<String> = Form::ALL.into_iter().filter_map(of).collect();
    match all.is_empty() {
        true => "No model can be judged on fewer than two machines".into(),
        false => format!(
            "Effect of frequency and cache latency as inputs of a cost model, on machines to \
             which it was not fitted. {}",
            all.join("; ")
        ),
    }
}
