//! What was measured, to be asked.

use super::account::Account;
use super::case::Case;
use super::config::Config;
use super::load::Load;
use super::mode::Mode;
use crate::measure::statistics::{Spread, geometric_mean, median};
use crate::study::trial::{Measured, Runs};

/// The study's numbers.
#[derive(Clone, Copy)]
pub(super) struct Results<'a> {
    pub(super) config: &'a Config,
    pub(super) measured: &'a Measured<Case>,
}

impl<'a> Results<'a> {
    /// A case's runs.
    pub(super) fn of(self, case: &Case) -> Option<&'a Runs<Case>> {
        self.measured.0.iter().find(|runs| runs.trial == *case)
    }

    /// What a program took, in ns.
    pub(super) fn time(self, load: Load, threads: usize, cores: usize, mode: Mode) -> Option<f64> {
        let case = self.config.case(load, threads, cores, mode);
        self.of(&case).map(|runs| time(runs).median)
    }

    /// The poster's figure 1: the time of thread reduction over that of a mode; less
    /// than 1 if the mode is slower.
    pub(super) fn ratio(self, load: Load, threads: usize, cores: usize, mode: Mode) -> Option<f64> {
        let time = |mode| self.time(load, threads, cores, mode);
        Some(time(Mode::Tr)? / time(mode)?)
    }

    /// The same of any case.
    pub(super) fn against_reduction(self, case: &Case) -> Option<f64> {
        let reduced = Case {
            mode: Mode::Tr,
            ..case.clone()
        };
        Some(time(self.of(&reduced)?).median / time(self.of(case)?).median)
    }

    /// Of all programs.
    pub(super) fn mean_ratio(self, threads: usize, cores: usize, mode: Mode) -> Option<f64> {
        let ratio = |load| self.ratio(load, threads, cores, mode);
        let ratios: Option<Vec<f64>> = self.config.programs().into_iter().map(ratio).collect();
        ratios
            .filter(|ratios| !ratios.is_empty())
            .map(geometric_mean)
    }
}

/// Of all runs of a case, in ns.
pub(super) fn time(runs: &Runs<Case>) -> Spread {
    let all: Vec<f64> = runs
        .outcomes
        .iter()
        .map(|outcome| outcome.time_ns)
        .collect();
    Spread::of(&all)
}

/// Medians of its parts.
pub(super) fn account(runs: &Runs<Case>) -> Account {
    let middle =
        |of: fn(&Account) -> f64| median(runs.outcomes.iter().map(|outcome| of(&outcome.account)));
    Account {
        user: middle(|account| account.user),
        system: middle(|account| account.system),
        idle: middle(|account| account.idle),
        io: middle(|account| account.io),
    }
}
