//! The presets that stand for the document's machines, which are not here, and what they charge.

use crate::machine::{self, MachinePrices};
use crate::world::World;
use std::collections::BTreeMap;

/// By the names that the document's tables have.
const PRESETS: [(&str, &str); 3] = [
    ("W-3225R", "w3225r"),
    ("Gold 5225R", "gold5225r"),
    ("AMD 3970X", "tr3970x"),
];

/// The prices of each preset, in this build; `progress` shows the current measurement.
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
