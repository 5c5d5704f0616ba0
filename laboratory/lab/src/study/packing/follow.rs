//! Runtimes that follow an allotment (the cores that they may use now): parallel loops on a pool, and ranks (the
//! program's threads) at user level.

use super::case::PackingCase;
use super::memory::Wanting;
use super::mode::Mode;
use super::run::Desk;
use super::world::PackingWorld;
use crate::threads::start;
use anyhow::{Context, bail};
use manycore::Builder;
use manycore::elastic::Allotment;
use manycore_programs::spmd::{Looped, Ranked, Sums};
use manycore_team::{Rank, Stackful, Team};
use std::sync::{Arc, Mutex, PoisonError};

/// Runs the program with one worker for each of `cpus`, bound to that CPU.
pub(super) fn run<W: PackingWorld>(
    case: &PackingCase,
    desk: &Arc<Desk<W>>,
    cpus: &[usize],
) -> anyhow::Result<()> {
    let (first, later) = (&case.turns[0], &case.turns[1..]);
    let allotment = Allotment::<W>::new(first.cores);
    let failed = Arc::new(Mutex::new(None));
    let body = {
        let (desk, failed) = (Arc::clone(desk), Arc::clone(&failed));
        let (mode, allotment) = (case.mode, allotment.clone());
        let cpus: Vec<Vec<usize>> = cpus.iter().map(|&cpu| vec![cpu]).collect();
        move || {
            let ran = match mode {
                Mode::Wrap => wrapped(&desk, cpus, allotment),
                _ => looped(&desk, cpus, &allotment),
            };
            if let Err(error) = ran {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        }
    };
    let thread = start::<W>("worker 0".into(), vec![cpus[0]], body).context("worker 0")?;
    let directed = desk.direct(later, |cores| {
        allotment.set(cores);
        Ok(())
    });
    W::join(thread);
    let failed = failed.lock().unwrap_or_else(PoisonError::into_inner).take();
    match failed {
        Some(error) => bail!("{error}"),
        None => directed,
    }
}

/// Runs the program as parallel loops.
fn looped<W: PackingWorld>(
    desk: &Desk<W>,
    cpus: Vec<Vec<usize>>,
    allotment: &Allotment<W>,
) -> anyhow::Result<()> {
    let builder = Builder::<W>::on_platform().follow(allotment);
    let pool = builder.build_on(cpus.len(), 1, cpus)?;
    desk.work(0, &mut Looped::<W>::on(&pool));
    Ok(())
}

/// Runs the program as ranks, which take turns on the workers.
fn wrapped<W: PackingWorld>(
    desk: &Desk<W>,
    cpus: Vec<Vec<usize>>,
    allotment: Allotment<W>,
) -> anyhow::Result<()> {
    let mut team = Team::builder(cpus.len(), allotment).cpus(cpus).build()?;
    let sums = Sums::new(desk.program.grains());
    team.run(desk.ranks, |rank| {
        let sums = &sums;
        let program = move |seat: &mut Rank<W>| {
            let mut part = Wanting::new(seat, desk.memory.as_deref());
            // SAFETY: all ranks get the same sums, and run the same program.
            let mut ranked = unsafe { Ranked::<W>::new(&mut part, sums) };
            desk.work(rank, &mut ranked);
        };
        // SAFETY: at places where programs share a phase or meet, they hold no lock, no value that is not `Send`, and
        // no address of a thread-local variable. The desk locks its notes after the last such place.
        unsafe { Stackful::new(program) }
    });
    Ok(())
}
