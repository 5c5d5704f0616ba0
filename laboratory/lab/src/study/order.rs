//! Orders of events: seeds of a machine's perturbation (random delays). In a simulation the events of all threads have
//! one order. A delay of one cycle can cause another order (Alameldeen and Wood, HPCA 2003).

use super::chip::Chip;
use crate::failure::bad_input;
use manycore_chip::config::Config;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The machine's key for the seed.
pub(crate) const SEED: &str = "perturb-seed";

/// The longest delay is the time of an access to memory divided by this number, unless the user sets `perturb`.
/// Alameldeen and Wood add 0 to 4 ns to misses that take 80 ns.
///
/// Every access that leaves the private caches is late by half of this time on average, also one that hits in the last
/// cache or gets the line from another core. So such an access costs more under orders: on `milan-7r13x2`, whose last
/// cache answers after 46 cycles, 6.5 cycles more on average.
const PART: u64 = 20;

/// The bounds of the longest delay in cycles, unless the user sets `perturb`. With fewer cycles, seeds soon repeat the
/// same order. The machine accepts no more cycles.
const CYCLES: RangeInclusive<u64> = 4..=64;

/// The orders that a user requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Orders {
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Whether to stop as soon as the orders decide the findings.
    pub(crate) until: bool,
}

impl FromStr for Orders {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let most = text.strip_prefix("until:");
        let until = most.is_some();
        let (first, last) = match most {
            Some(most) => ("1", most),
            None => text.split_once('-').unwrap_or(("1", text)),
        };
        match (first.trim().parse(), last.trim().parse()) {
            (Ok(first), Ok(last)) if 1 <= first && first < last && last <= MOST => {
                Ok(Self { first, last, until })
            }
            _ => Err(format!(
                "expected N, from 2 to {MOST}; or A-B, such as 31-60, with A below B; or until:N"
            )),
        }
    }
}

/// The largest number of an order that a user may request.
const MOST: u64 = 10_000;

/// The most orders of a study that measures orders itself.
const MOST_OF_STUDY: u64 = 1_000;

/// The number of no order: the machine runs as it is described.
pub(super) const PLAIN: u64 = 0;

/// Writes the longest delay of orders into the machine, so that its description has it. Changes no order.
pub(super) fn resolve(chip: &mut Chip) {
    chip.0.perturb = Some(amount(&chip.0));
}

/// Returns `count` orders, or one order if the machine's `perturb` is 0 or the machine has a seed of its own.
pub(super) fn orders(chip: &Chip, count: u64) -> Vec<u64> {
    match amount(&chip.0) > 0 && chip.0.perturb_seed.is_none() {
        true => (1..=count).collect(),
        false => vec![PLAIN],
    }
}

/// The changes to a [resolved](resolve) machine that give it an order, as for `--set`. Empty for [`PLAIN`].
pub(super) fn settings(order: u64) -> Vec<String> {
    match order {
        PLAIN => Vec::new(),
        _ => vec![format!("{SEED}={order}")],
    }
}

/// The orders that a user requests of a study, or else the machine's one order. Resolves the machine's longest delay.
/// This host is no machine.
pub(super) fn requested(
    orders: Option<Orders>,
    chip: Option<&mut Chip>,
) -> anyhow::Result<Vec<u64>> {
    let Some(orders) = orders else {
        return Ok(vec![PLAIN]);
    };
    let chip = chip.ok_or_else(refused_here)?;
    required(&chip.0, orders.first)?;
    if orders.last - orders.first >= MOST_OF_STUDY {
        return Err(bad_input(format!(
            "--orders: more than {MOST_OF_STUDY} orders; expected fewer"
        )));
    }
    resolve(chip);
    Ok((orders.first..=orders.last).collect())
}

/// Returns the machine under an order. Returns it unchanged for [`PLAIN`], or if its `perturb` is 0.
pub(super) fn machine(chip: &Chip, order: u64) -> Chip {
    perturbed(chip, order)
        .filter(|_| order != PLAIN)
        .unwrap_or_else(|| chip.clone())
}

/// Returns the machine under an order, or `None` if its `perturb` is 0.
pub(crate) fn config(machine: &Config, order: u64) -> Option<Config> {
    perturbed(&Chip(machine.clone()), order).map(|chip| chip.0)
}

/// The error of `--orders` on this host.
pub(crate) fn refused_here() -> anyhow::Error {
    bad_input(
        "--orders: only a simulated run can be repeated under another order; expected a simulated \
         machine, --on PRESET",
    )
}

/// As [`config`], for a user's orders. Fails if all orders would be the same.
pub(crate) fn required(machine: &Config, order: u64) -> anyhow::Result<Config> {
    config(machine, order).ok_or_else(|| {
        bad_input(
            "--orders: the machine's perturb is 0; expected --set perturb=1 to 64, or no \
             --set perturb",
        )
    })
}

/// Returns the machine with a seed, or `None` if its `perturb` is 0.
fn perturbed(chip: &Chip, order: u64) -> Option<Chip> {
    let mut chip = chip.clone();
    let amount = amount(&chip.0);
    chip.0.perturb = Some(amount);
    chip.0.perturb_seed = Some(order);
    (amount > 0).then_some(chip)
}

/// The longest delay under an order, in cycles.
pub(crate) fn amount(machine: &Config) -> u64 {
    let part = machine.memory.latency / PART;
    (machine.perturb).unwrap_or_else(|| part.clamp(*CYCLES.start(), *CYCLES.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_delay_is_a_part_of_the_memory_latency() {
        for (latency, expected) in [(67, 4), (100, 5), (271, 13), (100_000, 64)] {
            let mut machine = Config::preset("atac-64").unwrap();
            machine.memory.latency = latency;
            assert_eq!(config(&machine, 7).unwrap().perturb, Some(expected));
            // A journal's key has the resolved delay, and the order is the same.
            let mut resolved = Chip(machine.clone());
            resolve(&mut resolved);
            assert_eq!(resolved.0.perturb, Some(expected));
            assert_eq!(config(&resolved.0, 7), config(&machine, 7));
            machine.perturb = Some(2);
            assert_eq!(config(&machine, 7).unwrap().perturb, Some(2));
            machine.perturb = Some(0);
            assert!(config(&machine, 7).is_none());
        }
    }

    #[test]
    fn orders_are_a_number_or_a_range() {
        let parsed = |text: &str| {
            text.parse::<Orders>()
                .map(|orders| (orders.first, orders.last))
        };
        assert_eq!(parsed("30"), Ok((1, 30)));
        assert_eq!(parsed("31-60"), Ok((31, 60)));
        assert_eq!(parsed("until:9"), Ok((1, 9)));
        assert!("until:9".parse::<Orders>().unwrap().until);
        for wrong in [
            "", "1", "0-3", "5-5", "6-5", "x", "2-20000", "-3", "until:1", "until:",
        ] {
            assert!(parsed(wrong).unwrap_err().contains("expected N"), "{wrong}");
        }
    }
}
