//! The order of CPUs for the threads of a pool.

use super::{Cpu, Topology};
use std::collections::BinaryHeap;

/// A usable CPU without a place in the order.
#[derive(Clone, Copy)]
struct Candidate {
    cpu: Cpu,
    /// The CPU's number among the usable CPUs of its core. If a core's first CPU is masked, its second CPU has rank 0.
    rank: usize,
    /// The number that the last [`count_turns`] gave the CPU.
    turn: usize,
}

/// Returns CPUs close together. Each core group is filled before the next begins. Inside a group every core gets one
/// thread before any core gets a second thread.
pub(super) fn compact(topology: &Topology) -> Vec<usize> {
    let mut cpus = ranked(topology);
    sort_by(&mut cpus, &|c| [c.cpu.group, c.rank, c.cpu.core, 0, 0]);
    ids(&cpus)
}

/// Returns the CPUs far apart. Packages take turns, and inside a package core groups take turns. Every core gets one
/// thread before any core gets a second thread.
pub(super) fn spread(topology: &Topology) -> Vec<usize> {
    let mut cpus = ranked(topology);
    sort_by(&mut cpus, &|c| {
        [c.rank, c.cpu.package, c.cpu.group, c.cpu.core, 0]
    });
    // The order in each package is: the first CPU of each group, then the second CPU of each group that has one, and
    // so on.
    count_turns(&mut cpus, |a, b| {
        a.rank == b.rank && a.cpu.package == b.cpu.package && a.cpu.group == b.cpu.group
    });
    sort_by(&mut cpus, &|c| {
        [c.rank, c.cpu.package, c.turn, c.cpu.group, 0]
    });
    // The same with packages.
    count_turns(&mut cpus, |a, b| {
        a.rank == b.rank && a.cpu.package == b.cpu.package
    });
    sort_by(&mut cpus, &|c| [c.rank, c.turn, c.cpu.package, 0, 0]);
    ids(&cpus)
}

fn ids(cpus: &[Candidate]) -> Vec<usize> {
    cpus.iter().map(|candidate| candidate.cpu.id).collect()
}

/// The usable CPUs, sorted by core, with their ranks.
fn ranked(topology: &Topology) -> Vec<Candidate> {
    let candidate = |&cpu: &Cpu| Candidate {
        cpu,
        rank: 0,
        turn: 0,
    };
    let mut cpus: Vec<Candidate> = topology.usable().iter().map(candidate).collect();
    sort_by(&mut cpus, &|c| [c.cpu.core, c.cpu.smt, 0, 0, 0]);
    count_turns(&mut cpus, |a, b| a.cpu.core == b.cpu.core);
    for candidate in &mut cpus {
        candidate.rank = candidate.turn;
    }
    cpus
}

/// Numbers each run of successive CPUs that are `alike`, from 0.
fn count_turns(cpus: &mut [Candidate], alike: fn(&Candidate, &Candidate) -> bool) {
    for index in 0..cpus.len() {
        cpus[index].turn = match index.checked_sub(1).map(|before| cpus[before]) {
            Some(before) if alike(&before, &cpus[index]) => before.turn + 1,
            _ => 0,
        };
    }
}

/// Sorts `items` by their keys. Items with equal keys keep their order.
///
/// This is a heap sort, which is compiled once. The standard library's `sort` is compiled for each type, which takes
/// as long as most of this folder.
pub(super) fn sort_by<T: Copy>(items: &mut [T], key: &dyn Fn(&T) -> [usize; 5]) {
    let mut keys = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        keys.push((key(item), index));
    }
    let before = items.to_vec();
    for (at, (_, index)) in in_order(keys).into_iter().enumerate() {
        items[at] = before[index];
    }
}

fn in_order(keys: Vec<([usize; 5], usize)>) -> Vec<([usize; 5], usize)> {
    BinaryHeap::from(keys).into_sorted_vec()
}
