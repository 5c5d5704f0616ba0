//! The tables: the gain of each policy over `packed` by both baselines, with the published gain; speedups by number of
//! threads; the cache lines that move between cores.

use super::cell::Policy;
use super::config::SleepConfig;
use super::measured::{Line, MeasuredPolicies, PolicySamples};
use super::published::Published;
use super::speedup::{self, Delta, Single};
use crate::measure::ratio::Ratio;
use crate::report::table::{Cell, Table};
use crate::report::words::signed;
use crate::study::unit::Unit;
use manycore_programs::fork::Algorithm;
use manycore_programs::sleep::Mode;

/// The prefix of the names of the policies' own words.
const OWN: &str = "sleep: ";

/// One table for each algorithm, with the most threads.
pub(super) fn by_algorithm(
    config: &SleepConfig,
    published: &Published,
    measured: &[MeasuredPolicies],
    orders: &[Vec<MeasuredPolicies>],
) -> Vec<Table> {
    let tables = config.algorithms.iter();
    let tables =
        tables.map(|&algorithm| of_algorithm(config, algorithm, published, measured, orders));
    tables.collect()
}

fn of_algorithm(
    config: &SleepConfig,
    algorithm: Algorithm,
    published: &Published,
    measured: &[MeasuredPolicies],
    orders: &[Vec<MeasuredPolicies>],
) -> Table {
    let threads = config.most_threads();
    let lossy = config
        .policies
        .iter()
        .any(|policy| policy.mode == Mode::AsPublished);
    let is_published = |policy: &Policy| published.delta(algorithm, policy, threads).is_some();
    let beside = config.has_published_inputs() && config.policies.iter().any(is_published);
    let unit = config.unit();
    let mut header = vec![
        "policy".to_owned(),
        "time".to_owned(),
        "speedup,\nfastest".into(),
        "speedup,\nown".into(),
        "to packed,\ntime".into(),
        "to packed,\nown".into(),
    ];
    if beside {
        header.extend(["2022,\nspeedup", "2022,\ntime", "2022,\nown"].map(str::to_owned));
    }
    header.extend(["CPU time".into(), "sleeps".into(), "wake-ups".into()]);
    if lossy {
        header.push("recovered".into());
    }
    let time = |policy: &Policy| speedup::time(measured, algorithm, policy, threads);
    let least = config.policies.iter().filter_map(time).reduce(f64::min);
    let row = |policy: &Policy| {
        let samples = speedup::cell(measured, algorithm, threads)?.of(policy)?;
        let speedup = |single| {
            let ratio = speedup::speedup(orders, algorithm, policy, threads, single);
            Cell::or_dash(ratio.map(|ratio| format!("{:.2}", ratio.mean)))
        };
        let mut row = vec![
            Cell::new(policy.to_string()),
            Cell {
                best: Some(samples.time()) == least,
                ..Cell::new(unit.show(samples.time()))
            },
            speedup(Single::Fastest),
            speedup(Single::Own),
        ];
        row.extend(deltas(speedup::change(orders, algorithm, policy, threads)));
        if beside {
            let speedup = published.speedup(algorithm, policy, threads);
            let speedup = speedup.map_or("-".into(), |speedup| format!("{speedup:.2}"));
            row.push(Cell::new(speedup));
            row.extend(deltas(published.delta(algorithm, policy, threads)));
        }
        row.extend(counts(unit, samples, lossy));
        Some(row)
    };
    Table {
        caption: format!("{algorithm}, {threads} threads: times in {}", unit.name()),
        header,
        rows: config.policies.iter().filter_map(row).collect(),
    }
}

fn deltas(delta: Option<Delta>) -> [Cell; 2] {
    let show = |of: fn(Delta) -> f64| Cell::or_dash(delta.map(|delta| percent(of(delta))));
    [show(|delta| delta.time), show(|delta| delta.own)]
}

fn counts(unit: Unit, samples: &PolicySamples, lossy: bool) -> Vec<Cell> {
    let count = |value: f64| Cell::new(format!("{value:.0}"));
    let mut cells = vec![
        Cell::new(unit.show(samples.median(|run| run.cpu_time))),
        count(samples.median(|run| run.sleeps as f64)),
        count(samples.median(|run| run.wakeups as f64)),
    ];
    if lossy {
        cells.push(count(samples.median(|run| run.recovered as f64)));
    }
    cells
}

/// The times relative to `packed`, for all algorithms and as their geometric mean. With several `orders` of events, with
/// 95% intervals.
pub(super) fn overview(config: &SleepConfig, orders: &[Vec<MeasuredPolicies>]) -> Table {
    let threads = config.most_threads();
    let mut header = vec!["policy".to_owned()];
    header.extend(config.algorithms.iter().map(|one| one.name().to_owned()));
    header.push("geometric\nmean".into());
    let row = |policy: &Policy| {
        let show = |algorithms: &[Algorithm]| {
            let ratio = speedup::to_packed(orders, algorithms, policy, threads);
            Cell::or_dash(ratio.map(show))
        };
        let mut row = vec![Cell::new(policy.to_string())];
        row.extend(config.algorithms.chunks(1).map(show));
        row.push(show(&config.algorithms));
        row
    };
    Table {
        caption: format!(
            "Time relative to packed, {threads} threads; below zero is faster{}",
            match orders.len() {
                1 => String::new(),
                _ => format!(
                    " (95% intervals, paired by order; {})",
                    config.told_orders()
                ),
            }
        ),
        header,
        rows: config.policies.iter().map(row).collect(),
    }
}

/// The speedups by number of threads.
pub(super) fn by_threads(config: &SleepConfig, orders: &[Vec<MeasuredPolicies>]) -> Table {
    let mut header = vec!["policy".to_owned()];
    header.extend(config.threads.iter().map(usize::to_string));
    let row = |policy: &Policy| {
        let of = config.threads.iter().map(|&threads| {
            let mean = speedup::mean_speedup(orders, &config.algorithms, policy, threads);
            Cell::or_dash(mean.map(|mean| format!("{mean:.2}")))
        });
        let mut row = vec![Cell::new(policy.to_string())];
        row.extend(of);
        row
    };
    Table {
        caption: "Speedup over the fastest single-thread time by threads: geometric mean of the \
                  algorithms"
            .into(),
        header,
        rows: config.policies.iter().map(row).collect(),
    }
}

/// The effect of a run on the cache lines of a policy's own words, for the first algorithm. Only simulations have this
/// table.
pub(super) fn lines(config: &SleepConfig, measured: &[MeasuredPolicies]) -> Option<Table> {
    let (&algorithm, threads) = (config.algorithms.first()?, config.most_threads());
    let cell = speedup::cell(measured, algorithm, threads)?;
    let rows = cell.policies.iter().flat_map(|samples| {
        let own = |line: &&Line| line.names.contains(OWN) && line.writes + line.reads > 0;
        let lines = samples.lines.iter().filter(own);
        lines.map(|line| {
            let a_run = |count: u64| Cell::new(format!("{:.0}", samples.a_run(count)));
            vec![
                Cell::new(samples.policy.to_string()),
                Cell::new(line.names.replace(OWN, "")),
                Cell::new(line.lines.to_string()),
                a_run(line.writes),
                a_run(line.reads),
                a_run(line.transfers),
            ]
        })
    });
    Some(Table {
        caption: format!(
            "{algorithm}, {threads} threads: accesses per run to the cache lines of the policies"
        ),
        header: [
            "policy",
            "words in the line",
            "lines",
            "writes",
            "reads that\nmissed",
            "transfers",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: rows.collect(),
    })
}

/// A ratio as a difference from 1, with its interval.
fn show(ratio: Ratio) -> String {
    let mean = percent(ratio.mean - 1.0);
    match ratio.interval {
        Some(ends) => {
            let [low, high] = ends.map(|end| signed(100.0 * (end - 1.0), 1));
            format!("{mean}\n({low} to {high})")
        }
        None => mean,
    }
}

fn percent(part: f64) -> String {
    format!("{}%", signed(100.0 * part, 1))
}

#[cfg(test)]
mod tests {
    use super::super::measured::by_order;
    use super::super::synthetic;
    use super::*;

    fn config(only: &[&str], size: &str) -> SleepConfig {
        SleepConfig::on_dahu(only, &[&format!("size={size}")], &[32]).unwrap()
    }

    /// The words of a table's row.
    fn row(table: &Table, name: &str) -> Vec<String> {
        let text = table.to_text();
        let line = text
            .lines()
            .find(|line| line.contains(&format!(" {name} ")));
        let words = line
            .unwrap_or_else(|| panic!("{text}\nlacks {name}"))
            .split_whitespace();
        words.map(str::to_owned).collect()
    }

    #[test]
    fn tables_have_both_baselines_and_the_document() {
        let only = ["life", "packed", "split-padded", "nojec-sleepers-padded"];
        let config = config(&only, "document");
        let measured = synthetic::measured(&[
            ("packed", 1, 1000.0),
            ("split-padded", 1, 1100.0),
            ("packed", 32, 100.0),
            ("split-padded", 32, 80.0),
        ]);
        let published = Published::load().unwrap();
        let orders = by_order(&measured, &[0]);
        let tables = by_algorithm(&config, &published, &measured, &orders);
        assert_eq!(tables.len(), 1);
        let words = row(&tables[0], "split-padded");
        let expected = "│ split-padded 80* 12.50 13.75 -20.0% -27.3% 4.36 +3.0% +2.3% 2560 3 2 │";
        assert_eq!(words.join(" "), expected);
        // For other inputs the document (Fontena's experiment) has no times.
        let quick = by_algorithm(
            &self::config(&only, "quick"),
            &published,
            &measured,
            &orders,
        );
        let words = row(&quick[0], "split-padded");
        assert_eq!(words[6..9], ["-27.3%", "2560", "3"]);
        // A policy that did not run has no row.
        assert!(!tables[0].to_text().contains("nojec"));

        let words = row(&overview(&config, &orders), "split-padded");
        assert_eq!(words[2..4], ["-20.0%", "-20.0%"]);
        let words = row(&by_threads(&config, &orders), "split-padded");
        assert_eq!(words[2..4], ["0.91", "12.50"]);
        let words = row(&lines(&config, &measured).unwrap(), "split-padded");
        assert_eq!(words[2..7], ["counters", "1", "20", "10", "15"]);
    }
}
