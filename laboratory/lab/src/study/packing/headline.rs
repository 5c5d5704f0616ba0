//! What a reader shall know first.

use super::closed_form::ideal;
use super::load::{Kind, Load};
use super::mode::Mode;
use super::results::{PackingResults, program_account};
use crate::report::words::{list, more_or_less};

/// The title of the figure of ratios.
pub(super) fn message(results: PackingResults<'_>, threads: usize, kind: Kind) -> String {
    let config = results.config;
    let cores = config.swept_cores(threads);
    let modes = config.modes.iter().filter(|&&mode| mode != Mode::Tr);
    let all = modes.filter_map(|&mode| {
        let ratio = results.mean_ratio(kind, threads, cores, mode)?;
        let how = match mode {
            Mode::Tr => "started again",
            Mode::Tp => "left to the system",
            Mode::TpPinned => "bound to cores",
            Mode::Elastic => "as loops that follow the cores",
            Mode::Wrap => "as ranks that follow them",
        };
        Some(format!(
            "{} {how} ({})",
            more_or_less(1.0 / ratio - 1.0),
            mode.name()
        ))
    });
    let all: Vec<String> = all.collect();
    let few = match cores {
        1 => "a single one".to_owned(),
        _ => format!("{cores} threads"),
    };
    if all.is_empty() {
        return format!(
            "On {cores} cores programs have {few}, with which no other way was compared"
        );
    }
    format!(
        "On {cores} cores {threads} threads take, compared with {few}: {}",
        list(&all)
    )
}

/// The section's first sentences.
pub(super) const LEAD: &str = "A program that was started with a number of threads may be given fewer cores. Then threads \
     share cores, and those that have one for themselves wait for the others wherever all meet. \
     Here the ways to run it are: tr, started again with as many threads as cores; tp, all threads \
     left to the system; tp-pinned, each bound to a core; elastic and wrap, runtimes that follow \
     their cores. The question, and the first three ways, are those of a poster by J. Park, S. Park, \
     M. Han and W. Baek.";

/// A sentence on how much of their time cores are idle, by mode.
pub(super) fn breakdown(results: PackingResults<'_>, threads: usize, cores: usize) -> String {
    let config = results.config;
    let idle = |mode: &Mode| {
        let shares = config.programs(config.kinds[0]).into_iter().map(|load| {
            let account = program_account(results.of(&config.case(load, threads, cores, *mode))?);
            Some(account.idle / account.parts().iter().sum::<f64>())
        });
        let shares: Vec<f64> = shares.collect::<Option<_>>()?;
        Some((
            mode.name(),
            100.0 * shares.iter().sum::<f64>() / shares.len() as f64,
        ))
    };
    let all = config.modes.iter().filter_map(idle);
    let all: Vec<String> = all
        .map(|(name, percent)| format!("{name} {percent:.0}%"))
        .collect();
    each("Cores are idle for a part of their time", &all)
}

/// How much later than the ideal each mode is through.
pub(super) fn timeline(results: PackingResults<'_>) -> String {
    let config = results.config;
    let late = |mode: Mode| {
        let of = |load: Load| {
            let end = results.ideal_course(load)?.last()?.x;
            let runs = results.of(&config.course(load, mode))?;
            Some(runs.outcomes[0].passed_ns.last()? / 1e9 / end)
        };
        let all: Vec<f64> = config.timed().into_iter().map(of).collect::<Option<_>>()?;
        all.into_iter().max_by(f64::total_cmp)
    };
    let modes = config.modes.iter().filter(|mode| mode.follows());
    let all = modes.filter_map(|&mode| Some((mode.name(), late(mode)?)));
    let all: Vec<String> = all
        .map(|(name, late)| format!("{name} {:.1}%", 100.0 * (late - 1.0)))
        .collect();
    let what = "While cores come and go, a program takes longer than it must";
    each(&format!("{what}, at worst by"), &all)
}

/// The most that each mode loses, whatever the interval.
pub(super) fn sweep(results: PackingResults<'_>) -> String {
    let config = results.config;
    let threads = config.threads[0];
    let cores = config.swept_cores(threads);
    let loss = |mode: Mode| {
        let equal = config.swept().into_iter().filter(|load| load.skew() == 0);
        let stretch = equal.filter_map(|load| results.stretch(load, threads, cores, mode));
        stretch.max_by(f64::total_cmp)
    };
    let ideal = ideal(threads, cores, 1.0);
    let all = config.modes.iter().filter(|&&mode| mode != Mode::Tr);
    let all = all.filter_map(|&mode| Some((mode.name(), loss(mode)? / ideal)));
    let all: Vec<String> = all
        .map(|(name, loss)| format!("{name} {loss:.2} times"))
        .collect();
    let what =
        "With equal ranks, at the worst length of the work between two barriers, a mode takes";
    each(&format!("{what}, over the ideal"), &all)
}

/// A sentence of what holds of each mode; which says so if no mode is there that it holds of.
fn each(what: &str, modes: &[String]) -> String {
    match modes {
        [] => format!("{what}: no mode that was run tells"),
        _ => format!("{what}: {}", modes.join(", ")),
    }
}
