//! The programs, by name.

use super::barrier_loop::{Arrivals, BarrierLoop};
use super::kernel;
use manycore_platform::Platform;
use manycore_programs::spmd::StreamclusterInput;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::study) enum TeamProgram {
    /// The loop of the thesis (Park 2013). It only waits.
    Loop {
        episodes: usize,
        arrivals: Arrivals,
    },
    Streamcluster {
        input: StreamclusterInput,
    },
}

pub(super) trait Spmd: Send + Sync {
    /// Runs the part of `rank` (a member of the team). `wait` is the team's barrier.
    fn run(&self, rank: usize, wait: &mut dyn FnMut());

    /// Verifies the answer after all ranks, and returns its fingerprint, if there is one.
    fn answer(&self) -> anyhow::Result<Option<String>>;
}

impl TeamProgram {
    /// The program for `ranks` on cores that take `cpi` cycles for each instruction.
    pub(super) fn prepare<P: Platform>(
        self,
        ranks: usize,
        cpi: f64,
    ) -> anyhow::Result<Box<dyn Spmd>> {
        match self {
            Self::Loop { episodes, arrivals } => Ok(Box::new(BarrierLoop::<P>::new(
                episodes, arrivals, ranks, cpi,
            ))),
            Self::Streamcluster { input } => kernel::streamcluster::<P>(input, ranks),
        }
    }
}

impl fmt::Display for TeamProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loop { episodes, arrivals } => write!(f, "{episodes} waits {arrivals}"),
            Self::Streamcluster { input } => write!(f, "streamcluster {input}"),
        }
    }
}
