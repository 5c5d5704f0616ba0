//! The length of the naps of a waiting worker that keeps its permit, the right to run jobs (`run_others.rs`).

use crate::times::{FIRST_NAP, LONGEST_NAP};
use std::time::Duration;

/// The naps of one wait: each is twice as long as the nap before, up to a limit.
pub(super) struct Naps(Duration);

impl Naps {
    pub(super) fn new() -> Self {
        Self(FIRST_NAP)
    }

    /// The length of the next nap.
    pub(super) fn next(&mut self) -> Duration {
        let next = self.0;
        self.0 = (2 * next).min(LONGEST_NAP);
        next
    }
}
