//! The tables: latencies, and their means.

use super::config::Dimension;
use super::results::{ModelResults, middle};
use crate::report::table::{Cell, Table};
use crate::study::settings::power;

/// A table of latencies for each table of the document (Shuai's paper).
pub(super) fn latencies(results: &ModelResults<'_>) -> Vec<Table> {
    let table = |dimension| latency_table(results, dimension);
    Dimension::ALL.map(table).into()
}

fn latency_table(results: &ModelResults<'_>, dimension: Dimension) -> Table {
    let config = results.config;
    let mut header = vec![dimension.name().to_owned()];
    header.extend(
        config
            .policies
            .iter()
            .map(|policy| policy.name().to_owned()),
    );
    let has_printed = is_any_printed(results, dimension);
    if has_printed {
        header.extend(["printed:\nTaskflow", "printed:\ncost model"].map(String::from));
    }
    let row = |value: u64| {
        let at = config.at(dimension, value);
        let best = results.best(&at);
        let mut row = vec![Cell::new(power(value))];
        for &policy in &config.policies {
            let latency = results.latency(&at, policy).map(|spread| spread.median);
            row.push(Cell {
                text: match (latency, results.block(&at, policy)) {
                    (None, _) => "-".into(),
                    (Some(ns), None) => us(ns),
                    (Some(ns), Some(block)) => format!("{} ({block})", us(ns)),
                },
                best: latency.is_some() && latency == best,
            });
        }
        let printed = results.printed.of(dimension, &at);
        let text = |text: Option<String>| Cell::new(text.unwrap_or_else(|| "-".into()));
        if has_printed {
            row.push(text(printed.map(|row| us(row.taskflow_ns))));
            row.push(text(printed.map(|row| {
                format!("{} ({})", us(row.cost_model_ns), row.block_size)
            })));
        }
        row
    };
    Table {
        caption: format!(
            "Latency in us, with the block in parentheses if it is picked before the loop runs: {}, \
             {} threads, {} varies",
            config.setup.place(),
            config.threads,
            dimension.name()
        ),
        header,
        rows: config.values(dimension).into_iter().map(row).collect(),
    }
}

fn is_any_printed(results: &ModelResults<'_>, dimension: Dimension) -> bool {
    let config = results.config;
    let of = |value| results.printed.of(dimension, &config.at(dimension, value));
    config
        .values(dimension)
        .into_iter()
        .any(|value| of(value).is_some())
}

fn us(ns: f64) -> String {
    let us = ns / 1e3;
    match us {
        ..100.0 => format!("{us:.1}"),
        _ => format!("{us:.0}"),
    }
}

pub(super) fn means(results: &ModelResults<'_>) -> Table {
    let row = |&policy| {
        let ratios = results.ratios(policy);
        let numbers = match middle(&ratios) {
            Some(middle) => middle.map(|ratio| format!("{ratio:.3}")),
            None => ["-", "-", "-"].map(String::from),
        };
        let head = [
            Cell::new(format!("{policy}")),
            Cell::new(ratios.len().to_string()),
        ];
        head.into_iter().chain(numbers.map(Cell::new)).collect()
    };
    Table {
        caption:
            "Latency divided by the latency of the best policy of manycore's pool in the same loop"
                .into(),
        header: ["policy", "loops", "geometric mean", "median", "worst"]
            .map(String::from)
            .to_vec(),
        rows: results.config.policies.iter().map(row).collect(),
    }
}
