//! How long a worker naps that keeps its permit while it waits (`run_others.rs`).

use crate::times::{FIRST_NAP, LONGEST_NAP};
use std::time::Duration;

/// The naps of one wait: each in vain is twice as long as the one before.
pub(super) struct Naps(Duration);

impl Naps {
    pub(super) fn new() -> Self {
        Self(FIRST_NAP)
    }

    /// How long the next nap is.
    pub(super) fn next(&mut self) -> Duration {
        let next = self.0;
        self.0 = (2 * next).min(LONGEST_NAP);
        next
    }
}
