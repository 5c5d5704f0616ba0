//! Where a team's numbers come from: `NAME.meta.json`.

use super::measure::Measured;
use super::setup::Setup;
use crate::measure::journal;
use crate::report::host::Origin;
use serde::Serialize;
use serde_json::{Value, json};

/// Of a study whose `config` decides what is measured.
pub(in crate::study) fn meta<C: Serialize>(
    setup: &Setup,
    config: &C,
    measured: &Measured,
) -> anyhow::Result<Value> {
    let mut meta = json!({
        "study": setup.study,
        "config": config,
        "config_hash": journal::hash(config)?,
        "seed": setup.seed,
        "seconds": measured.seconds,
    });
    if setup.machines.is_host() {
        meta["origin"] = json!(Origin::native());
    } else {
        meta["origin"] = json!(Origin::simulated());
        meta["hash"] = json!(measured.hash()?);
        meta["hashes"] = measured.hashes();
    }
    Ok(meta)
}

/// The last line of a summary of simulations.
pub(in crate::study) fn hash_line(setup: &Setup, measured: &Measured) -> anyhow::Result<String> {
    Ok(match setup.machines.is_host() {
        true => String::new(),
        false => format!("hash of all simulations: {}\n", measured.hash()?),
    })
}
