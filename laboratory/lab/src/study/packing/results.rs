//! The measurements, and values computed from them.

use super::account::Account;
use super::case::{PackingCase, PackingSample};
use super::config::PackingConfig;
use super::load::{Kind, Load};
use super::mode::Mode;
use super::variation::Variation;
use crate::measure::statistics::geometric_mean;
use crate::study::trial::{Results, Runs};
use manycore_figure::Point;

pub(super) type PackingResults<'a> = Results<'a, PackingConfig>;

impl PackingResults<'_> {
    fn time(self, load: Load, threads: usize, cores: usize, mode: Mode) -> Option<f64> {
        let case = self.config.case(load, threads, cores, mode);
        self.of(&case).map(program_ns)
    }

    /// The mean time between two barriers of a program, in ns.
    pub(super) fn interval_ns(
        self,
        load: Load,
        threads: usize,
        cores: usize,
        mode: Mode,
    ) -> Option<f64> {
        let runs = self.of(&self.config.case(load, threads, cores, mode))?;
        Some(interval_ns(runs))
    }

    /// In a sweep, the mean time between two barriers divided by the time that a rank (thread) computes between them.
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

    /// The time of thread reduction divided by the time of a mode, as in figure 1 of the poster (`mod.rs` names it).
    /// Less than 1 if the mode is slower.
    pub(super) fn ratio(self, load: Load, threads: usize, cores: usize, mode: Mode) -> Option<f64> {
        let time = |mode| self.time(load, threads, cores, mode);
        Some(time(Mode::Tr)? / time(mode)?)
    }

    /// The mean of [`ratio`](Self::ratio) over all programs, counting only steps.
    pub(super) fn mean_ratio_of_steps(
        self,
        kind: Kind,
        threads: usize,
        cores: usize,
        mode: Mode,
    ) -> Option<f64> {
        let steps = |load, mode| {
            let runs = self.of(&self.config.case(load, threads, cores, mode))?;
            Some(program_ns(runs) - prelude_ns(runs))
        };
        let ratio = |load| Some(steps(load, Mode::Tr)? / steps(load, mode)?);
        mean(self.config.programs(kind).into_iter().map(ratio))
    }

    /// Whether a case, or thread reduction on equally many cores, is not steady.
    pub(super) fn is_unsteady(self, case: &PackingCase) -> bool {
        let of = |case: &PackingCase| {
            let runs = self.of(case).into_iter().flat_map(|runs| &runs.outcomes);
            runs.into_iter().any(PackingSample::is_unsteady)
        };
        of(case) || of(&reduced(case))
    }

    /// The mean ratio of thread packing over `loads`, under other settings of the operating system.
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
        mean(loads.iter().map(ratio))
    }

    /// The time of thread reduction divided by the time of the case.
    pub(super) fn against_reduction(self, case: &PackingCase) -> Option<f64> {
        Some(program_ns(self.of(&reduced(case))?) / program_ns(self.of(case)?))
    }

    /// The barriers that a program on changing cores would pass if no core were ever idle, as the corners of a line.
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

    /// The mean of [`ratio`](Self::ratio) over all programs of a kind.
    pub(super) fn mean_ratio(
        self,
        kind: Kind,
        threads: usize,
        cores: usize,
        mode: Mode,
    ) -> Option<f64> {
        let ratio = |load| self.ratio(load, threads, cores, mode);
        mean(self.config.programs(kind).into_iter().map(ratio))
    }
}

/// The geometric mean of ratios, if there are ratios and each is known.
pub(super) fn mean(ratios: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let ratios: Vec<f64> = ratios.collect::<Option<_>>()?;
    (!ratios.is_empty()).then(|| geometric_mean(ratios))
}

/// The same case under thread reduction.
fn reduced(case: &PackingCase) -> PackingCase {
    PackingCase {
        mode: Mode::Tr,
        ..case.clone()
    }
}

/// The mean time between two barriers, in ns.
pub(super) fn interval_ns(runs: &Runs<PackingCase>) -> f64 {
    runs.median(PackingSample::interval_ns)
}

/// The time of a program, in ns: before its steps, of the steps in which it settles, and of all other steps at their
/// mean time. For a load of intervals, the time of one interval.
pub(super) fn program_ns(runs: &Runs<PackingCase>) -> f64 {
    match runs.trial.load {
        Load::Declared { .. } => {
            prelude_ns(runs) + settling_ns(runs) + settled_barriers(runs) * interval_ns(runs)
        }
        Load::Real { .. } => runs.median(|run| run.time_ns),
        Load::Interval { .. } | Load::Sweep { .. } => interval_ns(runs),
    }
}

/// The time before a program's first step, in ns.
pub(super) fn prelude_ns(runs: &Runs<PackingCase>) -> f64 {
    runs.median(|run| run.prelude_ns)
}

/// The time of the uncounted steps, in ns.
pub(super) fn settling_ns(runs: &Runs<PackingCase>) -> f64 {
    runs.median(|run| run.settling_ns)
}

/// The number of barriers of a program after it has settled.
fn settled_barriers(runs: &Runs<PackingCase>) -> f64 {
    let all = runs.trial.program_barriers().unwrap_or(1);
    all.saturating_sub(runs.outcomes[0].skipped) as f64
}

/// The account (how the cores spent their time) during [`program_ns`].
pub(super) fn program_account(runs: &Runs<PackingCase>) -> Account {
    let counted = runs.outcomes[0].barriers as f64;
    let steps = match runs.trial.load {
        Load::Declared { .. } => settled_barriers(runs) / counted,
        Load::Real { .. } => 1.0,
        Load::Interval { .. } | Load::Sweep { .. } => 1.0 / counted,
    };
    let before = prelude(runs).times_plus(1.0, &settling(runs));
    account(runs).times_plus(steps, &before)
}

/// The median account of the counted part.
pub(super) fn account(runs: &Runs<PackingCase>) -> Account {
    middle(runs, |outcome| &outcome.account)
}

/// The median account before the first step.
pub(super) fn prelude(runs: &Runs<PackingCase>) -> Account {
    middle(runs, |outcome| &outcome.prelude)
}

/// The median account of the steps that do not count.
fn settling(runs: &Runs<PackingCase>) -> Account {
    middle(runs, |outcome| &outcome.settling)
}

fn middle(runs: &Runs<PackingCase>, of: fn(&PackingSample) -> &Account) -> Account {
    let part = |part: fn(&Account) -> f64| runs.median(|run| part(of(run)));
    Account {
        user: part(|account| account.user),
        system: part(|account| account.system),
        idle: part(|account| account.idle),
        io: part(|account| account.io),
    }
}
