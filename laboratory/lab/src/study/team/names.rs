//! Barriers by name.

use crate::failure::bad_input;
use crate::study::trial::Setup;
use manycore_programs::barrier::barriers;

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

/// The ideas of those that a name alone does not tell.
const IDEAS: [(&str, &str); 12] = [
    (
        "sense",
        "one count, and one word that the last to come changes (sense-reversing)",
    ),
    ("sense-on-a-line", "the same on one cache line"),
    (
        "futex",
        "as the C library glibc since 2.25: one count, and those that wait sleep",
    ),
    (
        "glibc-2011",
        "as glibc until 2.24: a lock, a count, and sleep",
    ),
    ("spin-sleep", "PARSEC's: a lock, spinning, and sleep"),
    (
        "dissemination",
        "rounds in which each tells another, twice as far away each time",
    ),
    ("tournament", "losers of each round wait for its winners"),
    ("combining", "a tree of counts"),
    ("mcs", "a tree of words, Mellor-Crummey's and Scott's"),
    (
        "counted",
        "each tells all others, whose network interfaces count",
    ),
    (
        "grouped",
        "groups of cores first, then the groups with each other",
    ),
    (
        "default",
        "the one that manycore chooses for where the threads are",
    ),
];

/// What these barriers are, in a sentence. One that its name or the section's beginning tells has no words here.
pub(in crate::study) fn ideas(names: &[String]) -> String {
    let named = |(name, idea): (&str, &str)| {
        let is_there = names.iter().any(|one| one == name);
        is_there.then(|| format!("{name}, {idea}"))
    };
    match IDEAS.into_iter().filter_map(named).collect::<Vec<_>>() {
        ideas if ideas.is_empty() => String::new(),
        ideas => format!(" The barriers: {}.", ideas.join("; ")),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ideas_are_those_of_barriers_that_there_are() {
        for (name, _) in IDEAS {
            assert!(barriers().contains(&name), "{name}");
        }
        let said = ideas(&["mcs".into(), "channel".into()]);
        assert!(
            said.contains("mcs, a tree") && !said.contains("futex"),
            "{said}"
        );
        assert_eq!(ideas(&["channel".into()]), "");
    }
}
