//! One run of a team, by the same code on this host and on a simulated machine.

use super::log::Log;
use super::program::{Spmd, TeamProgram};
use crate::study::trial::Binding;
use anyhow::anyhow;
use manycore_chip::Broadcast;
use manycore_platform::Platform;
use manycore_programs::barrier::{Barrier, BarrierVisitor, with_barrier};
use std::sync::{Arc, Mutex};

#[derive(Clone, Debug)]
pub(super) struct TeamRan {
    /// The log of each rank (member).
    pub(super) logs: Vec<Log>,
    pub(super) answer: Option<String>,
}

/// Episodes (waits of the team) that a log has room for, so that it does not grow during timing.
const ROOM: usize = 4096;

/// Waits of each member before its program.
pub(super) const WARM: usize = 2;

/// Runs a team. An instruction takes `cpi` cycles.
pub(super) fn run<P: Broadcast>(
    barrier: &str,
    binding: &Binding,
    program: TeamProgram,
    cpi: f64,
) -> anyhow::Result<TeamRan> {
    let team = SpmdTeam {
        binding,
        program,
        cpi,
    };
    with_barrier::<P, _>(barrier, team)?
}

struct SpmdTeam<'a> {
    binding: &'a Binding,
    program: TeamProgram,
    cpi: f64,
}

struct SpmdShared<B> {
    barrier: B,
    program: Box<dyn Spmd>,
    logs: Mutex<Vec<Option<Log>>>,
}

impl<P: Platform> BarrierVisitor<P> for SpmdTeam<'_> {
    type Output = anyhow::Result<TeamRan>;

    fn visit<B: Barrier<P>>(self) -> Self::Output {
        let ranks = self.binding.ranks();
        let shared = Arc::new(SpmdShared {
            barrier: B::new(&self.binding.placement),
            program: self.program.prepare::<P>(ranks, self.cpi)?,
            logs: Mutex::new(vec![None; ranks]),
        });
        self.binding.run::<P, _>(ranks - 1, |rank| {
            let shared = Arc::clone(&shared);
            move || shared.member::<P>(rank)
        })?;
        let mut logs = shared
            .logs
            .lock()
            .unwrap_or_else(|error| error.into_inner());
        let logs = logs
            .iter_mut()
            .enumerate()
            .map(|(rank, log)| log.take().ok_or_else(|| anyhow!("rank {rank} panicked")));
        Ok(TeamRan {
            logs: logs.collect::<anyhow::Result<_>>()?,
            answer: shared.program.answer()?,
        })
    }
}

impl<B> SpmdShared<B> {
    fn member<P: Platform>(&self, rank: usize)
    where
        B: Barrier<P>,
    {
        let mut member = self.barrier.member(rank);
        let mut waits = Vec::with_capacity(ROOM);
        // After the first wait all members have started and have the barrier's cache lines, but they may leave one by
        // one. They leave the second in step.
        for _ in 0..WARM {
            self.barrier.wait(&mut member);
        }
        let begin = P::now();
        self.program.run(rank, &mut || {
            let arrived = P::now();
            self.barrier.wait(&mut member);
            waits.push((arrived, P::now()));
        });
        let log = Log {
            begin,
            end: P::now(),
            waits,
        };
        let mut logs = self.logs.lock().unwrap_or_else(|error| error.into_inner());
        logs[rank] = Some(log);
    }
}
