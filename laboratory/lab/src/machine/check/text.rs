//! The check as a table, and as CSV.

use super::{CheckReport, CheckRow};
use crate::report::csv;
use crate::report::table::Table;
use serde::Serialize;
use std::fmt;

#[derive(Serialize)]
struct Line<'a> {
    program: &'a str,
    threads: usize,
    native_ns: f64,
    native_ns_q1: f64,
    native_ns_q3: f64,
    native_samples: usize,
    simulated_ns: f64,
    simulated_over_native: f64,
    error: f64,
}

impl CheckReport {
    pub(crate) fn csv(&self) -> anyhow::Result<String> {
        let lines: Vec<Line<'_>> = self.rows.iter().map(|row| self.line(row)).collect();
        csv::text(&lines)
    }

    fn line<'a>(&self, row: &'a CheckRow) -> Line<'a> {
        Line {
            program: &row.program,
            threads: self.threads,
            native_ns: row.native_ns.median,
            native_ns_q1: row.native_ns.p25,
            native_ns_q3: row.native_ns.p75,
            native_samples: row.native_ns.samples,
            simulated_ns: row.simulated_ns,
            simulated_over_native: row.ratio,
            error: row.error(),
        }
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(warning) = &self.disturbed {
            writeln!(f, "{warning}\n")?;
        }
        let rows = self.rows.iter().map(|row| {
            let native = &row.native_ns;
            [
                row.program.clone(),
                format!(
                    "{:.1} ({:.1}..{:.1})",
                    native.median, native.p25, native.p75
                ),
                format!("{:.1}", row.simulated_ns),
                format!("{:.2}", row.ratio),
            ]
        });
        let caption = format!(
            "{}, {} threads, compared with the simulated {}: {} rounds, median (quartiles), ns",
            self.machine, self.threads, self.preset, self.rounds
        );
        let header = ["program", "native", "simulated", "ratio"];
        writeln!(f, "{}", Table::of_texts(&caption, header, rows).to_text())?;
        writeln!(
            f,
            "Error: median {:.0}%, worst {:.0}%. --as-preset uses none of these programs",
            self.median_error * 100.0,
            self.worst_error * 100.0
        )?;
        if let Some(handover) = self.handover.as_ref().filter(|row| row.is_beyond_spread()) {
            let native = &handover.native_ns;
            let (median, low, high) = (native.median, native.p25, native.p75);
            let simulated = handover.simulated_ns;
            match self.is_own {
                true => writeln!(
                    f,
                    "A handover between the first two cores now takes {median:.1} ns ({low:.1}..{high:.1}), and \
                     {simulated:.1} ns on the preset: the host is not as it was measured; --as-preset measures it \
                     again"
                )?,
                false => writeln!(
                    f,
                    "Between the first two cores: handover here {median:.1} ns ({low:.1}..{high:.1}), on the preset \
                     {simulated:.1} ns"
                )?,
            }
        }
        Ok(())
    }
}
