//! The presets that stand for the machines of the document (Shuai's paper), and their prices.

use crate::machine::{self, MachinePrices};
use crate::world::World;
use std::collections::BTreeMap;

/// The machines' names in the document's tables, each with its preset.
const PRESETS: [(&str, &str); 3] = [
    ("W-3225R", "w3225r"),
    ("Gold 5225R", "gold5225r"),
    ("AMD 3970X", "tr3970x"),
];

/// Measures the prices of each preset with this build. `progress` shows the current measurement.
pub(crate) fn measure_presets(
    progress: &mut (dyn FnMut(&str) + Send),
) -> anyhow::Result<BTreeMap<String, MachinePrices>> {
    let mut measure = |(machine, preset): (&str, &str)| {
        let (world, _) = World::new(preset, &[], &[])?;
        let prices = machine::prices(&world, progress)?;
        Ok((machine.to_owned(), prices))
    };
    PRESETS.into_iter().map(&mut measure).collect()
}
