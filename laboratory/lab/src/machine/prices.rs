//! The cost model's inputs about a machine.

use super::MachineReport;
use super::simulated::{Operation, SimulatedReport, State};
use manycore::topology::Distance;
use manycore_chip::config::Config;
use manycore_platform::{Native, Platform};
use manycore_programs::cost::Prices;
use manycore_programs::{Folding, Load, TaskSize, UnitTask};
use serde::{Deserialize, Serialize};

/// Instructions of the unit task (`manycore_programs::UnitTask`) for each byte that it reads, as in the native kernel:
/// a load, a folded addition, a store, and three instructions of two loops.
pub(crate) const INSTRUCTIONS_A_BYTE: u64 = 6;

/// Prices in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MachinePrices {
    /// A fetch-and-add on a cache line that the core already has.
    pub(crate) claim_ns: f64,
    /// A fetch-and-add on a line that another core of the group has written. For this host it is the time from that
    /// write until this core reads the value.
    pub(crate) handoff_ns: f64,
    /// The same between the two groups that are farthest from each other. With one group, the same as the hand-off.
    pub(crate) crossing_ns: f64,
    /// How much later than the caller a spinning worker arrives at a loop: the time of a loop on two threads of
    /// manycore's pool, minus its work.
    pub(crate) launch_ns: f64,
    /// The time from the call that wakes a sleeping thread to the thread's first instruction.
    pub(crate) wake_ns: f64,
    /// The unit task's time for each byte that it reads.
    pub(crate) byte_ns: f64,
}

impl MachinePrices {
    /// Each price with its name.
    pub(crate) fn named(&self) -> [(&'static str, f64); 6] {
        [
            ("claim_ns", self.claim_ns),
            ("handoff_ns", self.handoff_ns),
            ("crossing_ns", self.crossing_ns),
            ("launch_ns", self.launch_ns),
            ("wake_ns", self.wake_ns),
            ("byte_ns", self.byte_ns),
        ]
    }

    /// The prices for manycore's pool. Its workers spin for the next loop.
    pub(crate) fn of_pool(&self) -> Prices {
        Prices {
            claim_ns: self.claim_ns,
            handoff_ns: self.handoff_ns,
            crossing_ns: self.crossing_ns,
            launch_ns: self.launch_ns,
        }
    }

    /// The geometric mean of each price.
    pub(crate) fn geometric_mean<'a>(all: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let mean = |price: fn(&Self) -> f64| {
            let logs = all.clone().map(|prices| price(prices).ln());
            (logs.sum::<f64>() / all.clone().count() as f64).exp()
        };
        Self {
            claim_ns: mean(|prices| prices.claim_ns),
            handoff_ns: mean(|prices| prices.handoff_ns),
            crossing_ns: mean(|prices| prices.crossing_ns),
            launch_ns: mean(|prices| prices.launch_ns),
            wake_ns: mean(|prices| prices.wake_ns),
            byte_ns: mean(|prices| prices.byte_ns),
        }
    }

    /// This host's prices, if `report` has them all. The price of a handover is the tenth percentile, since an
    /// interrupted handover takes a thousand times as long, and nothing makes a handover too short.
    pub(super) fn of_host(report: &MachineReport) -> Option<Self> {
        let handover = |distances: &[Distance]| {
            let mut found = report.distances.iter();
            let found = found.rfind(|cost| distances.contains(&cost.distance));
            found.map(|cost| cost.handover_ns.p10)
        };
        let near = handover(&[Distance::SameGroup]);
        let far = handover(&[Distance::SamePackage, Distance::OtherPackage]);
        let handoff_ns = near.or(handover(&[Distance::SmtSibling])).or(far)?;
        let launch = report.costs.launch_hot_ns.iter().find(|at| at.threads == 2);
        Some(Self {
            claim_ns: report.costs.faa_ns?,
            handoff_ns,
            crossing_ns: far.unwrap_or(handoff_ns),
            launch_ns: launch?.ns.max(1.0),
            wake_ns: report.costs.wake_ns?,
            byte_ns: byte_here(report.rounds)?,
        })
    }

    /// The prices of a simulated machine. `None` if it has one core.
    pub(super) fn of_simulated(config: &Config, report: &SimulatedReport) -> Option<Self> {
        let counted = report
            .contended
            .iter()
            .find(|cost| (cost.operation, cost.threads) == (Operation::Faa, 1));
        // The nearest cores come first.
        let mut moved = report.latencies.iter().filter(|cost| {
            (cost.operation, cost.state) == (Operation::Faa, State::M)
                && cost.distance != "same core"
        });
        let ns = |cycles: f64| cycles / config.ghz;
        let handoff_ns = ns(moved.next()?.cycles.simulated);
        let launch = report.launches.iter().find(|cost| cost.threads == 2);
        Some(Self {
            claim_ns: counted?.ns.simulated,
            handoff_ns,
            crossing_ns: moved
                .next_back()
                .map_or(handoff_ns, |cost| ns(cost.cycles.simulated)),
            launch_ns: launch?.ns,
            wake_ns: report.wakes.first()?.ns,
            byte_ns: ns(INSTRUCTIONS_A_BYTE as f64 * config.core.cpi),
        })
    }
}

/// The unit task's time for a byte on this host, the median of `rounds`.
fn byte_here(rounds: usize) -> Option<f64> {
    const ITERATIONS: usize = 64;
    const BYTES: usize = 1024;
    let size = TaskSize {
        read: BYTES,
        write: BYTES,
        comp: BYTES as u64,
    };
    let task = UnitTask::new(ITERATIONS, size, Folding::Folded, 1).ok()?;
    let run = || {
        let start = Native::now();
        (0..ITERATIONS).for_each(|index| task.run::<Native>(index));
        Native::ticks_to_ns(Native::now().saturating_sub(start))
    };
    run(); // For warmth.
    let samples: Vec<f64> = (0..rounds).map(|_| run()).collect();
    let median = super::summary::Summary::of(samples)?.median;
    Some(median / (ITERATIONS * BYTES) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_prices_is_geometric() {
        let cheap = MachinePrices {
            claim_ns: 1.0,
            handoff_ns: 2.0,
            crossing_ns: 3.0,
            launch_ns: 4.0,
            wake_ns: 5.0,
            byte_ns: 6.0,
        };
        let dear = MachinePrices {
            claim_ns: 4.0,
            ..cheap
        };
        let mean = MachinePrices::geometric_mean([cheap, dear].iter());
        assert!((mean.claim_ns - 2.0).abs() < 1e-12);
        assert!((mean.byte_ns - 6.0).abs() < 1e-12);
    }

    #[test]
    fn a_byte_takes_time() {
        // The range is wide, since this test runs side by side with others and without optimisation.
        assert!((0.01..10_000.0).contains(&byte_here(3).unwrap()));
    }
}
