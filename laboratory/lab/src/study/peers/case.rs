//! One run of one binary.

use super::guest;
use super::order::PLAIN;
use crate::study::trial::{Machines, Trial};
use anyhow::bail;
use manycore::topology::Topology;
use serde::{Deserialize, Serialize};
use std::fmt;

/// All that decides it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PeersCase {
    /// The machine's number, and its name.
    pub(super) machine: usize,
    pub(super) on: String,
    pub(super) threads: usize,
    pub(super) program: String,
    pub(super) peer: String,
    pub(super) order: u64,
    pub(super) folder: String,
    pub(super) root: String,
    pub(super) steady: usize,
    pub(super) gaps: usize,
    pub(super) limit_ms: u64,
}

/// What came of it: nanoseconds of each call by the program's own clock, or why there are none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PeersSample {
    pub(super) reason: Option<String>,
    pub(super) first: Vec<u64>,
    pub(super) steady: Vec<u64>,
    pub(super) gap: Vec<u64>,
}

impl Trial for PeersCase {
    type Sample = PeersSample;

    fn cores(&self) -> usize {
        self.threads
    }

    fn simulate(&self, machines: &Machines) -> anyhow::Result<(PeersSample, u64)> {
        Ok(guest::run(self, machines))
    }

    fn run_here(&self, _topology: &Topology, _pinned: bool) -> anyhow::Result<PeersSample> {
        bail!("the binaries are for RISC-V")
    }
}

impl fmt::Display for PeersCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (on, program, peer, threads) = (&self.on, &self.program, &self.peer, self.threads);
        write!(f, "{on}, {program}, {peer}, {threads} threads")?;
        match self.order {
            PLAIN => Ok(()),
            order => write!(f, ", order {order}"),
        }
    }
}
