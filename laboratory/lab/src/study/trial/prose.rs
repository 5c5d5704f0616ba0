//! How it is measured, in words.

use super::setup::Setup;

/// Where and how, of a team of any kind.
pub(in crate::study) fn what(setup: &Setup) -> String {
    let measures = "End to end is from when the last member has begun until the last has left; two \
                    waits before that are not counted. Each member notes its arrivals and departures \
                    in memory of its own.";
    match setup.chip() {
        Some(chip) => format!(
            "One member is bound to each core of a simulated machine ({}); cycles are its clock's. \
             {}. Nothing in it is random: the seed changes nothing. {measures}",
            setup.machine,
            match chip.scales() {
                true => "The machine has as many cores as the team",
                false => "The team fills one core group after the other",
            },
        ),
        None => format!(
            "Members are threads of this machine ({}); {}. Each round runs every barrier at every \
             size in shuffled order (seed {}). {measures}",
            setup.machine,
            match setup.effort.pinned {
                true => "they are bound to CPUs, and share them where there are more of them",
                false => "the system places them",
            },
            setup.seed
        ),
    }
}
