//! The results of one cell's visits.

use crate::output::Output;
use crate::protocol::Outcome;
use crate::stats::{Series, Summary, quantile};
use crate::table;
use anyhow::Result;

/// The measured case.
pub struct Cell {
    pub load: &'static str,
    pub clients: usize,
    pub threads: usize,
}

/// The visits of one contestant, with one value for each round.
#[derive(Default)]
struct Visits {
    p50: Series,
    p99: Series,
    p999: Series,
    processor: Series,
    unserved: usize,
    requests: usize,
}

impl Visits {
    fn of(outcomes: &[Outcome]) -> Self {
        let mut visits = Self::default();
        outcomes.iter().for_each(|outcome| visits.add(outcome));
        visits
    }

    fn add(&mut self, outcome: &Outcome) {
        let us = |q| vec![quantile(&outcome.latencies, q) / 1e3];
        self.p50.rounds.push(us(0.5));
        self.p99.rounds.push(us(0.99));
        self.p999.rounds.push(us(0.999));
        let requests = outcome.latencies.len();
        let served = requests - outcome.unserved;
        if served > 0 {
            let us = outcome.processor_ms * 1e3 / served as f64;
            self.processor.rounds.push(vec![us]);
        }
        self.unserved += outcome.unserved;
        self.requests += requests;
    }
}

/// Adds a cell to the file, and prints its table.
///
/// # Errors
///
/// If it cannot be written.
pub fn add(cell: &Cell, seen: &[(&str, Vec<Outcome>)], output: &mut Output) -> Result<()> {
    let Cell {
        load,
        clients,
        threads,
    } = *cell;
    output.say(&format!(
        "\n{load} us, {clients} clients, {threads} threads; us: median over the rounds (p10 to \
         p90); ratios to the times of manycore"
    ));
    let header = [
        "",
        "p50",
        "p99",
        "p99.9",
        "processor",
        "p50 ratio",
        "p99 ratio",
        "unserved",
    ];
    let mut table = table::table(header.map(str::to_owned).into());
    // The first is manycore: as the leader it cannot be left out.
    let own = Visits::of(&seen[0].1);
    for (name, outcomes) in seen {
        let peer = Visits::of(outcomes);
        let of = |series: &Series| Summary::of(&series.pooled());
        let [p50, p99, p999] = [&peer.p50, &peer.p99, &peer.p999].map(of);
        let processor = of(&peer.processor);
        let p50_ratio = Summary::of(&peer.p50.ratios_to(&own.p50));
        let p99_ratio = Summary::of(&peer.p99.ratios_to(&own.p99));
        let figures = [p50, p99, p999, processor];
        let mut cells = vec![(*name).to_owned()];
        cells.extend(figures.map(|s| match s.median.is_nan() {
            true => "-".to_owned(),
            false => format!("{:.0} ({:.0} to {:.0})", s.median, s.p10, s.p90),
        }));
        cells.extend([p50_ratio, p99_ratio].map(table::spread));
        cells.push(match peer.unserved {
            0 => String::new(),
            some => format!("{some} of {}", peer.requests),
        });
        table.add_row(cells);
        // Each figure is the median over the rounds, with its p10 and p90.
        let mut row = vec![
            ("load".to_owned(), load.into()),
            ("clients".to_owned(), clients.into()),
            ("threads".to_owned(), threads.into()),
            ("peer".to_owned(), (*name).into()),
        ];
        for (name, Summary { median, p10, p90 }) in [
            ("p50_us", p50),
            ("p99_us", p99),
            ("p999_us", p999),
            // CPU time of all threads of the process for each served request; empty if none was
            // served.
            ("processor_us", processor),
            // Ratios to manycore in the same round.
            ("p50_ratio", p50_ratio),
            ("p99_ratio", p99_ratio),
        ] {
            row.push((name.to_owned(), median.into()));
            row.push((format!("{name}_p10"), p10.into()));
            row.push((format!("{name}_p90"), p90.into()));
        }
        // Requests that were not served within three times the length of the schedule.
        row.push(("unserved".to_owned(), peer.unserved.into()));
        row.push(("requests".to_owned(), peer.requests.into()));
        row.push(("rounds".to_owned(), peer.p50.rounds.len().into()));
        output.cells(&row)?;
    }
    output.say(&table.to_string());
    Ok(())
}
