//! The error for an unknown key, with the key that may have been meant.

use super::settings::Key;
use crate::failure::bad_input;
use manycore_chip::config;
use std::collections::BTreeSet;

/// A longer word is not a misspelt key.
const LONGEST_WORD: usize = 64;

/// The error for a `pair` with a `key` that the study does not have. If the study runs `on_chip`, the simulated machine
/// does not have the key either. The message lists the keys of study and machine separately, and the nearest key.
pub(crate) fn unknown(pair: &str, key: &str, study: &[Key], on_chip: bool) -> anyhow::Error {
    let studys: Vec<&str> = study.iter().map(|key| key.name).collect();
    let machines: Vec<&str> = config::keys().collect();
    let mut text = format!("--set {pair}: unknown key `{key}`");
    if !on_chip && is_machines(key) {
        text += ", which only a simulated machine has (--on)";
    }
    let near = studys.iter().chain(machines.iter().filter(|_| on_chip));
    if let Some(near) = nearest(key, near) {
        text += &format!(", perhaps `{near}`");
    }
    let studys = studys.join(", ");
    text += &match (on_chip, studys.is_empty()) {
        (false, _) => format!("; expected one of {studys}"),
        (true, true) => format!("; expected one of the machine's {}", of_machine(&machines)),
        (true, false) => format!(
            "; expected one of the study's {studys}, or of the machine's {}",
            of_machine(&machines)
        ),
    };
    bad_input(text)
}

/// A machine's keys. A section counts as one key.
fn of_machine(keys: &[&str]) -> String {
    let plain: Vec<&str> = keys
        .iter()
        .copied()
        .filter(|key| !key.contains('.'))
        .collect();
    let sections = keys.iter().filter_map(|key| Some(key.split_once('.')?.0));
    let sections: BTreeSet<String> = sections.map(|section| format!("{section}.*")).collect();
    let sections: Vec<String> = sections.into_iter().collect();
    format!("{}, {}", plain.join(", "), sections.join(", "))
}

/// Whether a simulated machine has a value or a section with the first part of `key`.
pub(crate) fn is_machines(key: &str) -> bool {
    let first = |key: &str| key.split('.').next().unwrap_or_default().to_owned();
    let section = first(key);
    section == "sources" || config::keys().any(|known| first(known) == section)
}

/// Returns the known word that differs from `word` in few letters, and so may have been meant.
fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST_WORD {
        return None;
    }
    let distance = |known: &&'a str| (strsim::osa_distance(word, known), *known);
    let (letters, nearest) = known.map(distance).min()?;
    (letters <= 1 + word.chars().count() / 5).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::settings::keys;

    const STUDY: &[Key] = keys!["episodes" [1, 10] "", "beside" "",];

    fn message(key: &str, study: &[Key], on_chip: bool) -> String {
        unknown(&format!("{key}=3"), key, study, on_chip).to_string()
    }

    #[test]
    fn the_keys_of_study_and_machine_are_listed_separately() {
        let text = message("episode", STUDY, true);
        let start = "--set episode=3: unknown key `episode`, perhaps `episodes`; expected one of \
                     the study's episodes, beside, or of the machine's name, title, cores,";
        assert!(text.starts_with(start), "{text}");
        assert!(text.ends_with("l1.*, l2.*, llc.*, memory.*, network.*, optical.*, os.*"));
        let text = message("l1.latencie", &[], true);
        let start = "--set l1.latencie=3: unknown key `l1.latencie`, perhaps `l1.latency`; \
                     expected one of the machine's name,";
        assert!(text.starts_with(start), "{text}");
        let text = message("cores", STUDY, false);
        let expected = "--set cores=3: unknown key `cores`, which only a simulated machine has \
                        (--on); expected one of episodes, beside";
        assert_eq!(text, expected);
        for far in ["", "epos", "besides us", &"e".repeat(100_000)] {
            assert!(!message(far, STUDY, true).contains("perhaps"), "{far}");
        }
    }

    #[test]
    fn a_machine_has_the_keys_of_presets() {
        for key in ["cores", "l1.latency", "l1", "core.cpu", "sources.name"] {
            assert!(is_machines(key), "{key}");
        }
        for key in ["", "episode", "l3.size", "l1 .size"] {
            assert!(!is_machines(key), "{key}");
        }
    }
}
