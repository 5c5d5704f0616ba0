//! Barriers by name.

use crate::failure::bad_input;
use crate::study::trial::Setup;
use manycore_research::barrier::barriers;

/// PARSEC's, whose members fight for a lock: its simulations would take ten times as
/// long as those of all others together.
const ON_REQUEST: &str = "spin-sleep";

/// The barriers asked for; else all, but one that is simulated only on request.
pub(in crate::study) fn barriers_of(only: &[String], setup: &Setup) -> anyhow::Result<Vec<String>> {
    let all = barriers();
    if let Some(name) = only.iter().find(|name| !all.contains(&&***name)) {
        return Err(bad_input(format!(
            "--only: unknown barrier `{name}`; expected some of {}",
            all.join(", ")
        )));
    }
    let wanted = |name: &&str| match only.is_empty() {
        true => setup.machines.is_host() || *name != ON_REQUEST,
        false => only.iter().any(|one| one == name),
    };
    Ok(all.into_iter().filter(wanted).map(str::to_owned).collect())
}

/// That one is left out, if it is.
pub(in crate::study) fn left_out(names: &[String]) -> String {
    let there = names.iter().any(|name| name == ON_REQUEST);
    match there || names.len() + 1 < barriers().len() {
        true => String::new(),
        false => format!(
            " {ON_REQUEST}, whose members fight for a lock, is simulated if --only names it: that \
             takes ten times as long as all others."
        ),
    }
}
