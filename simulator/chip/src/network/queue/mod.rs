//! Queue models: how long a message waits for a port that others use too.
//!
//! A simulator that meets messages slightly out of time order cannot keep a
//! real queue: the message it sees first may arrive second. These models,
//! first used in Graphite (Miller et al., HPCA 2010), answer at once and for
//! good. [`HistoryList`] and [`HistoryTree`] remember when the port is free
//! and so let a late-seen early message use time that it would have had.

mod history;
mod load;
#[cfg(test)]
mod tests;

pub use history::{HistoryList, HistoryTree};

use super::Cycles;

/// A port that serves one message at a time.
///
/// ```
/// use manycore_chip::network::queue::{HistoryTree, QueueModel};
///
/// let mut port = HistoryTree::new(1);
/// assert_eq!(port.delay(100, 10), 0); // serves 100..110
/// assert_eq!(port.delay(105, 10), 5); // waits until 110
/// assert_eq!(port.delay(20, 10), 0); // seen late, but the port was free
/// ```
pub trait QueueModel {
    /// Cycles that a message arriving at `arrival` waits before its service of
    /// `service` cycles begins. The service is granted: no later call gets the
    /// same cycles.
    fn delay(&mut self, arrival: Cycles, service: Cycles) -> Cycles;
}
