//! The numbers, one observation a row.

use super::case::PackingCase;
use super::mode::Mode;
use super::results::{PackingResults, account, interval_ns, prelude_ns, program_ns, settling_ns};
use crate::report::csv::columns;
use crate::study::trial::Runs;

columns! {
    /// A case: a line of `packing.csv`.
    pub(super) PackingRow(results: PackingResults<'_>, runs: &Runs<PackingCase>) {
        world: &'static str = results.config.setup.world,
        machine: String = results.config.setup.machine.clone(),
        benchmark: String = runs.trial.load.name(),
        class: String = runs.trial.load.class(),
        threads: usize = runs.trial.threads,
        /// One after the other, if they change.
        cores: String = runs.trial.cores().join(">"),
        mode: Mode = runs.trial.mode,
        /// Changes to the machine.
        settings: String = runs.trial.settings.join(" "),
        /// The time of the counted barriers, which follow the skipped ones: a run is as long as it must be, so rows
        /// are compared by `interval` and `program_time`.
        counted_time: f64 = ms(runs.spread(|run| run.time_ns).median),
        counted_time_p10: f64 = ms(runs.spread(|run| run.time_ns).p10),
        counted_time_p90: f64 = ms(runs.spread(|run| run.time_ns).p90),
        /// Before the first step; the mean between two barriers; the whole program, as long as it is.
        prelude: f64 = ms(prelude_ns(runs)),
        interval: f64 = ms(interval_ns(runs)),
        program_time: f64 = ms(program_ns(runs)),
        /// The program's time under thread reduction on as many cores over this.
        ratio_tr: Option<f64> = results.against_reduction(&runs.trial),
        /// Time, in the counted part, of the cores that the program was given, together.
        counted_user: f64 = ms(account(runs).user),
        counted_system: f64 = ms(account(runs).system),
        counted_idle: f64 = ms(account(runs).idle),
        counted_io: f64 = ms(account(runs).io),
        counted_barriers: usize = runs.outcomes[0].barriers,
        skipped: usize = runs.outcomes[0].skipped,
        /// The time of these.
        skipped_time: f64 = ms(settling_ns(runs)),
        /// Half of the 95% interval of the mean time of a step, in percent; empty if the run's length
        /// was fixed.
        margin: Option<f64> = runs.outcomes[0].margin.map(|margin| 100.0 * margin),
        steady: Option<bool> = (runs.outcomes[0].margin).map(|_| !runs.outcomes[0].is_unsteady()),
        /// The answer, found right.
        verified: String = runs.outcomes[0].answer.clone(),
        runs: usize = runs.outcomes.len(),
        unit: &'static str = "ms",
    }
}

fn ms(ns: f64) -> f64 {
    ns.round() / 1e6
}
