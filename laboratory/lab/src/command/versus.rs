//! `--versus COLUMN=VALUE`: divides the times of a study's rows by the times of the rows with this value.
//!
//! Two rows are compared if they agree in all requested columns except this one. Each order of events, or seed, gives
//! one pair and one ratio. The interval is Student's for the logarithms of the ratios.

use super::intervals::Rows;
use crate::failure::bad_input;
use crate::measure::ratio::{Ratio, Side};
use crate::report::grid::Grid;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The columns with a row's time, the best first.
const TIMES: [&str; 9] = [
    "time_median",
    "latency_median",
    "makespan",
    "program_time",
    "time",
    "steady_us",
    "episode_median",
    "total_cycles",
    "latency_ns",
];
/// The columns that describe the request. [`TIMES`] are columns of results.
const ASKED: &str = "algorithm answers_every app arrivals barrier benchmark class core_groups cores discipline distribution edge_factor \
                     gap input machine mode n parameter partitioner peer policy program scale settings task task_cycles \
                     tasks threads unit unit_comp unit_read unit_write value world";

/// Names the rows with which all others are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Versus {
    column: String,
    value: String,
}

/// The ratios of one row.
struct RatioRow {
    /// The swept keys and the columns of the request.
    key: Vec<String>,
    ratio: Ratio,
    pairs: usize,
}

/// The ratios of all rows.
pub(super) struct Ratios {
    versus: Versus,
    time: &'static str,
    keys: Vec<String>,
    rows: Vec<RatioRow>,
}

impl Versus {
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        match text.split_once('=') {
            Some((column, value)) if !column.trim().is_empty() => Ok(Self {
                column: column.trim().to_owned(),
                value: value.trim().to_owned(),
            }),
            _ => Err(bad_input(format!(
                "--versus {text}: expected COLUMN=VALUE, such as policy=packed"
            ))),
        }
    }

    /// Compares the rows of all points. `header` names their columns, and `keys` their points.
    pub(super) fn ratios(
        &self,
        keys: &[&str],
        header: &[String],
        runs: &[Rows],
    ) -> anyhow::Result<Ratios> {
        let place = |name: &str| header.iter().position(|column| column == name);
        let (Some(column), true) = (place(&self.column), is_asked(&self.column)) else {
            let asked: Vec<&str> = header
                .iter()
                .map(String::as_str)
                .filter(|column| is_asked(column))
                .collect();
            return Err(bad_input(format!(
                "--versus {}: no such column; expected one of {}",
                self.column,
                asked.join(", ")
            )));
        };
        let time = TIMES
            .into_iter()
            .find_map(|name| Some((name, place(name)?)));
        let (time, at) =
            time.ok_or_else(|| bad_input("--versus: this study has no column of times"))?;
        // A column that has the same value everywhere is not shown.
        let first = runs.first().and_then(|run| run.rows.first());
        let varies = |at: usize| {
            first.is_some_and(|first| {
                runs.iter()
                    .flat_map(|run| &run.rows)
                    .any(|row| row[at] != first[at])
            })
        };
        let is_kept = |at: &usize| is_asked(&header[*at]) && (*at == column || varies(*at));
        let mut asked: Vec<usize> = (0..header.len()).filter(is_kept).collect();
        // The column `unit` says in which unit these columns of the request are.
        let is_time = |at: &usize| ["task_cycles", "answers_every"].contains(&&*header[*at]);
        if asked.iter().any(is_time) {
            asked.extend(place("unit"));
        }
        let mut pairs: BTreeMap<(usize, Vec<String>), Vec<f64>> = BTreeMap::new();
        for run in runs {
            let key = |row: &[String], with: &str| -> Vec<String> {
                let cell = |&at: &usize| {
                    if at == column {
                        with.to_owned()
                    } else {
                        row[at].clone()
                    }
                };
                run.point
                    .iter()
                    .cloned()
                    .chain(asked.iter().map(cell))
                    .collect()
            };
            let names = run.rows.iter().map(|row| key(row, &row[column]));
            if names.collect::<BTreeSet<_>>().len() < run.rows.len() {
                return Err(bad_input(format!(
                    "--versus {}: several rows differ only in their results; expected settings \
                     that give one row of each kind, such as --set blocks=32",
                    self.column
                )));
            }
            let mut base = BTreeMap::new();
            for row in run.rows.iter().filter(|row| row[column] == self.value) {
                base.insert(key(row, ""), row[at].parse::<f64>().ok());
            }
            for (number, row) in run.rows.iter().enumerate() {
                let other = base.get(&key(row, "")).copied().flatten();
                if let (Some(other), Ok(time)) = (other, row[at].parse::<f64>())
                    && row[column] != self.value
                    && time > 0.0
                    && other > 0.0
                {
                    let key = (number, key(row, &row[column]));
                    pairs.entry(key).or_default().push((time / other).ln());
                }
            }
        }
        if pairs.is_empty() {
            return Err(bad_input(format!(
                "--versus {}={}: no row has this value, or no other row can be compared \
                 with a row that has it",
                self.column, self.value
            )));
        }
        let rows = pairs.into_iter().filter_map(|((_, key), logs)| {
            Some(RatioRow {
                key,
                ratio: Ratio::of_logs(&logs)?,
                pairs: logs.len(),
            })
        });
        let keys = keys.iter().map(|key| format!("sweep.{key}"));
        Ok(Ratios {
            versus: self.clone(),
            time,
            keys: keys
                .chain(asked.iter().map(|&at| header[at].clone()))
                .collect(),
            rows: rows.collect(),
        })
    }
}

/// Whether a column describes the request.
fn is_asked(column: &str) -> bool {
    ASKED.split_whitespace().any(|asked| asked == column)
}

impl RatioRow {
    /// The finding that the interval supports.
    fn finding(&self) -> &'static str {
        match self.ratio.side(1.0) {
            _ if self.ratio.interval.is_none() => "no difference is shown",
            Side::Below => "faster",
            Side::Above => "slower",
            Side::NotShown => "no difference is shown",
        }
    }
}

impl Ratios {
    /// Whether more orders would not change a finding.
    pub(super) fn are_decided(&self) -> bool {
        self.rows.iter().all(|row| row.ratio.is_narrow(1.0))
    }

    pub(super) fn to_csv(&self) -> anyhow::Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let names = ["orders", "ratio", "ratio.low", "ratio.high", "finding"].map(String::from);
        writer.write_record(self.keys.iter().chain(&names))?;
        for row in &self.rows {
            let ends = row
                .ratio
                .interval
                .map(|ends| ends.map(|end| format!("{end:.4}")));
            let [low, high] = ends.unwrap_or_default();
            let cells = [
                row.pairs.to_string(),
                format!("{:.4}", row.ratio.mean),
                low,
                high,
                row.finding().to_owned(),
            ];
            writer.write_record(row.key.iter().chain(&cells))?;
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }

    pub(super) fn to_text(&self) -> String {
        let mut names = self.keys.clone();
        names.extend(["ratio", "95% interval", "finding"].map(String::from));
        let numbers = self.keys.len()..self.keys.len() + 2;
        let mut grid = Grid::with_numbers(&names, numbers);
        for row in &self.rows {
            let ends = row
                .ratio
                .interval
                .map(|[low, high]| format!("{low:.3} to {high:.3}"));
            let cells = [
                format!("{:.3}", row.ratio.mean),
                ends.unwrap_or_default(),
                row.finding().to_owned(),
            ];
            grid.add_row(row.key.iter().cloned().chain(cells));
        }
        let (Versus { column, value }, time) = (&self.versus, &self.time);
        format!("{time} divided by the {time} of {column} = {value}, under the same order\n{grid}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(rows: &[[&str; 4]]) -> Rows {
        let rows = rows
            .iter()
            .map(|row| row.map(str::to_owned).into())
            .collect();
        Rows {
            point: Vec::new(),
            rows,
        }
    }

    fn ratios(versus: &str, runs: &[Rows]) -> anyhow::Result<String> {
        let header = ["policy", "threads", "time_median", "wakeups"].map(String::from);
        Versus::parse(versus)?.ratios(&[], &header, runs)?.to_csv()
    }

    #[test]
    fn pairs_are_of_the_same_order_and_cell() {
        let runs = [
            run(&[
                ["a", "2", "100", "1"],
                ["b", "2", "50", "7"],
                ["a", "4", "60", "1"],
                ["b", "4", "61", "2"],
            ]),
            run(&[
                ["a", "2", "300", "2"],
                ["b", "2", "150", "8"],
                ["a", "4", "60", "3"],
                ["b", "4", "59", "4"],
            ]),
        ];
        let expected = "policy,threads,orders,ratio,ratio.low,ratio.high,finding\n\
                        b,2,2,0.5000,0.5000,0.5000,faster\n\
                        b,4,2,0.9999,0.8090,1.2357,no difference is shown\n";
        assert_eq!(ratios("policy=a", &runs).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let runs = [run(&[["a", "2", "100", "1"]])];
        for (versus, expected) in [
            ("policy=c", "no row has this value"),
            ("policy=a", "no row has this value"),
            ("wakeups=1", "expected one of policy, threads"),
            ("policy", "expected COLUMN=VALUE"),
        ] {
            let error = ratios(versus, &runs).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
