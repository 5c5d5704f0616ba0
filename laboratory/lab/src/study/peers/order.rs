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

/// The machine with a seed; none if it knows no perturbation, or the user has set its amount to 0.
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
