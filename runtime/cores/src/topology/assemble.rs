//! Builds a strictly nested hierarchy (package, node, core group, core, CPU) from separate facts about each CPU.

use super::cgroup::GroupLimits;
use super::cpuset::CpuSet;
use super::order::sort_by;
use super::sysfs::{CacheFacts, Facts};
use super::{Cache, CoreGroup, Cpu, Topology};

/// The place of a CPU. If CPUs are sorted by place, the CPUs of a core are adjacent, and so are the cores of a group,
/// the groups of a node and the nodes of a package.
#[derive(Clone, Copy)]
struct CpuLocation<'a> {
    package: i64,
    node: usize,
    /// The first CPU that shares the last-level cache. `None` if no cache is known to be shared. In that case the
    /// whole node is one group.
    cache: Option<usize>,
    /// The first CPU of the core.
    core: usize,
    id: usize,
    facts: &'a Facts,
}

impl<'a> CpuLocation<'a> {
    fn of(id: usize, facts: &'a Facts) -> Self {
        let core = facts.core.as_ref().and_then(CpuSet::first);
        let cache = facts.cache.as_ref().filter(|cache| is_shared(cache, facts));
        Self {
            package: facts.package.unwrap_or(0),
            node: facts.node.unwrap_or(0),
            cache: cache.and_then(|cache| cache.shared.first()),
            core: core.unwrap_or(id),
            id,
            facts,
        }
    }

    fn key(&self) -> [usize; 5] {
        // The kernel gives an unknown package the number -1. It comes first.
        let package = usize::try_from(self.package.saturating_add(1)).unwrap_or(0);
        let cache = self.cache.map_or(0, |first| first + 1);
        [package, self.node, cache, self.core, self.id]
    }

    fn group(self) -> (i64, usize, Option<usize>) {
        (self.package, self.node, self.cache)
    }
}

/// Whether `cache` is the cache of a core group. If a core has a second-level cache alone, the system does not report
/// the shared cache (Arm servers with a system-level cache, many virtual machines). A third-level cache may be one
/// core's own (EPYC 72F3).
fn is_shared(cache: &CacheFacts, facts: &Facts) -> bool {
    let alone = match &facts.core {
        Some(core) => cache.shared.is_subset(core),
        None => cache.shared.len() == 1,
    };
    cache.level >= 3 || !alone
}

/// Whether the facts are about the machine of a thread with this mask, which the kernel has reported itself. The kernel
/// reports only CPUs that are online. If `/sys` shows other CPUs in a container (lxcfs numbers the CPUs of a cpuset
/// from 0), nothing is known about the real CPUs.
pub(super) fn are_of(facts: &[(usize, Facts)], mask: &CpuSet) -> bool {
    let is_known = |cpu: usize| facts.binary_search_by_key(&cpu, |&(id, _)| id).is_ok();
    mask.iter().all(is_known)
}

/// Builds the topology from `facts`, which has at least one CPU.
pub(super) fn assemble(
    facts: &[(usize, Facts)],
    mask: Option<CpuSet>,
    limits: GroupLimits,
) -> Topology {
    let mut places = Vec::with_capacity(facts.len());
    for (id, facts) in facts {
        places.push(CpuLocation::of(*id, facts));
    }
    sort_by(&mut places, &|place: &CpuLocation<'_>| place.key());

    let mut cpus: Vec<Cpu> = Vec::with_capacity(places.len());
    let mut groups: Vec<CoreGroup> = Vec::new();
    for (index, place) in places.iter().enumerate() {
        let before = index.checked_sub(1).map(|i| (places[i], cpus[i]));
        // If this CPU opens a new unit, this returns the next number. Otherwise it returns the number of the unit.
        let number = |get: fn(&Cpu) -> usize,
                      same: fn(CpuLocation<'_>, CpuLocation<'_>) -> bool| {
            match &before {
                None => 0,
                Some((other, cpu)) => get(cpu) + usize::from(!same(*other, *place)),
            }
        };
        let mut cpu = Cpu {
            id: place.id,
            smt: 0,
            core: number(
                |c| c.core,
                |a, b| a.group() == b.group() && a.core == b.core,
            ),
            group: number(|c| c.group, |a, b| a.group() == b.group()),
            node: place.node,
            package: number(|c| c.package, |a, b| a.package == b.package),
        };
        if let Some((_, sibling)) = before.filter(|(_, other)| other.core == cpu.core) {
            cpu.smt = sibling.smt + 1;
        }
        if cpu.group == groups.len() {
            groups.push(CoreGroup {
                cpus: Vec::new(),
                node: cpu.node,
                package: cpu.package,
                cache: place.cache.and(cache(place.facts)),
            });
        }
        groups[cpu.group].cpus.push(cpu.id);
        cpus.push(cpu);
    }
    for group in &mut groups {
        sort_by(&mut group.cpus, &|&cpu| [cpu, 0, 0, 0, 0]);
    }
    sort_by(&mut cpus, &|cpu| [cpu.id, 0, 0, 0, 0]);

    let usable = usable(&cpus, mask, limits.cpuset);
    Topology {
        cpus,
        usable,
        groups,
        quota: limits.quota,
        described: facts.iter().any(|(_, facts)| is_described(facts)),
    }
}

fn is_described(facts: &Facts) -> bool {
    facts.package.is_some() || facts.core.is_some() || facts.cache.is_some()
}

fn cache(facts: &Facts) -> Option<Cache> {
    let cache = facts.cache.as_ref()?;
    Some(Cache {
        level: cache.level,
        bytes: cache.bytes,
    })
}

/// The CPUs in both the mask and the cpuset. This thread runs somewhere, so a limit that leaves no CPU describes
/// another machine (a container with a foreign `/sys`), and is ignored.
fn usable(cpus: &[Cpu], mask: Option<CpuSet>, cpuset: Option<CpuSet>) -> Vec<Cpu> {
    let mut usable = cpus.to_vec();
    for limit in [mask, cpuset].into_iter().flatten() {
        if usable.iter().any(|cpu| limit.contains(cpu.id)) {
            usable.retain(|cpu| limit.contains(cpu.id));
        }
    }
    usable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_a_container_are_not_those_of_the_machine() {
        let facts = |cpus: &[usize]| -> Vec<_> {
            let facts = cpus.iter().map(|&cpu| (cpu, Facts::default()));
            facts.collect()
        };
        let mask = |cpus: &[usize]| CpuSet::from(cpus.to_vec());
        assert!(are_of(&facts(&[0, 1, 2, 3]), &mask(&[0, 1, 2, 3])));
        assert!(are_of(&facts(&[0, 1, 2, 3]), &mask(&[1, 3])));
        // The container has CPUs 4 and 5, or 1 and 2, or more than the files show.
        assert!(!are_of(&facts(&[0, 1]), &mask(&[4, 5])));
        assert!(!are_of(&facts(&[0, 1]), &mask(&[1, 2])));
        assert!(!are_of(&facts(&[0, 1]), &mask(&[0, 1, 2, 3])));
    }
}
