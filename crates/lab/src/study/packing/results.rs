//! What was measured, to be asked.

use super::account::Account;
use super::case::PackingCase;
use super::config::PackingConfig;
use super::load::{Kind, Load};
use super::mode::Mode;
use super::variation::Variation;
use crate::measure::statistics::{Spread, geometric_mean, median};
use crate::report::figure::Point;
use crate::study::trial::{MeasuredTrials, Runs};

/// The study's numbers.
#[derive(Clone, Copy)]
pub(super) struct PackingResults<'a> {
    pub(super) config: &'a PackingConfig,
    pub(super) measured: &'a MeasuredTrials<PackingCase>,
}

impl<'a> PackingResults<'a> {
    /// A case's runs.
    pub(super) fn of(self, case: &PackingCase) -> Option<&'a Runs<PackingCase>> {
        self.measured.0.iter().find(|runs| runs.trial == *case)
    }

    /// What a program took, in ns.
    pub(super) fn time(self, load: Load, threads: usize, cores: usize, mode: Mode) -> Option<f64> {
        let case = self.config.case(load, threads, cores, mode);
        self.of(&case).map(|runs| time(runs).median)
    }

    /// The mean time between two of its barriers, in ns.
    pub(super) fn interval_ns(
        self,
        load: Load,
        threads: usize,
        cores: usize,
        mode: Mode,
    ) -> Option<f64> {
        let runs = self.of(&self.config.case(load, threads, cores, mode))?;
        Some(time(runs).median / runs.outcomes[0].barriers as f64)
    }

    /// That over what a rank of a sweep computes in it.
    pub(super) fn stretch(
        self,
        load: Load,
        threads: usize,
        cores: usize,
        mode: Mode,
    ) -> Option<f64> {
        let work = load.interval_ns()?;
        Some(self.interval_ns(load, threads, cores, mode)? / work)
    }

    /// The poster's figure 1: the time of thread reduction over that of a mode; less
    /// than 1 if the mode is slower.
    pub(super) fn ratio(self, load: Load, threads: usize, cores: usize, mode: Mode) -> Option<f64> {
        let time = |mode| self.time(load, threads, cores, mode);
        Some(time(Mode::Tr)? / time(mode)?)
    }

    /// The same under other settings of the operating system; and of all programs.
    pub(super) fn varied_ratio(
        self,
        loads: &[Load],
        threads: usize,
        variation: &Variation,
    ) -> Option<f64> {
        let ratio = |&load| {
            let case = self.config.varied(load, threads, Mode::Tp, variation);
            self.against_reduction(&case)
        };
        let ratios: Option<Vec<f64>> = loads.iter().map(ratio).collect();
        ratios
            .filter(|ratios| !ratios.is_empty())
            .map(geometric_mean)
    }

    /// The same of any case.
    pub(super) fn against_reduction(self, case: &PackingCase) -> Option<f64> {
        let reduced = PackingCase {
            mode: Mode::Tr,
            ..case.clone()
        };
        Some(time(self.of(&reduced)?).median / time(self.of(case)?).median)
    }

    /// Barriers that a program whose cores change would pass if none were ever idle: where
    /// the line bends.
    pub(super) fn ideal_course(self, load: Load) -> Option<Vec<Point>> {
        let case = self.config.course(load, Mode::Tp);
        let work = load.interval_ns()? * case.threads as f64;
        let (mut points, mut passed) = (Vec::new(), 0.0);
        let ends = case.turns[1..].iter().map(|turn| turn.at_ns);
        let last = case.turns.last()?;
        let length = last.at_ns / (case.turns.len() as u64 - 1);
        for (turn, end) in case.turns.iter().zip(ends.chain([last.at_ns + length])) {
            points.push((turn.at_ns, passed));
            passed += (end - turn.at_ns) as f64 * turn.cores as f64 / work;
        }
        points.push((last.at_ns + length, passed));
        let point = |(at, y): (u64, f64)| Point::exact(at as f64 / 1e9, y);
        Some(points.into_iter().map(point).collect())
    }

    /// The mean of all programs of a kind.
    pub(super) fn mean_ratio(
        self,
        kind: Kind,
        threads: usize,
        cores: usize,
        mode: Mode,
    ) -> Option<f64> {
        let ratio = |load| self.ratio(load, threads, cores, mode);
        let ratios: Option<Vec<f64>> = self.config.programs(kind).into_iter().map(ratio).collect();
        ratios
            .filter(|ratios| !ratios.is_empty())
            .map(geometric_mean)
    }
}

/// The time of all runs of a case, in ns.
pub(super) fn time(runs: &Runs<PackingCase>) -> Spread {
    let all: Vec<f64> = runs
        .outcomes
        .iter()
        .map(|outcome| outcome.time_ns)
        .collect();
    Spread::of(&all)
}

/// Medians of its parts.
pub(super) fn account(runs: &Runs<PackingCase>) -> Account {
    let middle =
        |of: fn(&Account) -> f64| median(runs.outcomes.iter().map(|outcome| of(&outcome.account)));
    Account {
        user: middle(|account| account.user),
        system: middle(|account| account.system),
        idle: middle(|account| account.idle),
        io: middle(|account| account.io),
    }
}
