//! Binds the members of a team to cores.

use crate::study::chip::Chip;
use crate::threads::start_ranks;
use manycore::topology::Topology;
use manycore_platform::Platform;
use manycore_team::barrier::Placement;

/// The CPUs of each rank (thread of a team), and the placement of the ranks for a barrier.
#[derive(Clone, Debug)]
pub(in crate::study) struct Binding {
    /// The CPUs of each rank. An empty list stands for any CPU.
    cpus: Vec<Vec<usize>>,
    pub(in crate::study) placement: Placement,
    /// Whether the caller is rank 0.
    joined_by_caller: bool,
}

impl Binding {
    /// Binds each rank to its own core. Ranks fill one core group after the other.
    pub(in crate::study) fn on_chip(chip: &Chip, ranks: usize) -> Self {
        let groups = (0..ranks).map(|rank| chip.group_of(rank)).collect();
        Self {
            cpus: (0..ranks).map(|rank| vec![chip.on_core(rank)]).collect(),
            placement: Placement::grouped(groups),
            // The caller runs on core 0 already. If two threads shared this core, the clock of every core would tick
            // until a thread sleeps, and once more. Each tick interrupts a computation.
            joined_by_caller: true,
        }
    }

    /// Gives each rank a usable CPU, near CPUs first. If there are more ranks than CPUs, ranks share them. Without
    /// `pinned`, the system places the ranks.
    pub(in crate::study) fn on_host(topology: &Topology, ranks: usize, pinned: bool) -> Self {
        let order = topology.compact_order();
        let cpus: Vec<usize> = order.iter().copied().cycle().take(ranks).collect();
        let placement = match pinned {
            true => Placement::grouped(groups(topology, &cpus)),
            false => Placement::flat(ranks),
        };
        let bound = |&cpu: &usize| if pinned { vec![cpu] } else { Vec::new() };
        Self {
            cpus: cpus.iter().map(bound).collect(),
            placement: placement.on_cores(ranks.min(order.len())),
            joined_by_caller: false,
        }
    }

    /// The size of the team.
    pub(in crate::study) fn ranks(&self) -> usize {
        self.cpus.len()
    }

    /// For each rank, runs the function that `member` makes on a separate thread, and waits for all ranks. Reserves
    /// space for `room` threads, since the layout of a simulated machine's memory changes its behaviour.
    pub(in crate::study) fn run<P: Platform, F: FnOnce() + Send + 'static>(
        &self,
        room: usize,
        mut member: impl FnMut(usize) -> F,
    ) -> anyhow::Result<()> {
        let own = self.joined_by_caller.then(|| member(0));
        let others = usize::from(self.joined_by_caller)..self.ranks();
        let cpus = |rank: usize| self.cpus[rank].clone();
        let mut threads = Vec::with_capacity(room);
        for thread in start_ranks::<P, F>(others, cpus, member) {
            threads.push(thread?);
        }
        if let Some(own) = own {
            own();
        }
        threads.into_iter().for_each(P::join);
        Ok(())
    }
}

/// The core group of each CPU. Groups are numbered by first occurrence.
fn groups(topology: &Topology, cpus: &[usize]) -> Vec<usize> {
    let mut seen = Vec::new();
    let number = |&cpu: &usize| {
        let mut all = topology.core_groups().iter();
        let group = all.position(|group| group.cpus.contains(&cpu));
        let known = seen.iter().position(|&known| known == group);
        known.unwrap_or_else(|| {
            seen.push(group);
            seen.len() - 1
        })
    };
    cpus.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_chip::config::Config;

    #[test]
    fn core_groups_are_filled_one_after_the_other() {
        let chip = Chip(Config::preset("kunpeng-920").unwrap());
        let binding = Binding::on_chip(&chip, 33);
        assert_eq!(binding.cpus[32], [32]);
        let placement = binding.placement;
        assert_eq!((placement.members(), placement.groups()), (33, 2));
        assert_eq!((placement.group(31), placement.group(32)), (0, 1));
    }

    #[test]
    fn more_ranks_than_cpus_share_them() {
        let topology = Topology::detect();
        let cpus = topology.usable().len();
        let binding = Binding::on_host(&topology, cpus + 1, true);
        assert!(binding.placement.is_oversubscribed());
        assert_eq!(binding.cpus[0], binding.cpus[cpus]);
        let binding = Binding::on_host(&topology, cpus, false);
        assert!(!binding.placement.is_oversubscribed());
        assert!(binding.cpus.iter().all(Vec::is_empty));
    }
}
