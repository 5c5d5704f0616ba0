//! Orders of events: seeds of a machine's perturbation (random delays). In a simulation the events of all threads have
//! one order. A delay of one cycle can cause another order (Alameldeen and Wood, HPCA 2003).

use super::chip::Chip;
use crate::failure::bad_input;
use manycore_chip::config::Config;
use std::str::FromStr;

/// The machine's key for the seed. A machine without this key has one order.
pub(crate) const SEED: &str = "perturb-seed";

/// The machine's key for the amount of perturbation, then the value that applies unless the user sets one.
const AMOUNT: &str = "perturb";
const CYCLES: u64 = 4;

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

/// The order of a machine without perturbation.
pub(super) const PLAIN: u64 = 0;

/// Returns `count` orders, or one order if the machine has no perturbation.
pub(super) fn orders(chip: &Chip, count: u64) -> Vec<u64> {
    match perturbed(chip, 1) {
        Some(_) => (1..=count).collect(),
        None => vec![PLAIN],
    }
}

/// Returns the machine under an order, or unchanged if it has no perturbation.
pub(super) fn machine(chip: &Chip, order: u64) -> Chip {
    perturbed(chip, order)
        .filter(|_| order != PLAIN)
        .unwrap_or_else(|| chip.clone())
}

/// Returns the machine under an order, or `None` if [`perturbed`] returns `None`.
pub(crate) fn config(machine: &Config, order: u64) -> Option<Config> {
    perturbed(&Chip(machine.clone()), order).map(|chip| chip.0)
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

/// Returns the machine with a seed. Returns `None` if the machine has no perturbation, or the user has set its amount
/// to 0.
fn perturbed(chip: &Chip, order: u64) -> Option<Chip> {
    let mut chip = chip.clone();
    let machine = chip.0.to_toml();
    let amount = machine.lines().find_map(|line| {
        let (key, amount) = line.split_once('=')?;
        (key.trim() == AMOUNT).then(|| amount.trim().to_owned())
    });
    match amount.as_deref() {
        Some("0") => return None,
        Some(_) => {}
        None => chip.0.set(&format!("{AMOUNT}={CYCLES}")).ok()?,
    }
    chip.0.set(&format!("{SEED}={order}")).ok()?;
    Some(chip)
}

#[cfg(test)]
mod tests {
    use super::Orders;

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
