//! Barriers by name.

use crate::failure::bad_input;
use crate::study::trial::Setup;
use manycore_programs::barrier::barriers;

/// PARSEC's barrier. Its members fight for a lock: its simulations would take ten times as long as
/// all others together.
const ON_REQUEST: &str = "spin-sleep";

/// The requested barriers. Otherwise all, except a barrier that is simulated only on request.
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

/// The ideas behind names that do not explain themselves.
pub(in crate::study) const BARRIERS: &str = "The barriers: sense, one count, and one word that the last to come changes (sense- \
     reversing); sense-on-a-line, the same on one cache line; futex, as the C library glibc since \
     2.25: one count, and those that wait sleep; glibc-2011, as glibc until 2.24: a lock, a \
     count, and sleep; spin-sleep, PARSEC's: a lock, spinning, and sleep; dissemination, rounds \
     in which each tells another, twice as far away each time; tournament, losers of each round \
     wait for its winners; combining, a tree of counts; mcs, a tree of words, Mellor-Crummey's \
     and Scott's; counted, each tells all others, whose network interfaces count; grouped, groups \
     of cores first, then the groups with each other; default, the one that manycore chooses for \
     where the threads are. \
     spin-sleep is simulated if --only names it: that takes ten times as long as all others.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ideas_are_those_of_barriers_that_there_are() {
        let (ideas, _) = BARRIERS.split_once(". ").unwrap();
        for idea in ideas.trim_start_matches("The barriers: ").split("; ") {
            let (name, _) = idea.split_once(", ").unwrap();
            assert!(barriers().contains(&name), "{name}");
        }
    }
}
