//! Where a measurement runs: on this host, or on a simulated machine.

use crate::failure::bad_input;
use crate::study::settings::Key;
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
        let of_study = |pair: &String| {
            let key = pair.split_once('=').map_or(&**pair, |(key, _)| key.trim());
            known.iter().any(|known| known.name == key)
        };
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
        let (mine, of_machine): (Vec<String>, Vec<String>) =
            pairs.iter().cloned().partition(of_study);
        for pair in of_machine {
            config
                .set(&pair)
                .map_err(|error| bad_input(error.to_string()))?;
        }
        Ok((Self::Simulated(Box::new(config)), mine))
    }
}
