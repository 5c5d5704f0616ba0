//! One run of a program. The code is the same on this host and on a simulated machine.

use super::case::{PackingCase, Turn};
use super::extent::Extent;
use super::memory::Memory;
use super::mode::Mode;
use super::noted::{Noted, Notes};
use super::world::PackingWorld;
use super::{follow, threads};
use anyhow::{Context, anyhow, bail};
use manycore_platform::{Atomic, Futex, Ordering};
use manycore_programs::spmd::{Program, Verified, Worksharing};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(Debug)]
pub(super) struct PackingRan {
    pub(super) notes: Notes,
    pub(super) answer: String,
}

pub(super) struct Prepared<W: PackingWorld> {
    pub(super) program: Box<dyn Program>,
    /// The part of the program's run that counts.
    pub(super) extent: Extent,
    /// The memory that the program's ranks (threads) share, if the program declares bytes.
    pub(super) memory: Option<Arc<Memory<W>>>,
}

/// Runs the case's program on the first of `cpus`.
pub(super) fn run<W: PackingWorld>(
    case: &PackingCase,
    ready: Prepared<W>,
    cpus: &[usize],
) -> anyhow::Result<PackingRan> {
    let desk = Arc::new(Desk {
        program: ready.program,
        extent: ready.extent,
        memory: ready.memory,
        cores: cpus.len(),
        ranks: case.mode.ranks(case.threads, case.turns[0].cores),
        books: Mutex::default(),
        left: Atomic::new(1),
    });
    match case.mode {
        Mode::Tr | Mode::Tp | Mode::TpPinned => threads::run::<W>(case, &desk, cpus)?,
        Mode::Elastic | Mode::Wrap => follow::run::<W>(case, &desk, cpus)?,
    }
    let books = std::mem::take(&mut *desk.books());
    if books.done < desk.callers(case.mode) {
        bail!("a rank panicked");
    }
    let Verified(answer) = desk.program.verify().map_err(|wrong| anyhow!("{wrong}"))?;
    Ok(PackingRan {
        notes: books.notes,
        answer,
    })
}

/// The data that all threads of the program share.
pub(super) struct Desk<W: PackingWorld> {
    pub(super) program: Box<dyn Program>,
    extent: Extent,
    pub(super) memory: Option<Arc<Memory<W>>>,
    /// The most cores that the program has at any time.
    cores: usize,
    pub(super) ranks: usize,
    books: Mutex<PackingBooks>,
    /// 1 until the program ends, then 0. [`Desk::direct`] sleeps on this word.
    left: W::Futex,
}

/// The notes of the ranks, which take no simulated time.
#[derive(Default)]
struct PackingBooks {
    notes: Notes,
    /// Calls of [`Desk::work`] that have ended.
    done: usize,
}

impl<W: PackingWorld> Desk<W> {
    fn books(&self) -> MutexGuard<'_, PackingBooks> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of calls of [`work`](Self::work).
    fn callers(&self, mode: Mode) -> usize {
        match mode {
            Mode::Elastic => 1,
            _ => self.ranks,
        }
    }

    /// Runs the part of a rank, or all loops. Each rank, or the one thread that runs the loops, calls this once.
    pub(super) fn work(&self, rank: usize, sharing: &mut dyn Worksharing) {
        let mut notes = None;
        if rank == 0 {
            let mut noted = Noted::<W>::new(sharing, &self.extent, self.cores);
            // SAFETY: each rank of its only team, or the thread that runs the loops, runs the desk's program once. The
            // program is verified after all these threads have been joined.
            unsafe { self.program.run(&mut noted) };
            notes = Some(noted.finish());
        } else {
            // SAFETY: as above.
            unsafe { self.program.run(sharing) };
        }
        let mut books = self.books();
        books.done += 1;
        if let Some(notes) = notes {
            books.notes = notes;
            drop(books);
            // Relaxed: only the number matters, and the join of the threads orders the data.
            self.left.swap(0, Ordering::Relaxed);
            self.left.wake(u32::MAX);
        }
    }

    /// Gives the program the cores of each turn, at the turn's time, while it runs.
    pub(super) fn direct(
        &self,
        turns: &[Turn],
        mut give: impl FnMut(usize) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let begin = W::now();
        for turn in turns {
            let at = begin + W::duration_to_ticks(Duration::from_nanos(turn.at_ns));
            loop {
                // Relaxed: only the number matters. If the word becomes 0 after this load, either `wait` finds that it
                // differs from `left` and does not sleep, or the wake-up ends the sleep.
                let left = Atomic::load(&self.left, Ordering::Relaxed);
                let now = W::now();
                if left == 0 {
                    return Ok(());
                } else if now >= at {
                    break;
                }
                let rest = W::ticks_to_ns(at - now).ceil() as u64;
                self.left.wait(left, Some(Duration::from_nanos(rest)));
            }
            give(turn.cores).context("other cores")?;
        }
        Ok(())
    }
}
