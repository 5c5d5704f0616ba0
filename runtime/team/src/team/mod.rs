//! Teams of a fixed number of ranks on a changing number of workers.
//!
//! The parts of a program that meet at barriers are its *ranks*, and their number is fixed. A
//! *worker* is a thread that runs ranks, on a core of its own. `README.md` in this folder describes
//! the protocol and the division of ranks among workers.

mod body;
mod builder;
#[cfg(test)]
mod checked;
mod cursor;
mod error;
mod estimate;
mod exchange;
pub(crate) mod plan;
pub(crate) mod planner;
mod policy;
mod rank;
mod rank_cell;
mod rank_local;
mod report;
mod run;
mod site;
mod stackful;
mod words;
mod worker_run;
mod workers;

pub use body::{Body, Step, Turn};
pub use builder::TeamBuilder;
pub use cursor::Cursor;
pub use error::BuildError;
pub use policy::Policy;
pub use rank::Rank;
pub use rank_local::RankLocal;
pub use report::Report;
pub use site::Site;
pub use stackful::Stackful;

use super::fiber::Stacks;
use manycore_cores::elastic::Allotment;
use manycore_cores::sync::let_go;
use manycore_platform::{CachePadded, Native, Platform};
use run::{MOST_RANKS, Run, TeamSettings};
use std::fmt;
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::abort;
use std::sync::Arc;
use worker_run::WorkerRun;
use workers::Workers;

/// Workers that run the ranks of a program, on the cores that an [`Allotment`] leaves them.
///
/// Worker `w` runs while the allotment allows it. The team uses a new core at once. When a core is
/// taken away, its worker leaves when the worker's rank can next be interrupted, and the rank
/// continues on another worker. The number of ranks never changes.
///
/// # Cost
///
/// A switch from rank to rank takes some 15 ns, or 40 ns if the ranks have stacks. A barrier takes
/// this time for each rank of a worker, and 0.2 us for the workers to meet.
///
/// # In a child after `fork`
///
/// A child of `fork` lacks the team's threads. There, dropping the team does nothing. Make another
/// team.
///
/// ```
/// use manycore_cores::elastic::Allotment;
/// use manycore_team::{Site, Step, Team, Turn};
/// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
///
/// let allotment = Allotment::new(2);
/// let mut team: Team = Team::new(2, allotment.clone())?;
/// let hellos = AtomicU32::new(0);
/// team.run(16, |rank| {
///     let (mut met, hellos, allotment) = (false, &hellos, &allotment);
///     move |_: &Turn<'_>| {
///         if met {
///             assert_eq!(hellos.load(Relaxed), 16);
///             return Step::Done;
///         }
///         if rank == 5 {
///             allotment.set(1); // The other core is needed elsewhere.
///         }
///         hellos.fetch_add(1, Relaxed);
///         met = true;
///         Step::Arrived(Site::here())
///     }
/// });
/// # Ok::<(), manycore_team::BuildError>(())
/// ```
pub struct Team<P: Platform = Native> {
    workers: Arc<Workers<P>>,
    threads: Vec<P::Thread>,
    stacks: Arc<Stacks<P>>,
    settings: TeamSettings,
    /// The value of [`Platform::forks`] when the team was made.
    generation: u32,
}

impl<P: Platform> Team<P> {
    /// Makes a team of up to `most_workers` workers, which follow the allotment. Worker 0 is the
    /// thread that calls [`run`](Self::run). The others are threads of the team.
    ///
    /// # Errors
    ///
    /// Returns an error if `most_workers` is 0, or if the platform refuses a thread.
    pub fn new(most_workers: usize, allotment: Allotment<P>) -> Result<Self, BuildError> {
        Self::builder(most_workers, allotment).build()
    }

    /// Like [`new`](Self::new), with more settings.
    #[must_use]
    pub fn builder(most_workers: usize, allotment: Allotment<P>) -> TeamBuilder<P> {
        TeamBuilder::new(most_workers, allotment)
    }

    /// The largest number of workers that the team uses.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.threads.len() + 1
    }

    /// The allotment that the workers follow.
    #[must_use]
    pub fn allotment(&self) -> &Allotment<P> {
        self.workers.allotment()
    }

    /// Runs `ranks` ranks until all are done. `body` makes the body of each rank from its number.
    ///
    /// # Panics
    ///
    /// * Panics if `ranks` is 0 or more than 65,535.
    /// * Panics in a child after `fork`, unless the team has only one worker.
    /// * Panics with the panic of a rank, if one panics. The other ranks stop when they can next be
    ///   interrupted, and do not continue.
    /// * Panics if some ranks are done and others wait for them at a barrier.
    /// * Otherwise panics with the panic of a body's destructor, if one panics when all bodies are
    ///   dropped.
    ///
    /// If there are several panics, the first is passed on. The payloads of the other panics are
    /// dropped, and panics of their destructors are contained.
    #[track_caller]
    pub fn run<B: Body<P>>(&mut self, ranks: usize, body: impl FnMut(usize) -> B) -> Report {
        assert!(
            (1..=MOST_RANKS).contains(&ranks),
            "a team of {ranks} ranks; expected 1 to {MOST_RANKS}"
        );
        assert!(
            self.is_here(),
            "this Team is the parent's, and a child of fork lacks its threads: make another Team"
        );
        // Bodies have cache lines of their own, because several workers write to them.
        let mut bodies: Vec<_> = (0..ranks).map(body).map(CachePadded::new).collect();
        let pointers = bodies
            .iter_mut()
            .map(|body| &raw mut **body as *mut (dyn Body<P> + '_));
        let allotment = self.workers.allotment().clone();
        let stacks = Arc::clone(&self.stacks);
        // SAFETY: the bodies are dropped below, after the run.
        let run = unsafe { Run::new(pointers, self.workers(), allotment, stacks, &self.settings) };
        let run = Arc::new(run);
        // Until the run is over, other workers use the bodies in this frame.
        let guard = AbortOnUnwind;
        if run.workers() > 1 {
            self.workers.call(&run);
        }
        // Each allotment has a core for worker 0, so worker 0 stays until the run is over.
        while !run.is_over() {
            WorkerRun::new(&run, 0).take_part();
        }
        forget(guard);
        self.workers.dismiss();
        // SAFETY: the run is over.
        let mut result = unsafe { run.result() };
        for body in bodies {
            // A body whose destructor panics does not keep the others from being dropped. The panic
            // of a rank is passed on rather than the panic of a destructor.
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(body))) {
                match result {
                    Ok(_) => result = Err(payload),
                    Err(_) => let_go(payload),
                }
            }
        }
        result.unwrap_or_else(|payload| resume_unwind(payload))
    }

    /// Whether the team's threads, if it has any, are threads of this process.
    fn is_here(&self) -> bool {
        self.threads.is_empty() || P::forks() == self.generation
    }
}

/// Ends the process if it is dropped by a panic.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        eprintln!("manycore-team: the runtime panicked while ranks ran; aborting");
        abort();
    }
}

impl<P: Platform> Drop for Team<P> {
    fn drop(&mut self) {
        if !self.is_here() {
            // The threads are in the parent: their locks may never be released, and they never end
            // here.
            self.threads.drain(..).for_each(forget);
            return;
        }
        self.workers.end();
        self.threads.drain(..).for_each(P::join);
    }
}

impl<P: Platform> fmt::Debug for Team<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Team")
            .field("workers", &self.workers())
            .field("allotment", self.allotment())
            .finish_non_exhaustive()
    }
}
