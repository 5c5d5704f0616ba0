//! The machines of a study.

use crate::failure::bad_input;
use crate::study::chip::Chip;
use serde::Serialize;

/// The simulated machines by number. The requested machine has number 0. An empty list stands for this host.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub(in crate::study) struct Machines(pub(in crate::study) Vec<Chip>);

impl Machines {
    /// Machine `number` for a team of `cores`, with `settings`.
    pub(in crate::study) fn build(
        &self,
        number: usize,
        cores: usize,
        settings: &[String],
    ) -> anyhow::Result<Chip> {
        let mut chip = self.0[number].sized(cores)?;
        let changed = chip.0.set_all(settings);
        changed.map_err(|error| bad_input(error.to_string()))?;
        Ok(chip)
    }

    /// Whether the study runs on this host.
    pub(in crate::study) fn is_host(&self) -> bool {
        self.0.is_empty()
    }

    /// The name of machine `number` in results.
    pub(in crate::study) fn name(&self, number: usize) -> String {
        match self.0.get(number) {
            Some(chip) => chip.0.name.clone(),
            None => crate::report::processor::cpu_model(),
        }
    }
}
