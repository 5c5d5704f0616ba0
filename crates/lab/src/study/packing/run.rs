//! One run: the same code here and on a simulated machine.

use super::case::{Case, Turn};
use super::mode::Mode;
use super::noted::{Noted, Notes};
use super::world::World;
use anyhow::{Context, anyhow, bail};
use manycore::barrier::{Barrier, BarrierVisitor, Placement, with_barrier};
use manycore_kernels::spmd::{Member, Part, Program, Ranked, Sums, Verified};
use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, ThreadSpec};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What came of it.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) notes: Notes,
    /// The verified answer.
    pub(super) answer: String,
}

/// Runs the case's program; the cores are `cpus`, the first ones first.
pub(super) fn run<W: World>(
    case: &Case,
    program: Arc<dyn Program>,
    cpus: &[usize],
) -> anyhow::Result<Ran> {
    let team = Packed {
        case,
        program: Arc::clone(&program),
        cpus,
    };
    let books = with_barrier::<W, _>(&case.barrier, team)??;
    let Verified(answer) = program.verify().map_err(|wrong| anyhow!("{wrong}"))?;
    Ok(Ran {
        notes: books.notes,
        answer,
    })
}

/// What the ranks write down, outside of simulated time.
#[derive(Default)]
struct Books {
    /// Rank 0's.
    notes: Notes,
    /// Ranks that have come to the end.
    done: usize,
}

/// A team of threads.
struct Packed<'a> {
    case: &'a Case,
    program: Arc<dyn Program>,
    cpus: &'a [usize],
}

/// What its threads share.
struct Team<W: World, B> {
    barrier: B,
    size: usize,
    /// Barriers until it has settled.
    unsettled: usize,
    /// The most that it is given.
    cores: usize,
    program: Arc<dyn Program>,
    sums: Sums,
    books: Mutex<Books>,
    /// Ranks that have not ended: what the director sleeps on.
    left: W::Futex,
}

impl<W: World> BarrierVisitor<W> for Packed<'_> {
    type Output = anyhow::Result<Books>;

    fn visit<B: Barrier<W>>(self) -> Self::Output {
        let Self { case, cpus, .. } = self;
        let (first, later) = (&case.turns[0], &case.turns[1..]);
        let size = case.mode.ranks(case.threads, first.cores);
        let placement = Placement::flat(size).on_cores(first.cores);
        let team = Arc::new(Team::<W, B> {
            barrier: B::new(&placement),
            size,
            unsettled: case.unsettled(),
            cores: cpus.len(),
            sums: Sums::new(self.program.grains()),
            program: self.program,
            books: Mutex::default(),
            left: Atomic::new(size as u32),
        });
        let spawn = |rank: usize| {
            let team = Arc::clone(&team);
            let spec = ThreadSpec {
                name: format!("rank {rank}"),
                cpus: case.mode.cpus(rank, &cpus[..first.cores]).to_vec(),
                ..ThreadSpec::default()
            };
            // Those that have begun would wait for ever: the process reports that and
            // ends.
            W::spawn(spec, Box::new(move || team.member(rank))).context("a rank's thread")
        };
        let threads: Vec<W::Thread> = (0..size).map(spawn).collect::<Result<_, _>>()?;
        let directed = team.direct(&threads, case.mode, later, cpus);
        threads.into_iter().for_each(W::join);
        directed?;
        let books = std::mem::take(&mut *team.books());
        if books.done < size {
            bail!("a rank panicked");
        }
        Ok(books)
    }
}

impl<W: World, B: Barrier<W>> Team<W, B> {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does.
    fn member(&self, rank: usize) {
        // SAFETY: the barrier was made for `size`, and each thread has a rank of its own.
        let mut part = unsafe { Member::<W, B>::new(&self.barrier, rank, self.size) };
        // Once for nothing: after it all are here.
        part.meet("begin");
        // SAFETY: all ranks are given the team's.
        let mut ranked = unsafe { Ranked::<W>::new(&mut part, &self.sums) };
        let mut notes = None;
        if rank == 0 {
            let mut noted = Noted::<W>::new(&mut ranked, self.unsettled, self.cores);
            self.program.run(&mut noted);
            notes = Some(noted.finish());
        } else {
            self.program.run(&mut ranked);
        }
        let mut books = self.books();
        books.done += 1;
        if let Some(notes) = notes {
            books.notes = notes;
        }
        drop(books);
        // Release: nobody relies on it, `join` orders what was written.
        if self.left.fetch_sub(1, Ordering::Release) == 1 {
            self.left.wake(u32::MAX);
        }
    }

    /// Gives the program other cores, each at its time, as long as it runs.
    fn direct(
        &self,
        threads: &[W::Thread],
        mode: Mode,
        turns: &[Turn],
        cpus: &[usize],
    ) -> anyhow::Result<()> {
        let begin = W::now();
        for turn in turns {
            let at = begin + W::duration_to_ticks(Duration::from_nanos(turn.at_ns));
            loop {
                // Relaxed: a number. One that reaches 0 after this look differs from
                // `left`, so the sleep ends at once or is woken.
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
            for (rank, thread) in threads.iter().enumerate() {
                let may = mode.cpus(rank, &cpus[..turn.cores]);
                W::confine(thread, may).context("a rank's new cores")?;
            }
        }
        Ok(())
    }
}
