//! One run of a compiled program, and all that decides its result.

use super::way::Way;
use crate::study::spawn::{Ended, Run};
use crate::study::trial::{Machines, Trial};
use manycore::topology::Topology;
use regex_lite::Regex;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::study::packing) struct BinaryCase {
    pub(super) program: PathBuf,
    /// The number of threads that the user requested.
    pub(super) threads: usize,
    pub(super) cores: usize,
    pub(super) way: Way,
    /// A regular expression for the output of a right result.
    pub(super) says: String,
    /// The time limit in seconds.
    pub(super) limit: u64,
}

/// The judgement of the program's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::study::packing) enum Verdict {
    /// The program said that its result is right.
    Right,
    /// The program ended with status 0, but did not say this.
    Wrong,
    /// The program ended with another status, or by a signal.
    Failed,
    TimedOut,
    /// The program did not use the preloaded library.
    NotUsed,
}

impl Verdict {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "not verified",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
            Self::NotUsed => "library not used",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::study::packing) struct BinarySample {
    pub(super) seconds: f64,
    /// Processor time of all threads.
    pub(super) user: f64,
    pub(super) system: f64,
    pub(super) verdict: Verdict,
}

impl BinaryCase {
    pub(super) fn name(&self) -> String {
        let name = self.program.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    fn verdict(&self, ended: &Ended, says: &Regex) -> Verdict {
        let sign = self.way.sign();
        if ended.timed_out {
            Verdict::TimedOut
        } else if sign.is_some_and(|sign| !ended.output.contains(sign)) {
            Verdict::NotUsed
        } else if !ended.succeeded {
            Verdict::Failed
        } else if says.is_match(&ended.output) {
            Verdict::Right
        } else {
            Verdict::Wrong
        }
    }
}

impl Trial for BinaryCase {
    type Sample = BinarySample;

    fn cores(&self) -> usize {
        self.cores
    }

    fn simulate(&self, _: &Machines) -> anyhow::Result<(BinarySample, u64)> {
        anyhow::bail!("a compiled program cannot be simulated")
    }

    fn run_here(&self, topology: &Topology, _: bool) -> anyhow::Result<BinarySample> {
        let cpus = &topology.compact_order()[..self.cores];
        let mut variables = self.way.variables(cpus);
        let threads = self.way.threads(self.threads, self.cores);
        variables.push(("OMP_NUM_THREADS", threads.to_string()));
        let ended = Run {
            program: &self.program,
            arguments: &[],
            variables: &variables,
            cpus,
            limit: Duration::from_secs(self.limit),
        }
        .to_its_end()?;
        Ok(BinarySample {
            verdict: self.verdict(&ended, &Regex::new(&self.says)?),
            seconds: ended.seconds,
            user: ended.user,
            system: ended.system,
        })
    }
}

impl fmt::Display for BinaryCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, threads, cores, way) = (self.name(), self.threads, self.cores, &self.way);
        write!(f, "{name}, {threads} threads on {cores} cores, {way}")
    }
}
