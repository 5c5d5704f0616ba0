//! In which order threads take CPUs.

use super::{Cpu, Topology};

/// Close together: a core group is filled before the next begins; inside it
/// every core gets one thread before any gets a second.
pub(super) fn compact(topology: &Topology) -> Vec<usize> {
    let mut cpus = ranked(topology);
    sort_by(&mut cpus, |&(rank, cpu)| [cpu.group, rank, cpu.core, 0, 0]);
    cpus.into_iter().map(|(_, cpu)| cpu.id).collect()
}

/// Far apart: packages take turns, inside them core groups, and every core of
/// the machine gets one thread before any gets a second.
pub(super) fn spread(topology: &Topology) -> Vec<usize> {
    let mut cpus = ranked(topology);
    sort_by(&mut cpus, |&(rank, cpu)| {
        [rank, cpu.package, cpu.group, cpu.core, 0]
    });
    cpus.chunk_by(|a, b| a.0 == b.0)
        .flat_map(|rank| {
            take_turns(
                rank.chunk_by(|a, b| a.1.package == b.1.package)
                    .map(|package| {
                        take_turns(
                            package
                                .chunk_by(|a, b| a.1.group == b.1.group)
                                .map(<[_]>::to_vec),
                        )
                    }),
            )
        })
        .map(|(_, cpu)| cpu.id)
        .collect()
}

/// The usable CPUs, each with its rank among the usable CPUs of its core: a
/// core whose first thread is masked out is still worth a thread of its own.
fn ranked(topology: &Topology) -> Vec<(usize, Cpu)> {
    let mut cpus = topology.usable().to_vec();
    sort_by(&mut cpus, |cpu| [cpu.core, cpu.smt, 0, 0, 0]);
    cpus.chunk_by(|a, b| a.core == b.core)
        .flat_map(|core| core.iter().copied().enumerate())
        .collect()
}

/// Puts `items` in the order of their keys; those with equal keys stay as they are.
///
/// One sort for all: the standard library's takes as long to compile, each time that it is used for
/// another type, as most of this folder.
pub(super) fn sort_by<T: Copy>(items: &mut [T], key: impl Fn(&T) -> [usize; 5]) {
    let mut keys: Vec<_> = (items.iter().map(key).enumerate())
        .map(|(index, key)| (key, index))
        .collect();
    in_order(&mut keys);
    let sorted: Vec<T> = keys.iter().map(|&(_, index)| items[index]).collect();
    items.copy_from_slice(&sorted);
}

fn in_order(keys: &mut [([usize; 5], usize)]) {
    keys.sort_unstable();
}

/// The first of each list, then the second of each that has one, and so on.
fn take_turns<T>(lists: impl Iterator<Item = Vec<T>>) -> Vec<T> {
    let mut lists: Vec<_> = lists.map(Vec::into_iter).collect();
    let mut merged = Vec::new();
    while !lists.is_empty() {
        lists.retain_mut(|list| match list.next() {
            Some(item) => {
                merged.push(item);
                true
            }
            None => false,
        });
    }
    merged
}
