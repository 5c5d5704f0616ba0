//! The result of a run.

use serde::{Deserialize, Serialize};

/// The nanoseconds of each call by the program's own clock, or the reason why the run failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PeersSample {
    pub(super) reason: Option<String>,
    pub(super) first: Vec<u64>,
    pub(super) steady: Vec<u64>,
    pub(super) gap: Vec<u64>,
}
