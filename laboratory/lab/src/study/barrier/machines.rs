//! The machines with which the machine of the thesis (Park 2013) is compared.
//!
//! The thesis has one machine: 64 tiles with the protocol MSI, under which every clean cache line comes from memory.
//! This study adds the same network to two real machines, and to the same tiles with a modern protocol.

use crate::failure::bad_input;
use crate::study::chip::Chip;
use crate::study::settings::Settings;
use crate::study::trial::Machines;
use manycore_chip::config::{Config, Optical, Protocol};

/// Real machines: one with two dies, one with eight sockets.
const BESIDE: [&str; 2] = ["kunpeng-920", "westmere-ex"];

/// A modern protocol for the same tiles. It has an exclusive state. Clean lines and data go straight from cache to
/// cache. The home of a line takes the next request after one look into its directory.
const GOOD: [&str; 4] = [
    "coherence.protocol=mesi",
    "coherence.clean-forward=true",
    "coherence.data-path=direct",
    "coherence.occupancy=6",
];

/// Adds the machines to compare with a machine that has a broadcast network. Each gets the same network.
pub(super) fn add(machines: &mut Machines, settings: &Settings) -> anyhow::Result<()> {
    let asked = settings.text("beside");
    let of_asked = machines.0.first().map(|chip| chip.0.clone());
    let Some((chip, optical)) = of_asked.and_then(|chip| Some((chip.clone(), chip.optical?)))
    else {
        return match asked {
            None => Ok(()),
            Some(_) => Err(bad_input(
                "--set beside: this machine has no broadcast network that other machines could \
                 get too; expected a machine with a broadcast network, such as --on atac-64",
            )),
        };
    };
    let presets = match asked {
        None => {
            let others = BESIDE.iter().filter(|name| **name != chip.name);
            others.map(|&name| name.to_owned()).collect()
        }
        Some("none") => return Ok(()),
        Some(_) => settings
            .list("beside", |name| Ok::<_, String>(name.to_owned()))?
            .unwrap_or_default(),
    };
    if chip.coherence.protocol == Protocol::Msi {
        let mut good = chip.clone();
        good.name = format!("{}-mesi", chip.name);
        for setting in GOOD {
            good.set(setting)?;
        }
        machines.0.push(Chip(good));
    }
    for name in presets {
        let mut machine = with_network(&name, &optical)?;
        // All machines of a comparison are perturbed alike.
        machine.perturb = chip.perturb;
        machine.perturb_seed = chip.perturb_seed;
        machines.0.push(Chip(machine));
    }
    Ok(())
}

/// The preset `name`, with `optical` as its broadcast network.
fn with_network(name: &str, optical: &Optical) -> anyhow::Result<Config> {
    let mut machine =
        Config::preset(name).map_err(|error| bad_input(format!("--set beside: {error}")))?;
    machine.name = format!("{name}-optical");
    machine.optical = Some(optical.clone());
    let source = "hypothetical: the network of the machine compared with, in cycles";
    machine
        .sources
        .insert("optical".to_owned(), source.to_owned());
    Ok(machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(preset: &str, pairs: &[&str]) -> anyhow::Result<Vec<String>> {
        let pairs: Vec<String> = pairs.iter().map(|&pair| pair.to_owned()).collect();
        let settings = Settings::parse(&pairs, super::super::KEYS)?;
        let mut machines = Machines(vec![Chip(Config::preset(preset)?)]);
        add(&mut machines, &settings)?;
        // The machine of a result can be made again from its TOML.
        for chip in &machines.0 {
            assert_eq!(Config::from_toml(&chip.0.to_toml(), "echo")?, chip.0);
        }
        Ok(machines.0.into_iter().map(|chip| chip.0.name).collect())
    }

    #[test]
    fn the_other_machines_are_perturbed_as_well() {
        let mut chip = Config::preset("atac-64").unwrap();
        chip.set("perturb=4").unwrap();
        chip.set("perturb-seed=7").unwrap();
        let mut machines = Machines(vec![Chip(chip)]);
        let settings = Settings::parse(&[], super::super::KEYS).unwrap();
        add(&mut machines, &settings).unwrap();
        let seeds = machines
            .0
            .iter()
            .map(|chip| (chip.0.perturb, chip.0.perturb_seed));
        assert!(seeds.eq([(Some(4), Some(7)); 4]));
    }

    #[test]
    fn the_network_is_added_to_others() {
        let all = [
            "atac-64",
            "atac-64-mesi",
            "kunpeng-920-optical",
            "westmere-ex-optical",
        ];
        assert_eq!(names("atac-64", &[]).unwrap(), all);
        assert_eq!(names("atac-64", &["beside=none"]).unwrap(), ["atac-64"]);
        let one = ["atac-64", "atac-64-mesi", "gold5225r-optical"];
        assert_eq!(names("atac-64", &["beside=gold5225r"]).unwrap(), one);
        assert_eq!(names("kunpeng-920", &[]).unwrap(), ["kunpeng-920"]);
        for (preset, pair) in [("kunpeng-920", "beside=atac-64"), ("atac-64", "beside=x")] {
            let error = names(preset, &[pair]).unwrap_err().to_string();
            assert!(error.contains("--set beside"), "{error}");
        }
    }
}
