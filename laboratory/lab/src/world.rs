//! The place of a measurement: this host, or a simulated machine.

use crate::failure::bad_input;
use crate::measure::journal::fingerprint;
use crate::report::host::host_name;
use crate::study::settings::Key;
use crate::study::unknown::{is_machines, unknown};
use manycore_chip::config::{Config, ConfigError, preset_names};

/// The machine of `--on`, with the machine's `--set` applied.
#[derive(Clone, Debug)]
pub(crate) enum World {
    /// Real threads on this host.
    Native,
    /// A simulated chip.
    Simulated(Box<Config>),
}

impl World {
    /// Splits the `--set` pairs. Pairs that a study knows (`known`) are returned; the others change
    /// the simulated machine.
    pub(crate) fn new(
        on: &str,
        pairs: &[String],
        known: &[Key],
    ) -> anyhow::Result<(Self, Vec<String>)> {
        if on == "native" {
            return Ok((Self::Native, pairs.to_vec()));
        }
        let mut config = Config::named(on).map_err(|error| {
            let problem = match error {
                ConfigError::UnknownMachine { .. } => String::new(),
                ConfigError::Unreadable { reason, .. } => format!("cannot be read: {reason}; "),
                error => return bad_input(format!("--on {on}: {error}")),
            };
            let presets: Vec<&str> = preset_names().collect();
            let presets = presets.join(", ");
            bad_input(format!(
                "--on {on}: {problem}expected native, a preset ({presets}) or FILE.toml"
            ))
        })?;
        let (mut of_study, mut of_machine) = (Vec::new(), Vec::new());
        for pair in pairs {
            let key = pair.split_once('=').map_or(&**pair, |(key, _)| key).trim();
            if known.iter().any(|known| known.name == key) {
                of_study.push(pair.clone());
            } else if is_machines(key) || !pair.contains('=') {
                of_machine.push(&**pair);
            } else {
                return Err(unknown(pair, key, known, true));
            }
        }
        config
            .set_all(&of_machine)
            .map_err(|error| bad_input(error.to_string()))?;
        Ok((Self::Simulated(Box::new(config)), of_study))
    }

    /// The machine's name, for readers of a report.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Native => "Measured on this machine".into(),
            Self::Simulated(machine) => format!("Simulated: {}", machine.name),
        }
    }

    /// The machine's part of the names of files. A machine that differs from all presets has its own name.
    pub(crate) fn label(&self) -> String {
        let config = match self {
            Self::Native => return plain(&format!("native-{}", host_name())),
            Self::Simulated(config) => config,
        };
        let machine = config.to_toml();
        let preset = Config::preset(&config.name).map(|preset| preset.to_toml());
        match preset {
            Ok(preset) if preset == machine => config.name.clone(),
            _ => format!("{}-{}", config.name, &fingerprint(&machine)[..8]),
        }
    }
}

/// Replaces the characters of `name` that a file system or shell may not accept.
fn plain(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    name.chars()
        .map(|c| if fits(c) { c } else { '-' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_has_files_of_its_own() {
        let label = |on: &str, pairs: &[&str]| {
            let pairs: Vec<String> = pairs.iter().map(|&pair| pair.into()).collect();
            World::new(on, &pairs, &[]).unwrap().0.label()
        };
        assert_eq!(label("dahu", &[]), "dahu");
        let [faster, slower] = ["ghz=3.1", "ghz=1.1"].map(|pair| label("dahu", &[pair]));
        assert!(faster.starts_with("dahu-") && slower.starts_with("dahu-"));
        assert_ne!(faster, slower);
        assert!(label("native", &[]).starts_with("native-"));
        assert_eq!(plain("a b/c.d-1"), "a-b-c-d-1");
    }

    /// A contradiction between settings is no error if a later setting removes it.
    #[test]
    fn a_machine_is_checked_when_all_is_set() {
        let world = |pairs: [&str; 2]| {
            World::new("graviton2-64", &pairs.map(String::from), &[]).map(|(world, _)| world)
        };
        for pairs in [
            ["cores=256", "group-cores=256"],
            ["group-cores=256", "cores=256"],
        ] {
            let World::Simulated(machine) = world(pairs).unwrap() else {
                panic!("a preset is simulated");
            };
            assert_eq!((machine.cores, machine.group_cores), (256, 256));
        }
        let error = world(["cores=256", "group-cores=60"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--set group-cores=60: group-cores: 60, expected a divisor of cores = 256"
        );
    }
}
