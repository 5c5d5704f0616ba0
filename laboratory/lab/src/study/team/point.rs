//! Points (runs of a team), and their results.

use super::program::TeamProgram;
use super::run::WARM;
use crate::measure::statistics::Spread;
use crate::study::trial::Runs;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A team on a machine, with its barrier and program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::study) struct TeamPoint {
    /// The machine's index in the study's list.
    pub(in crate::study) machine: usize,
    /// Changes to that machine, as for `--set`.
    pub(in crate::study) settings: Vec<String>,
    /// Members. In native runs there may be more members than CPUs.
    pub(in crate::study) cores: usize,
    pub(in crate::study) barrier: String,
    pub(in crate::study) program: TeamProgram,
}

/// The result of one run, in cycles or ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::study) struct TeamSample {
    /// The time from the last member's start to the last member's end.
    pub(in crate::study) total: f64,
    pub(in crate::study) episodes: usize,
    /// The times from the last arrival to the last departure, of all episodes (waits of the team).
    pub(in crate::study) exit: Spread,
    /// Messages that a broadcast network carried to receivers.
    pub(in crate::study) messages: u64,
    /// A fingerprint of the program's verified answer, if it has one.
    pub(in crate::study) output: Option<String>,
}

/// All runs of a point.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::study) struct PointSummary {
    pub(in crate::study) point: TeamPoint,
    pub(in crate::study) runs: usize,
    pub(in crate::study) total: Spread,
    /// The total of each run.
    pub(in crate::study) totals: Vec<f64>,
    pub(in crate::study) episodes: usize,
    /// As in a sample. Each percentile is a median over runs.
    pub(in crate::study) exit: Spread,
    pub(in crate::study) messages: u64,
    pub(in crate::study) output: Option<String>,
}

impl PointSummary {
    /// There must be at least one run.
    pub(super) fn of(runs: &Runs<TeamPoint>) -> Self {
        let first = &runs.outcomes[0];
        Self {
            point: runs.trial.clone(),
            runs: runs.outcomes.len(),
            total: runs.spread(|run| run.total),
            totals: runs.samples(|run| run.total),
            episodes: first.episodes,
            exit: Spread {
                p10: runs.median(|run| run.exit.p10),
                median: runs.median(|run| run.exit.median),
                p90: runs.median(|run| run.exit.p90),
            },
            messages: first.messages,
            output: first.output.clone(),
        }
    }

    pub(in crate::study) fn an_episode(&self) -> f64 {
        self.total.median / self.episodes as f64
    }

    /// The time of a wait with its percentiles.
    pub(in crate::study) fn a_wait(&self) -> Spread {
        self.total.map(|total| total / self.episodes as f64)
    }

    /// Messages of an episode. A wait of the warm-up sends as many.
    pub(in crate::study) fn messages_an_episode(&self) -> f64 {
        self.messages as f64 / (self.episodes + WARM) as f64
    }

    /// Whether the point's barrier used a broadcast network.
    pub(in crate::study) fn broadcasts(&self) -> bool {
        self.messages > 0
    }
}

impl fmt::Display for TeamPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            machine,
            settings,
            cores,
            barrier,
            program,
        } = self;
        write!(f, "{program}, {cores} cores, {barrier}")?;
        if *machine > 0 {
            write!(f, ", machine {machine}")?;
        }
        for setting in settings {
            write!(f, ", {setting}")?;
        }
        Ok(())
    }
}
