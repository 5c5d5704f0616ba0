//! Queue models: compute how long a message waits for a shared port.
//!
//! The simulator handles messages slightly out of the order of time, so it cannot use a real queue: the message that it
//! handles first may arrive second. These models were first used in Graphite (Miller et al., HPCA 2010). They answer at
//! once, and the answers are final. [`HistoryList`] and [`HistoryTree`] keep the times when the port is free. So a
//! message that arrives early but is handled late gets the time that was free at its arrival.

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
    /// Cycles that a message arriving at `arrival` waits before its service of `service` cycles
    /// begins. The service is reserved: no later call gets the same cycles.
    fn delay(&mut self, arrival: Cycles, service: Cycles) -> Cycles;
}
