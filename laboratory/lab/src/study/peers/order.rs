//! Orders of events: seeds of a machine's perturbation.

use crate::study::chip::Chip;

/// The machine's key for the seed; a machine without it has one order.
const SEED: &str = "perturb-seed";

/// The machine's key for the amount, and its value unless the user sets one.
const AMOUNT: &str = "perturb";
const CYCLES: u64 = 4;

/// The order of a machine without perturbation.
pub(super) const PLAIN: u64 = 0;

/// Returns `count` orders, or one order if the machine has no perturbation.
pub(super) fn orders(chip: &Chip, count: u64) -> Vec<u64> {
    match perturbed(chip, 1) {
        Some(_) => (1..=count).collect(),
        None => vec![PLAIN],
    }
}

/// The machine under an order.
pub(super) fn machine(chip: &Chip, order: u64) -> Chip {
    perturbed(chip, order)
        .filter(|_| order != PLAIN)
        .unwrap_or_else(|| chip.clone())
}

fn perturbed(chip: &Chip, order: u64) -> Option<Chip> {
    let mut chip = chip.clone();
    let machine = chip.0.to_toml();
    let given = machine.lines().any(|line| {
        let amount = line.strip_prefix(AMOUNT).map(str::trim_start);
        amount
            .and_then(|rest| rest.strip_prefix('='))
            .is_some_and(|amount| amount.trim() != "0")
    });
    if !given {
        chip.0.set(&format!("{AMOUNT}={CYCLES}")).ok()?;
    }
    chip.0.set(&format!("{SEED}={order}")).ok()?;
    Some(chip)
}
