//! Where a measurement runs: on this host, or on a simulated machine.

use crate::failure::bad_input;
use crate::study::settings::Key;
use crate::study::unknown::{is_machines, unknown};
use manycore_chip::config::{Config, ConfigError, preset_names};

/// What `--on` names, with the machine's `--set` applied.
#[derive(Clone, Debug)]
pub(crate) enum World {
    /// Real threads on this host.
    Native,
    /// A chip.
    Simulated(Box<Config>),
}

impl World {
    /// Splits the `--set` pairs: those that a study knows (`known`) are its
    /// own and returned, the others change the simulated machine.
    pub(crate) fn new(
        on: &str,
        pairs: &[String],
        known: &[Key],
    ) -> anyhow::Result<(Self, Vec<String>)> {
        if on == "native" {
            return Ok((Self::Native, pairs.to_vec()));
        }
        let mut config = Config::named(on).map_err(|error| match error {
            ConfigError::UnknownMachine { .. } => {
                let presets: Vec<&str> = preset_names().collect();
                let presets = presets.join(", ");
                bad_input(format!(
                    "--on {on}: expected native, a preset ({presets}) or FILE.toml"
                ))
            }
            error => bad_input(format!("--on {on}: {error}")),
        })?;
        let mut of_study = Vec::new();
        for pair in pairs {
            let key = pair.split_once('=').map_or(&**pair, |(key, _)| key).trim();
            if known.iter().any(|known| known.name == key) {
                of_study.push(pair.clone());
            } else if is_machines(key) || !pair.contains('=') {
                config
                    .set(pair)
                    .map_err(|error| bad_input(error.to_string()))?;
            } else {
                return Err(unknown(pair, key, known, true));
            }
        }
        Ok((Self::Simulated(Box::new(config)), of_study))
    }

    /// Where it is, for readers of a report.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Native => "Measured on this machine".into(),
            Self::Simulated(machine) => format!("Simulated: {}", machine.name),
        }
    }
}
