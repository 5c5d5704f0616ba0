//! Barriers by name.

use crate::failure::bad_input;
use manycore::barrier::barriers;

/// The barriers asked for; else all.
pub(in crate::study) fn barriers_of(only: &[String]) -> anyhow::Result<Vec<String>> {
    let all = barriers();
    if let Some(name) = only.iter().find(|name| !all.contains(&&***name)) {
        return Err(bad_input(format!(
            "--only: unknown barrier `{name}`; expected some of {}",
            all.join(", ")
        )));
    }
    let wanted = |name: &&str| only.is_empty() || only.iter().any(|one| one == name);
    Ok(all.into_iter().filter(wanted).map(str::to_owned).collect())
}
