//! The cost for two threads that use one cache line at the same time, by the distance between their CPUs.

use super::atomics::{self, CounterOperation};
use super::summary::Summary;
use super::team;
use manycore::topology::{Distance, Topology};
use manycore_platform::{CachePadded, Native, Platform};
use serde::{Serialize, Serializer};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

/// The most pairs of CPUs that are measured for one distance. Each round takes the next pair, since neighbours on a
/// mesh are not equally far apart.
const PAIRS: usize = 8;

/// Round trips in one sample.
const HANDOVERS: u32 = 2_000;

/// Two threads at one distance.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DistanceCost {
    #[serde(serialize_with = "name")]
    pub(crate) distance: Distance,
    /// The pairs of CPUs that were measured.
    pub(crate) pairs: Vec<[usize; 2]>,
    /// Nanoseconds of a fetch-and-add while the other thread also executes fetch-and-adds.
    pub(crate) faa_ns: Summary,
    /// Nanoseconds of a successful compare-and-swap while the other thread also executes them.
    pub(crate) cas_ns: Summary,
    /// Nanoseconds from one thread's write until the other thread sees it.
    pub(crate) handover_ns: Summary,
}

/// The name of a distance.
pub(super) fn describe(distance: Distance) -> &'static str {
    match distance {
        Distance::SmtSibling => "same core (SMT siblings)",
        Distance::SameGroup => "same core group",
        Distance::SamePackage => "other core group",
        Distance::OtherPackage => "other package",
    }
}

fn name<S: Serializer>(distance: &Distance, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match distance {
        Distance::SmtSibling => "smt-sibling",
        Distance::SameGroup => "same-group",
        Distance::SamePackage => "same-package",
        Distance::OtherPackage => "other-package",
    })
}

/// Returns the distances that occur between usable CPUs, nearest first. Each distance has some of its pairs, evenly
/// chosen.
fn classes(machine: &Topology) -> Vec<(Distance, Vec<[usize; 2]>)> {
    let cpus: Vec<usize> = machine.usable().iter().map(|cpu| cpu.id).collect();
    let all = [
        Distance::SmtSibling,
        Distance::SameGroup,
        Distance::SamePackage,
        Distance::OtherPackage,
    ];
    let classes = all.map(|distance| {
        let pairs: Vec<[usize; 2]> = (0..cpus.len())
            .flat_map(|i| (0..i).map(move |j| (j, i)))
            .map(|(j, i)| [cpus[j], cpus[i]])
            .filter(|&[a, b]| machine.distance(a, b) == Some(distance))
            .collect();
        let step = pairs.len().div_ceil(PAIRS).max(1);
        (
            distance,
            pairs.into_iter().step_by(step).collect::<Vec<_>>(),
        )
    });
    classes
        .into_iter()
        .filter(|(_, pairs)| !pairs.is_empty())
        .collect()
}

/// Measures every distance of the machine in turn, `rounds` times. Returns an empty list if the machine has one CPU.
pub(super) fn measure(
    machine: &Topology,
    rounds: usize,
    progress: &mut dyn FnMut(&str),
) -> io::Result<Vec<DistanceCost>> {
    let classes = classes(machine);
    let mut samples = vec![[const { Vec::new() }; 3]; classes.len()];
    for round in 0..=rounds {
        progress(&format!("distances, round {round} of {rounds}"));
        for ((_, pairs), [faa, cas, handover]) in classes.iter().zip(&mut samples) {
            let pair = pairs[round % pairs.len()];
            let places = pair.map(|cpu| vec![cpu]);
            let taken = [
                atomics::sample(CounterOperation::FetchAndAdd, &places)?.ns_per_op,
                atomics::sample(CounterOperation::CompareAndSwap, &places)?.ns_per_op,
                hand_over(pair)?,
            ];
            if round > 0 {
                faa.push(taken[0]);
                cas.push(taken[1]);
                handover.push(taken[2]);
            }
        }
    }
    let costs = classes.into_iter().zip(samples);
    let costs = costs.filter_map(|((distance, pairs), [faa, cas, handover])| {
        Some(DistanceCost {
            distance,
            pairs,
            faa_ns: Summary::of(faa)?,
            cas_ns: Summary::of(cas)?,
            handover_ns: Summary::of(handover)?,
        })
    });
    Ok(costs.collect())
}

/// Two threads take turns on one word. Returns the nanoseconds from one thread's write to the other thread's next
/// write. The threads wait without a pause instruction, which on some processors lasts longer than the handover.
fn hand_over(cpus: [usize; 2]) -> io::Result<f64> {
    let turn = CachePadded::new(AtomicU32::new(0));
    let ticks = team::run(&cpus, move |index| {
        let start = Native::now();
        let mine = index as u32;
        for _ in 0..HANDOVERS {
            while turn.load(Ordering::Acquire) != mine {}
            turn.store(1 - mine, Ordering::Release);
        }
        Native::now().saturating_sub(start)
    })?;
    Ok(Native::ticks_to_ns(ticks[0]) / f64::from(2 * HANDOVERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_the_distance_of_its_class() {
        let machine = Topology::detect();
        for (distance, pairs) in classes(&machine) {
            assert!(pairs.len() <= PAIRS);
            for [a, b] in pairs {
                assert_eq!(machine.distance(a, b), Some(distance));
            }
        }
    }
}
