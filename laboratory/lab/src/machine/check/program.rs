//! The programs of the check. Each runs on this host and on a simulated machine.

use crate::machine::{probe, team};
use manycore::Builder;
use manycore_chip::Broadcast;
use manycore_platform::{Atomic, CachePadded, Ordering::Relaxed, Platform};
use manycore_programs::barrier::{Barrier, BarrierVisitor, with_barrier};
use manycore_programs::fork::{Fibonacci, Kernel};
use manycore_programs::lock::{Lock, McsLock, TicketLock};
use manycore_programs::{Folding, Load, TaskSize, UnitTask};
use manycore_team::barrier::Placement;
use serde::Serialize;
use std::io;

/// Episodes (waits of all threads) of a barrier in one sample.
const EPISODES: u32 = 300;
/// Iterations of the unbalanced loop, and the unit tasks (`manycore_programs::UnitTask`) of the longest one.
const ITERATIONS: usize = 1024;
const LONGEST: usize = 16;
/// The Fibonacci number.
const FIBONACCI: u32 = 22;

/// A program of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Program {
    CasLoop,
    TicketLock,
    McsLock,
    Barrier(&'static str),
    Loop,
    Fibonacci,
}

impl Program {
    pub(super) const ALL: [Self; 10] = [
        Self::CasLoop,
        Self::TicketLock,
        Self::McsLock,
        Self::Barrier("sense"),
        Self::Barrier("dissemination"),
        Self::Barrier("tournament"),
        Self::Barrier("combining"),
        Self::Barrier("mcs"),
        Self::Loop,
        Self::Fibonacci,
    ];

    pub(super) fn name(self) -> String {
        match self {
            Self::CasLoop => "counter by compare-and-swap".into(),
            Self::TicketLock => "ticket lock".into(),
            Self::McsLock => "MCS lock".into(),
            Self::Barrier(name) => format!("barrier {name}"),
            Self::Loop => "unbalanced loop".into(),
            Self::Fibonacci => format!("fib {FIBONACCI} by joins"),
        }
    }

    /// Runs the program on a thread for each of `places`. Returns the nanoseconds of one operation, of one episode,
    /// or of the whole program.
    pub(super) fn run<P: Broadcast>(self, places: &[Vec<usize>]) -> io::Result<f64> {
        match self {
            Self::CasLoop => increments_by_cas::<P>(places),
            Self::TicketLock => locked::<P, TicketLock<P>>(places),
            Self::McsLock => locked::<P, McsLock<P>>(places),
            Self::Barrier(name) => {
                with_barrier::<P, _>(name, Episodes(places)).map_err(io::Error::other)?
            }
            Self::Loop => unbalanced::<P>(places),
            Self::Fibonacci => fibonacci::<P>(places),
        }
    }
}

fn increments_by_cas<P: Platform>(places: &[Vec<usize>]) -> io::Result<f64> {
    let word = CachePadded::new(P::AtomicU64::new(0));
    probe::repeated::<P>(places, move |_| {
        let mut seen = word.load(Relaxed);
        while let Err(now) = word.compare_exchange(seen, seen + 1, Relaxed, Relaxed) {
            seen = now;
        }
    })
}

/// Several threads take a lock. The critical section adds to a counter on another line.
fn locked<P: Platform, L: Lock<P>>(places: &[Vec<usize>]) -> io::Result<f64> {
    let lock = L::new(places.len());
    let count = CachePadded::new(P::AtomicU64::new(0));
    probe::repeated::<P>(places, move |rank| {
        lock.with(rank, || count.store(count.load(Relaxed) + 1, Relaxed));
    })
}

struct Episodes<'a>(&'a [Vec<usize>]);

impl<P: Broadcast> BarrierVisitor<P> for Episodes<'_> {
    type Output = io::Result<f64>;

    fn visit<B: Barrier<P>>(self) -> io::Result<f64> {
        let barrier = B::new(&Placement::flat(self.0.len()));
        let times = team::run_on::<P, _>(self.0, move |rank| {
            let mut member = barrier.member(rank);
            barrier.wait(&mut member);
            let start = P::now();
            (0..EPISODES).for_each(|_| barrier.wait(&mut member));
            P::ticks_to_ns(P::now().saturating_sub(start)) / f64::from(EPISODES)
        })?;
        Ok(times[0])
    }
}

/// Runs `work` on a pool twice from one thread on the first place. Returns the nanoseconds of the second run.
fn on_pool<P: Platform>(
    places: &[Vec<usize>],
    mut work: impl FnMut(&manycore::Pool<P>) + Send + Sync + Clone + 'static,
) -> io::Result<f64> {
    let pool = Builder::<P>::on_platform()
        .build_on(places.len(), 1, places.to_vec())
        .map_err(io::Error::other)?;
    work(&pool);
    let work = std::sync::Mutex::new(Some(work));
    let times = team::run_on::<P, _>(&places[..1], move |_| {
        let taken = work.lock().ok().and_then(|mut work| work.take());
        let mut work = taken.expect("one thread takes it");
        work(&pool);
        let start = P::now();
        work(&pool);
        P::ticks_to_ns(P::now().saturating_sub(start))
    })?;
    Ok(times[0])
}

fn unbalanced<P: Platform>(places: &[Vec<usize>]) -> io::Result<f64> {
    let size = TaskSize {
        read: 64,
        write: 64,
        comp: 64,
    };
    let task = UnitTask::new(ITERATIONS, size, Folding::Folded, 1).map_err(io::Error::other)?;
    let task = std::sync::Arc::new(task);
    on_pool::<P>(places, move |pool| {
        pool.parallel_for(0..ITERATIONS, |index| {
            let times = 1 + index * LONGEST / ITERATIONS;
            (0..times).for_each(|_| task.run::<P>(index));
        });
    })
}

fn fibonacci<P: Platform>(places: &[Vec<usize>]) -> io::Result<f64> {
    on_pool::<P>(places, |pool| {
        let mut kernel = Fibonacci::new(FIBONACCI);
        pool.install(|| kernel.run(pool));
        kernel.verify().expect("the Fibonacci number");
    })
}
