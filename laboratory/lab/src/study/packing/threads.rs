//! Threads of the operating system that meet at a barrier.

use super::case::PackingCase;
use super::memory::Wanting;
use super::run::Desk;
use super::world::PackingWorld;
use crate::threads::start_ranks;
use manycore_programs::barrier::{Barrier, BarrierVisitor, with_barrier};
use manycore_programs::spmd::{Member, Part, Ranked, Sums};
use manycore_team::barrier::Placement;
use std::sync::Arc;

/// Runs the program with a thread for each rank (a part of the program).
pub(super) fn run<W: PackingWorld>(
    case: &PackingCase,
    desk: &Arc<Desk<W>>,
    cpus: &[usize],
) -> anyhow::Result<()> {
    let packed = Packed { case, desk, cpus };
    with_barrier::<W, _>(&case.barrier, packed)?
}

struct Packed<'a, W: PackingWorld> {
    case: &'a PackingCase,
    desk: &'a Arc<Desk<W>>,
    cpus: &'a [usize],
}

struct PackedTeam<W: PackingWorld, B> {
    desk: Arc<Desk<W>>,
    barrier: B,
    sums: Sums,
}

impl<W: PackingWorld> BarrierVisitor<W> for Packed<'_, W> {
    type Output = anyhow::Result<()>;

    fn visit<B: Barrier<W>>(self) -> Self::Output {
        let Self { case, desk, cpus } = self;
        let (first, later) = (&case.turns[0], &case.turns[1..]);
        let placement = Placement::flat(desk.ranks).on_cores(first.cores);
        let team = Arc::new(PackedTeam::<W, B> {
            desk: Arc::clone(desk),
            barrier: B::new(&placement),
            sums: Sums::new(desk.program.grains()),
        });
        let bound = |rank: usize| case.mode.cpus(rank, &cpus[..first.cores]).to_vec();
        let threads = start_ranks::<W, _>(0..desk.ranks, bound, |rank| {
            let team = Arc::clone(&team);
            move || team.member(rank)
        });
        let threads: Vec<W::Thread> = threads.collect::<anyhow::Result<_>>()?;
        let directed = desk.direct(later, |cores| {
            let mut all = threads.iter().enumerate();
            all.try_for_each(|(rank, thread)| {
                Ok(W::confine(thread, case.mode.cpus(rank, &cpus[..cores]))?)
            })
        });
        threads.into_iter().for_each(W::join);
        directed
    }
}

impl<W: PackingWorld, B: Barrier<W>> PackedTeam<W, B> {
    fn member(&self, rank: usize) {
        let size = self.desk.ranks;
        // SAFETY: the barrier was made for `size` members, and each thread has a different rank.
        let mut part = unsafe { Member::<W, B>::new(&self.barrier, rank, size) };
        // After this meeting, which is not measured, all threads have started.
        part.meet("begin");
        let mut part = Wanting::new(&mut part, self.desk.memory.as_deref());
        // SAFETY: all ranks get the team's sums, and run the same program.
        let mut ranked = unsafe { Ranked::<W>::new(&mut part, &self.sums) };
        self.desk.work(rank, &mut ranked);
    }
}
