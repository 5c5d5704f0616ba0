//! Looking for a job to run, and running it.

use super::crew::{Crew, Worker};
use super::queue::Job;
use crate::sleep::Sleep;
use crate::sleep::policy::Scan;
use crate::steal::{Claim, Thief};
use manycore_platform::Platform;

/// A job somebody may run.
pub(super) enum Found {
    /// From a queue; whether another worker put it there.
    Queued(Job, bool),
    /// From the stack of worker `victim`.
    Stolen { victim: usize, claim: Claim },
}

impl<P: Platform, S: Sleep<P>> Crew<P, S> {
    /// Whether some worker's stack or queue holds a job.
    fn holds_jobs(&self) -> bool {
        let holds = |worker: &Worker<P, S>| !worker.stack.is_empty() || !worker.spawned.is_empty();
        self.workers.iter().any(holds)
    }
}

impl<P: Platform, S: Sleep<P>> Worker<P, S> {
    /// Runs what was found.
    pub(super) fn run(&self, found: Found) {
        match found {
            Found::Queued(job, migrated) => job.run(migrated),
            Found::Stolen { victim, claim } => {
                let stack = &self.crew().workers[victim].stack;
                // SAFETY: claimed from there just now, and run once. The job's own
                // way of running does not unwind.
                unsafe {
                    let (run, data) = stack.job(&claim);
                    run(data, true);
                }
                if stack.done(claim) {
                    self.sleep().notify(victim);
                }
            }
        }
    }

    /// What this worker has spawned, or what was sent to it.
    pub(super) fn find_own(&self) -> Option<Found> {
        let spawned = || (self.spawned.take_last()).map(|job| Found::Queued(job, false));
        let mail = || (self.mailbox.take_first()).map(|job| Found::Queued(job, true));
        spawned().or_else(mail)
    }

    /// Any job, the nearest first: what this worker spawned, what was sent to
    /// it, what others have made public, what they spawned, what came from
    /// outside. If there is none, asks another worker for some, and takes by
    /// itself from one that does not answer.
    pub(super) fn find_any(&self, patient: bool) -> Option<Found> {
        if let Some(own) = self.find_own() {
            return Some(own);
        }
        let crew = self.crew();
        if let Some(job) = crew.handed_in.take_first() {
            return Some(Found::Queued(job, true));
        }
        let me = self.as_thief();
        let others = self.others();
        for victim in others.clone() {
            if let Some(claim) = crew.workers[victim].stack.steal(0, me) {
                return Some(Found::Stolen { victim, claim });
            }
        }
        for victim in others.clone() {
            if let Some(job) = crew.workers[victim].spawned.take_first() {
                return Some(Found::Queued(job, true));
            }
        }
        if let Some(job) = crew.injector.take_first() {
            return Some(Found::Queued(job, true));
        }
        let mut asked = false;
        for victim in others {
            let stack = &crew.workers[victim].stack;
            // One question a search; who was asked before and has not answered is
            // in a long job, or has none.
            if stack.is_asked() {
                if !patient && let Some(claim) = stack.raise(0, me) {
                    return Some(Found::Stolen { victim, claim });
                }
            } else if !asked {
                asked = stack.ask();
            }
        }
        self.find_left()
    }

    /// In a pool that ends, what was sent to a worker that will not come for it.
    pub(super) fn find_left(&self) -> Option<Found> {
        let crew = self.crew();
        if !crew.shared.is_terminating() {
            return None;
        }
        let mut mail = crew.workers.iter().map(|worker| worker.mailbox.take_left());
        mail.find_map(|job| Some(Found::Queued(job?, true)))
    }

    /// This worker, as it signs what it steals now.
    pub(super) fn as_thief(&self) -> Thief {
        Thief {
            worker: self.known.index as u32,
            base: self.stack.bottom(),
        }
    }

    /// The other workers, beginning anywhere.
    fn others(&self) -> impl Iterator<Item = usize> + Clone + use<P, S> {
        // Marsaglia's xorshift: to spread thieves, not to be random.
        let mut x = self.state.random.get();
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        self.state.random.set(x);
        let (me, count) = (self.known.index, self.crew().workers.len());
        let first = x as usize % count;
        (first..count).chain(0..first).filter(move |&i| i != me)
    }
}

impl<P: Platform, S: Sleep<P>> Worker<P, S> {
    /// Whether it may take strangers' jobs while it waits in one of its own. If the
    /// allotment does not allow it, it should come to its end instead; the pool's end
    /// needs everybody.
    pub(super) fn takes_anything(&self) -> bool {
        !self.must_stand_aside()
    }
}

/// What a worker that looks for work waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// Nothing but work.
    Idle,
    /// A scope's end: it may take anything, or, if it is not allowed to run, what it
    /// has spawned itself.
    ForScope,
    /// The stolen job at this index.
    ForJob(u32),
}

/// What worker `worker` looks at once more before it sleeps.
pub(super) struct Look<'a, P: Platform, S> {
    pub(super) worker: &'a Worker<P, S>,
    pub(super) waits: Waits,
}

impl<P: Platform, S: Sleep<P>> Look<'_, P, S> {
    fn sent(&self) -> bool {
        !self.worker.mailbox.is_empty() || !self.worker.crew().handed_in.is_empty()
    }
}

impl<P: Platform, S: Sleep<P>> Scan for Look<'_, P, S> {
    fn injected(&self) -> bool {
        let crew = self.worker.crew();
        self.seen() != crew.shared.idle.events.seen()
            || !crew.injector.is_empty()
            || self.sent()
            || crew.shared.is_terminating()
    }

    fn anything(&self) -> bool {
        let worker = self.worker;
        match self.waits {
            // Not in bed, where no growth of the allotment wakes it.
            Waits::Idle if worker.must_stand_aside() => true,
            // Without the event count: loops are no business of its.
            Waits::ForScope if !worker.takes_anything() => {
                self.sent() || !worker.spawned.is_empty() || worker.crew().shared.is_terminating()
            }
            Waits::Idle | Waits::ForScope => self.injected() || worker.crew().holds_jobs(),
            Waits::ForJob(index) => self.sent() || worker.sees_descendant(index),
        }
    }

    fn seen(&self) -> u32 {
        self.worker.state.seen.get()
    }

    fn is_free(&self) -> bool {
        match self.waits {
            Waits::Idle => true,
            Waits::ForScope => self.worker.takes_anything(),
            Waits::ForJob(_) => false,
        }
    }
}
