//! The rows of `packing.csv`.

use super::case::PackingCase;
use super::mode::Mode;
use super::results::{PackingResults, account, interval_ns, prelude_ns, program_ns, settling_ns};
use crate::report::csv::columns;
use crate::study::trial::Runs;

columns! {
    /// All runs of a case.
    pub(super) PackingRow(results: PackingResults<'_>, runs: &Runs<PackingCase>) {
        world: &'static str = results.config.setup.world,
        machine: String = results.config.setup.machine.clone(),
        benchmark: String = runs.trial.load.name(),
        class: String = runs.trial.load.class(),
        threads: usize = runs.trial.threads,
        /// The number of cores. If it changes, all numbers in order.
        cores: String = runs.trial.cores().join(">"),
        mode: Mode = runs.trial.mode,
        /// Changes to the machine, as for `--set`.
        settings: String = runs.trial.settings.join(" "),
        /// The time of the counted barriers, after the skipped ones. Runs differ in length: compare `interval` and
        /// `program_time`.
        counted_time: f64 = ms(runs.spread(|run| run.time_ns).median),
        counted_time_p10: f64 = ms(runs.spread(|run| run.time_ns).p10),
        counted_time_p90: f64 = ms(runs.spread(|run| run.time_ns).p90),
        prelude: f64 = ms(prelude_ns(runs)),
        interval: f64 = ms(interval_ns(runs)),
        program_time: f64 = ms(program_ns(runs)),
        /// The time under thread reduction on equally many cores, divided by `program_time`.
        ratio_tr: Option<f64> = results.against_reduction(&runs.trial),
        /// The counted time of all given cores by activity.
        counted_user: f64 = ms(account(runs).user),
        counted_system: f64 = ms(account(runs).system),
        counted_idle: f64 = ms(account(runs).idle),
        counted_io: f64 = ms(account(runs).io),
        counted_barriers: usize = runs.outcomes[0].barriers,
        skipped: usize = runs.outcomes[0].skipped,
        /// The time of the skipped barriers.
        skipped_time: f64 = ms(settling_ns(runs)),
        /// Half of the 95% interval of a step's mean time, in percent. Empty if the run had a fixed length or reached
        /// the program's end.
        margin: Option<f64> = runs.outcomes[0].margin.map(|margin| 100.0 * margin),
        steady: Option<bool> = (runs.outcomes[0].margin).map(|_| !runs.outcomes[0].is_unsteady()),
        verified: String = runs.outcomes[0].answer.clone(),
        runs: usize = runs.outcomes.len(),
        unit: &'static str = "ms",
    }
}

fn ms(ns: f64) -> f64 {
    ns.round() / 1e6
}
