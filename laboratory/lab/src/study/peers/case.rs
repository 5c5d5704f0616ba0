//! A case: one run of one peer's binary.

use crate::study::order::PLAIN;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Everything that decides the run's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PeersCase {
    /// The machine's number. Its name is `on`.
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
