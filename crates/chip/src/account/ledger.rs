//! Cycles by core and activity.

use super::{Activity, Breakdown, Cycles};

/// The accounts of all cores. A core's account stands at the cycle up to which
/// it is charged, which is the sum of its activities.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    accounts: Vec<Account>,
}

#[derive(Clone, Debug)]
struct Account {
    sums: Breakdown,
    last: Activity,
}

/// A core whose account does not end with the run: some of its cycles were
/// charged twice or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("core {core} accounts for {accounted} cycles of a run of {end}")]
pub(crate) struct Imbalance {
    pub(crate) core: usize,
    pub(crate) accounted: Cycles,
    pub(crate) end: Cycles,
}

impl Ledger {
    pub(crate) fn new(cores: usize) -> Self {
        let account = Account {
            sums: Breakdown::default(),
            last: Activity::Idle,
        };
        Self {
            accounts: vec![account; cores],
        }
    }

    /// Charges the next `cycles` of `core`.
    #[inline]
    pub(crate) fn add(&mut self, core: usize, activity: Activity, cycles: Cycles) {
        let account = &mut self.accounts[core];
        account.sums[activity] += cycles;
        account.last = activity;
    }

    /// Charges the cycles from `from`, where the account stands, to `to`.
    #[inline]
    pub(crate) fn charge(&mut self, core: usize, activity: Activity, from: Cycles, to: Cycles) {
        debug_assert_eq!(from, self.charged(core), "core {core}, {activity} to {to}");
        debug_assert!(from <= to, "core {core}, {activity} from {from} to {to}");
        self.add(core, activity, to - from);
    }

    /// Takes back what `core` was charged last, from `to` on: it was preempted
    /// before it had done that.
    pub(crate) fn rewind(&mut self, core: usize, to: Cycles) {
        let charged = self.charged(core);
        let account = &mut self.accounts[core];
        let last = &mut account.sums[account.last];
        debug_assert!(
            to <= charged && charged - to <= *last,
            "core {core} to {to} of {charged}"
        );
        *last -= charged - to;
    }

    /// The cycle at which the account of `core` stands.
    pub(crate) fn charged(&self, core: usize) -> Cycles {
        self.accounts[core].sums.sum()
    }

    /// Each core's cycles in a run that ended at `end`.
    pub(crate) fn finish(self, end: Cycles) -> Result<Vec<Breakdown>, Imbalance> {
        let cores: Vec<_> = self
            .accounts
            .into_iter()
            .map(|account| account.sums)
            .collect();
        match cores
            .iter()
            .map(Breakdown::sum)
            .enumerate()
            .find(|(_, sum)| *sum != end)
        {
            Some((core, accounted)) => Err(Imbalance {
                core,
                accounted,
                end,
            }),
            None => Ok(cores),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_preempted_computation_is_charged_as_far_as_it_got() {
        let mut ledger = Ledger::new(2);
        ledger.charge(0, Activity::L1, 0, 3);
        ledger.charge(0, Activity::Compute, 3, 1003);
        ledger.rewind(0, 503);
        ledger.charge(0, Activity::Switch, 503, 603);
        ledger.add(1, Activity::Idle, 603);
        let cores = ledger.finish(603).unwrap();
        let expected = [
            (Activity::Compute, 500),
            (Activity::L1, 3),
            (Activity::Switch, 100),
        ];
        assert!(
            cores[0]
                .iter()
                .filter(|(_, cycles)| *cycles > 0)
                .eq(expected)
        );
    }

    #[test]
    fn a_lost_cycle_is_an_error() {
        let mut ledger = Ledger::new(2);
        ledger.add(0, Activity::Compute, 10);
        ledger.add(1, Activity::Compute, 9);
        assert_eq!(
            ledger.finish(10),
            Err(Imbalance {
                core: 1,
                accounted: 9,
                end: 10
            })
        );
    }

    #[test]
    #[should_panic(expected = "core 0, spin to 12")]
    #[cfg(debug_assertions)]
    fn a_gap_is_found_where_it_happens() {
        let mut ledger = Ledger::new(1);
        ledger.charge(0, Activity::L1, 0, 3);
        ledger.charge(0, Activity::Spin, 4, 12);
    }

    proptest! {
        #[test]
        fn the_sums_are_the_run(
            steps in prop::collection::vec((0_usize..3, 0_usize..12, 0_u64..1000, 0_u64..1000), 0..200),
        ) {
            let mut ledger = Ledger::new(3);
            let mut now = [0; 3];
            for (core, activity, cycles, back) in steps {
                let to = now[core] + cycles;
                ledger.charge(core, Activity::ALL[activity], now[core], to);
                now[core] = to - back.min(cycles);
                ledger.rewind(core, now[core]);
                prop_assert_eq!(ledger.charged(core), now[core]);
            }
            let end = now.into_iter().max().unwrap();
            for (core, now) in now.into_iter().enumerate() {
                ledger.charge(core, Activity::Idle, now, end);
            }
            prop_assert!(ledger.finish(end).is_ok());
        }
    }
}
