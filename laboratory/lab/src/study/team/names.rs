//! Barriers by name.

use crate::failure::bad_input;
use crate::study::trial::Setup;
use manycore_programs::barrier::barriers;

/// PARSEC's barrier. Its members contend for a lock, so its simulations take ten times as long as all others.
const ON_REQUEST: &str = "spin-sleep";

/// The barriers in `only`, or all. [`ON_REQUEST`] is simulated only if `only` names it.
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

/// Explains the barriers' names.
pub(in crate::study) const BARRIERS: &str = "The barriers: sense, a count, and a word that the \
     last member to arrive changes (sense-reversing); sense-on-a-line, the same with count and \
     word on one cache line; futex, the barrier of the C library glibc since 2.25: a count, and \
     waiting members sleep; glibc-2011, the barrier of glibc until 2.24: a lock, a count, and \
     sleep; spin-sleep, PARSEC's: a lock, spinning, and sleep; dissemination, rounds in which \
     each member signals another, twice as far away in each round; tournament, the losers of each \
     round wait for its winners; combining, a tree of counts; mcs, a tree of words (by \
     Mellor-Crummey and Scott); counted, each member signals all others, whose network interfaces \
     count; grouped, the cores of a group meet first, then the groups; default, the barrier that \
     manycore chooses for the places of the threads. spin-sleep is simulated only if --only names \
     it, since it takes ten times as long as all others.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_explains_existing_barriers() {
        let (ideas, _) = BARRIERS.split_once(". ").unwrap();
        for idea in ideas.trim_start_matches("The barriers: ").split("; ") {
            let (name, _) = idea.split_once(", ").unwrap();
            assert!(barriers().contains(&name), "{name}");
        }
    }
}
