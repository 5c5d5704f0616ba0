//! The numbers, one observation a row.

use super::mode::Mode;
use super::results::{
    PackingResults, account, interval_ns, prelude_ns, program_ns, settling_ns, time,
};
use serde::Serialize;

/// A case: a line of `packing.csv`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PackingRow {
    world: &'static str,
    machine: String,
    benchmark: String,
    class: String,
    threads: usize,
    /// One after the other, if they change.
    cores: String,
    mode: Mode,
    /// Changes to the machine.
    settings: String,
    /// That of what counts: so many barriers, after those that were skipped.
    time: f64,
    time_p10: f64,
    time_p90: f64,
    /// Before the first step; the mean between two barriers; the whole program, as long as it is.
    prelude: f64,
    interval: f64,
    program_time: f64,
    /// The program's time under thread reduction on as many cores over this.
    ratio_tr: Option<f64>,
    /// Time of the cores that the program was given, together.
    user: f64,
    system: f64,
    idle: f64,
    io: f64,
    barriers: usize,
    skipped: usize,
    /// The time of these.
    skipped_time: f64,
    /// Half of the 95% interval of the mean time of a step, in percent; empty if the run's length
    /// was fixed.
    margin: Option<f64>,
    steady: Option<bool>,
    /// The answer, found right.
    verified: String,
    runs: usize,
    unit: &'static str,
}

/// All that was measured.
pub(super) fn rows(results: PackingResults<'_>) -> Vec<PackingRow> {
    let setup = &results.config.setup;
    let row = results.measured.0.iter().map(|runs| {
        let (case, spread, account) = (&runs.trial, time(runs), account(runs));
        let cores: Vec<String> = case
            .turns
            .iter()
            .map(|turn| turn.cores.to_string())
            .collect();
        let ms = |ns: f64| ns.round() / 1e6;
        PackingRow {
            world: setup.world,
            machine: setup.machine.clone(),
            benchmark: case.load.name(),
            class: case.load.class(),
            threads: case.threads,
            cores: cores.join(">"),
            mode: case.mode,
            settings: case.settings.join(" "),
            time: ms(spread.median),
            time_p10: ms(spread.p10),
            time_p90: ms(spread.p90),
            prelude: ms(prelude_ns(runs)),
            interval: ms(interval_ns(runs)),
            program_time: ms(program_ns(runs)),
            ratio_tr: results.against_reduction(case),
            user: ms(account.user),
            system: ms(account.system),
            idle: ms(account.idle),
            io: ms(account.io),
            barriers: runs.outcomes[0].barriers,
            skipped: runs.outcomes[0].skipped,
            skipped_time: ms(settling_ns(runs)),
            margin: runs.outcomes[0].margin.map(|margin| 100.0 * margin),
            steady: (runs.outcomes[0].margin).map(|_| !runs.outcomes[0].is_unsteady()),
            verified: runs.outcomes[0].answer.clone(),
            runs: runs.outcomes.len(),
            unit: "ms",
        }
    });
    row.collect()
}
