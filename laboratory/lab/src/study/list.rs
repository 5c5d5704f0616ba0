//! All studies.

use super::Study;
use super::{
    barrier, block_size, cost_inputs, graph, models, packing, peers, robustness, sleep, stealing,
    streamcluster,
};
use crate::failure::bad_input;

/// Every study, in the order of the report.
pub(crate) const STUDIES: [&dyn Study; 12] = [
    block_size::STUDY,
    models::STUDY,
    cost_inputs::STUDY,
    sleep::STUDY,
    barrier::STUDY,
    streamcluster::STUDY,
    robustness::STUDY,
    stealing::STUDY,
    graph::STUDY,
    packing::STUDY,
    packing::INTERVALS,
    peers::STUDY,
];

/// Returns the study with this name.
pub(crate) fn find(name: &str) -> anyhow::Result<&'static dyn Study> {
    let found = STUDIES.into_iter().find(|study| study.name() == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = STUDIES.iter().map(|study| study.name()).collect();
        let names = names.join(", ");
        bad_input(format!("unknown study `{name}`; expected one of {names}"))
    })
}

/// The studies and their settings, for `manycore study --help`.
pub(crate) fn help() -> String {
    let mut text = String::from("Studies and their settings (--set):\n");
    for study in STUDIES {
        text += &format!("\n  {}: {}\n", study.name(), study.question());
        for key in study.keys() {
            text += &format!("    {:<14} {}{}\n", key.name, key.meaning, key.range());
        }
    }
    text
}
