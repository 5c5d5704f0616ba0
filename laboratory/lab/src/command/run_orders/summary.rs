//! The output of `run --orders`: text, CSV and JSON.

use super::OrderRun;
use crate::cli::RunArgs;
use crate::measure::statistics::Spread;
use crate::measure::student::Mean;
use crate::study::order;
use anyhow::Context;
use manycore_chip::config::Config;
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;

/// All cycles of each run, and the cycles of each region that every run has.
pub(super) fn timed(runs: &[OrderRun]) -> Vec<(&str, Vec<f64>)> {
    let all = runs.iter().map(|run| run.cycles as f64).collect();
    let names = runs.first().into_iter().flat_map(|run| &run.regions);
    let of = |name: &str| {
        let cycles = runs.iter().map(|run| {
            let mut regions = run.regions.iter();
            regions
                .find(|region| region.0 == name)
                .map(|region| region.1 as f64)
        });
        cycles.collect::<Option<Vec<f64>>>()
    };
    let regions = names.filter_map(|(name, _)| Some((&**name, of(name)?)));
    std::iter::once(("cycles", all)).chain(regions).collect()
}

/// Returns a line for each order, and the spread of each count of cycles.
pub(super) fn text(runs: &[OrderRun], machine: &Config) -> String {
    let mut text = format!(
        "{} orders on {}, {} cores at {} GHz, delays of 0 to {} cycles\n{:>7} {:>14} {:>14} {:>16}\n",
        runs.len(),
        machine.name,
        machine.cores,
        machine.ghz,
        order::amount(machine),
        "order",
        "cycles",
        "instructions",
        "hash",
    );
    for run in runs {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{:>7} {:>14} {:>14} {}",
            run.order, run.cycles, run.instructions, run.hash
        );
    }
    for (name, cycles) in timed(runs) {
        let (spread, mean) = (Spread::of(&cycles), Mean::of(&cycles));
        let interval = mean.and_then(Mean::interval);
        let interval = interval.map(|[low, high]| format!(" (95% interval {low:.0} to {high:.0})"));
        let mean = mean.map_or(f64::NAN, |mean| mean.mean);
        let (least, most) = ends(&cycles);
        let _ = writeln!(
            text,
            "{name:<12} median {:.0} ({:.3} ms), mean {mean:.0}{}, least {least}, most {most}",
            spread.median,
            spread.median / machine.ghz / 1e6,
            interval.unwrap_or_default(),
        );
    }
    text
}

fn ends(cycles: &[f64]) -> (f64, f64) {
    let least = cycles.iter().copied().fold(f64::INFINITY, f64::min);
    (least, cycles.iter().copied().fold(0.0, f64::max))
}

/// Returns a sentence if the output or the status of an order differs from that of the first order.
pub(super) fn difference(runs: &[OrderRun]) -> Option<String> {
    let others = runs.iter().filter(|run| !run.same_output);
    let others: Vec<String> = others.map(|run| run.order.to_string()).collect();
    (!others.is_empty()).then(|| {
        format!(
            "output or exit status differ from order {}'s, which is shown, in {} of {} orders: {}",
            runs[0].order,
            others.len(),
            runs.len(),
            others.join(", ")
        )
    })
}

/// Writes the file of `--stats`, with a row for each order.
pub(super) fn write(
    file: &Path,
    args: &RunArgs,
    machine: &Config,
    runs: &[OrderRun],
    text: &str,
) -> anyhow::Result<()> {
    let text = match file.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => csv(runs)?,
        Some("json") => {
            let spread = timed(runs).into_iter().map(|(name, cycles)| {
                let (spread, mean) = (Spread::of(&cycles), Mean::of(&cycles));
                json!({
                    "of": name,
                    "unit": "cycles",
                    "median": spread.median,
                    "mean": mean.map(|mean| mean.mean),
                    "interval": mean.and_then(Mean::interval),
                    "least": ends(&cycles).0,
                    "most": ends(&cycles).1,
                })
            });
            let all = json!({
                "program": args.program,
                "machine": machine.name,
                "ghz": machine.ghz,
                "perturb": order::amount(machine),
                "orders": runs,
                "spread": spread.collect::<Vec<_>>(),
            });
            serde_json::to_string_pretty(&all)? + "\n"
        }
        _ => text.to_owned(),
    };
    std::fs::write(file, text).with_context(|| format!("--stats={}", file.display()))
}

/// The rows of the CSV file, with a column for each region that every run has.
fn csv(runs: &[OrderRun]) -> anyhow::Result<String> {
    let timed = timed(runs);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = [
        "order",
        "status",
        "same_output",
        "instructions",
        "threads",
        "hash",
    ];
    let columns = timed.iter().map(|(name, _)| match *name {
        "cycles" => "cycles".to_owned(),
        region => format!("{region} cycles"),
    });
    let header: Vec<String> = names.into_iter().map(String::from).chain(columns).collect();
    writer.write_record(&header)?;
    for (at, run) in runs.iter().enumerate() {
        let cells = [
            run.order.to_string(),
            run.status.to_string(),
            run.same_output.to_string(),
            run.instructions.to_string(),
            run.threads.to_string(),
            run.hash.clone(),
        ];
        let cycles = timed.iter().map(|(_, cycles)| cycles[at].to_string());
        writer.write_record(cells.into_iter().chain(cycles))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(order: u64, cycles: u64, same_output: bool) -> OrderRun {
        OrderRun {
            order,
            status: 0,
            same_output,
            instructions: 10,
            threads: 1,
            cycles,
            hash: format!("{order:016x}"),
            regions: vec![("region".into(), cycles / 2)],
            message: None,
            streams: Default::default(),
        }
    }

    #[test]
    fn a_different_output_is_reported() {
        let runs = [run(4, 100, true), run(5, 110, false), run(6, 120, true)];
        assert_eq!(
            difference(&runs).unwrap(),
            "output or exit status differ from order 4's, which is shown, in 1 of 3 orders: 5"
        );
        assert_eq!(difference(&runs[..1]), None);
    }

    #[test]
    fn all_cycles_and_each_region_have_a_spread_and_a_column() {
        let runs = [run(1, 100, true), run(2, 110, true), run(3, 120, true)];
        let machine = Config::preset("dahu").unwrap();
        let text = text(&runs, &machine);
        // The mean is 110. The interval is t(0.975, 2) = 4.303 times 10, divided by the root of 3.
        let words = "mean 110 (95% interval 85 to 135), least 100, most 120";
        assert!(
            text.contains(words) && text.contains("region       median 55"),
            "{text}"
        );
        assert_eq!(
            csv(&runs).unwrap(),
            "order,status,same_output,instructions,threads,hash,cycles,region cycles\n\
             1,0,true,10,1,0000000000000001,100,50\n2,0,true,10,1,0000000000000002,110,55\n\
             3,0,true,10,1,0000000000000003,120,60\n"
        );
    }
}
