//! How a worker looks for a job, and runs it.

use super::job::{Group, Job};
use super::mailbox::Mailbox;
use super::registry::Registry;
use super::worker::Worker;
#[cfg(test)]
use crate::conserving::fault;
use crate::sleep::{Left, Scan, Seen};
use crate::steal::{Claim, Thief};
use manycore_platform::Platform;

/// The largest number of workers at which one search looks. A search of a thousand workers would take longer than a
/// short loop, and would move a thousand cache lines between cores.
const MOST_SEARCHED: usize = 128;
/// In any pool, a search may look at this number of workers that were added later, after the pool's first workers.
const ADDED_SEARCHED: usize = 16;
/// A worker asks the system about at most this number of other workers whether they are blocked. Each answer takes
/// some 10 us.
const ASKED: usize = 4;

/// A job that was found.
pub(super) enum Found {
    /// A job from a queue, and whether another thread has put it there.
    Queued(Job, bool),
    /// A job from the stack of worker `victim`.
    Stolen { victim: usize, claim: Claim },
}

impl<P: Platform> Worker<P> {
    /// Runs a job that was found.
    pub(super) fn run(&self, found: Found) {
        match found {
            Found::Queued(job, migrated) => {
                let outer = self.enter_group(job.group());
                job.run(migrated);
                self.enter_group(outer);
            }
            // The job's group is unknown, so waiting scopes do not treat the job's scopes as descendants.
            Found::Stolen { victim, claim } => {
                let stack = &self.registry().worker(victim).stack();
                // SAFETY: the job was just claimed from this stack, and is run once. Its `run` does not unwind.
                unsafe {
                    let (run, data) = stack.job(&claim);
                    run(data, true);
                }
                if stack.done(claim) {
                    self.registry().notify(victim);
                }
            }
        }
    }

    /// Takes a job that this worker has spawned, or that was sent to its permit (its right to run jobs).
    pub(super) fn find_own(&self) -> Option<Found> {
        let spawned = || (self.spawned().take_last()).map(|job| Found::Queued(job, false));
        let mail = || self.take_mail().map(|job| Found::Queued(job, true));
        spawned().or_else(mail)
    }

    /// Runs the jobs that were sent to the worker's permit.
    pub(super) fn read_mail(&self) {
        while let Some(job) = self.take_mail() {
            self.run(Found::Queued(job, true));
        }
    }

    fn find_queued(&self) -> Option<Found> {
        (self.registry().injector().take_first()).map(|job| Found::Queued(job, true))
    }

    /// Takes any job, the nearest first: this worker's spawned jobs, its mail (jobs sent to its permit), public jobs of
    /// other workers, jobs that other workers have spawned, jobs from outside. If there is no job, requests jobs of
    /// another worker. If `patient` is false, raises the limit of a worker that has not answered a request.
    ///
    /// A patient search passes over queues that other threads use at the moment. If many thieves waited for one queue,
    /// its owner would lose the queue's cache line at each push. No job is overlooked: before a worker sleeps, it sees
    /// that the queue is not empty.
    ///
    /// A search ends early when a loop may have been posted. In a large pool it ends before it has seen all workers,
    /// and the next search begins with other workers. Before a worker sleeps, it looks at all workers (`look_again`).
    ///
    /// Every sixteenth search begins with jobs from outside, so that jobs of workers do not starve them.
    pub(super) fn find_any(&self, patient: bool) -> Option<Found> {
        let searches = self.count_search();
        if searches % 16 == 15 {
            if let Some(queued) = self.find_queued() {
                return Some(queued);
            }
        }
        if let Some(own) = self.find_own() {
            return Some(own);
        }
        let registry = self.registry();
        let me = self.as_thief();
        let others = self.some_others();
        // This condition is cheap: its cache line is written only when a loop or call is posted.
        let unheard = |_: &usize| !self.has_posts_after(self.seen());
        let others = others.take_while(unheard);
        for victim in others.clone() {
            if let Some(claim) = registry.worker(victim).stack().steal(0, me) {
                return Some(Found::Stolen { victim, claim });
            }
        }
        if self.has_posts_after(self.seen()) {
            return self.find_left();
        }
        for victim in others.clone() {
            let spawned = registry.worker(victim).spawned();
            let job = if patient {
                spawned.try_take_first()
            } else {
                spawned.take_first()
            };
            if let Some(job) = job {
                return Some(Found::Queued(job, true));
            }
        }
        if let Some(queued) = self.find_queued() {
            return Some(queued);
        }
        let mut requested = false;
        for victim in others {
            let stack = &registry.worker(victim).stack();
            // A search makes one request. An owner that has not answered an earlier request is in a long job, or has
            // no job to give.
            if stack.is_requested() {
                if let Some(claim) = (!patient).then(|| stack.raise(0, me)).flatten() {
                    return Some(Found::Stolen { victim, claim });
                }
            } else if !requested {
                requested = stack.request();
            }
        }
        self.find_left()
    }

    /// Takes a job of the scope `group`, or of a scope within it. Looks at this worker's newest jobs, then at its
    /// mail, then at the oldest job of each other worker.
    pub(super) fn find_within(&self, group: *const Group) -> Option<Found> {
        if let Some(job) = self.spawned().take_last_within(group) {
            return Some(Found::Queued(job, false));
        }
        let registry = self.registry();
        if let Some(job) = self.take_mail_within(group) {
            return Some(Found::Queued(job, true));
        }
        let mut others = self.others();
        let queued =
            others.find_map(|victim| registry.worker(victim).spawned().take_first_within(group));
        let left = || {
            let mut mailboxes = registry
                .shared()
                .is_terminating()
                .then_some(registry.mailboxes())
                .into_iter()
                .flatten();
            mailboxes.find_map(|mailbox| mailbox.take_left_within(group))
        };
        Some(Found::Queued(queued.or_else(left)?, true))
    }

    /// If the pool ends, takes mail of a permit that has no holder any more.
    pub(super) fn find_left(&self) -> Option<Found> {
        let registry = self.registry();
        if !registry.shared().is_terminating() {
            return None;
        }
        let mut mailboxes = registry.mailboxes().iter().map(Mailbox::take_left);
        mailboxes.find_map(|job| Some(Found::Queued(job?, true)))
    }

    /// Returns this worker's name as the thief of a job that it steals now.
    pub(super) fn as_thief(&self) -> Thief {
        Thief {
            worker: self.id() as u32,
            base: self.stack().bottom(),
        }
    }

    /// All other workers, as in [`some_others`](Self::some_others).
    fn others(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.other_workers(usize::MAX, usize::MAX)
    }

    /// The workers at which one search looks, not more than [`MOST_SEARCHED`]. First comes this worker's cluster (its
    /// near workers), then the other workers with which the pool began. Last come the workers that were added later:
    /// many waits at once may have added hundreds. Each part begins at a random worker, so that no worker is left out
    /// in all searches.
    fn some_others(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        let left = MOST_SEARCHED.saturating_sub(self.registry().shared().threads());
        self.other_workers(MOST_SEARCHED - ADDED_SEARCHED, left.max(ADDED_SEARCHED))
    }

    /// At most `most` other workers with which the pool began, and at most `most_added` that were added later.
    fn other_workers(
        &self,
        most: usize,
        most_added: usize,
    ) -> impl Iterator<Item = usize> + Clone + '_ {
        let x = self.random() as usize;
        let (me, count) = (self.id(), self.registry().workers().len());
        let clusters = self.registry().shared().clusters();
        // If there is only one cluster, all workers are equally near.
        let near = match clusters.count() {
            1 => &[],
            _ => clusters.members(self.cluster()),
        };
        let (before, after) = near.split_at(x % near.len().max(1));
        let threads = self.registry().shared().threads();
        let (first, added) = (x % threads, threads + x % (count - threads).max(1));
        let far = (first..threads).chain(0..first);
        let far = far.filter(|worker| near.binary_search(worker).is_err());
        let near = after.iter().chain(before).copied();
        let added = (added..count).chain(threads..added);
        let other = move |&worker: &usize| worker != me;
        let began = near.chain(far).filter(other).take(most);
        began.chain(added.filter(other).take(most_added))
    }
}

/// The reason for which a worker looks for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// The worker has no job, and takes any work.
    Idle,
    /// The worker waits for the end of this group's scope, and takes that scope's jobs.
    ForScope(*const Group),
    /// The worker waits for the stolen job at this index, and takes descendants of that job.
    ForJob(u32),
    /// The worker waits for the helpers of its loop, and takes part in loops within that loop.
    ForLoop,
}

/// A worker's last look before it sleeps.
pub(super) struct Look<'a, P: Platform> {
    pub(super) worker: &'a Worker<P>,
    pub(super) waits: Waits,
}

impl<P: Platform> Worker<P> {
    /// Whether another holder of this worker's permit would have found work a moment ago. This worker waits and
    /// may not take that work, so it should give its permit away.
    ///
    /// A holder reads its mail even if the allotment (the number of cores that the pool may use now) does not allow it
    /// to run.
    pub(super) fn keeps_others_waiting(&self) -> bool {
        #[cfg(test)]
        if fault::is(fault::Fault::UnreadMail) && !self.is_allowed() {
            return false;
        }
        let registry = self.registry();
        let mail_is_left =
            || registry.shared().is_terminating() && self.is_own() && registry.mail_is_left();
        self.has_mail()
            || (self.is_allowed() && (registry.has_jobs() || self.is_invited() || mail_is_left()))
    }
}

impl<P: Platform> Look<'_, P> {
    /// Whether there is work that this worker must do itself. Ignores loops that were posted before the event count
    /// (the number of posts) was `before`.
    fn wants_it_after(&self, before: Seen) -> bool {
        let (worker, registry) = (self.worker, self.worker.registry());
        let shared = registry.shared();
        let is_idle = self.waits == Waits::Idle;
        let posted = worker.has_posts_after(before);
        (is_idle && (worker.must_stand_aside() || worker.overstays()))
            || (posted && worker.is_invited())
            || registry.permits().has_ready()
            || worker.has_mail()
            || (shared.is_terminating() && registry.mail_is_left())
    }
}

impl<P: Platform> Registry<P> {
    /// Whether there is mail that every worker may take, in a pool that ends.
    fn mail_is_left(&self) -> bool {
        self.mailboxes().iter().any(Mailbox::is_left)
    }
}

impl<P: Platform> Scan for Look<'_, P> {
    fn injected(&self) -> bool {
        let (worker, registry) = (self.worker, self.worker.registry());
        worker.has_posts_after(self.seen())
            || !registry.injector().is_empty()
            || registry.permits().has_ready()
            || worker.has_mail()
            || worker.overstays()
            || (registry.shared().is_terminating() && registry.mail_is_left())
    }

    fn wants_it(&self) -> bool {
        self.wants_it_after(self.seen())
    }

    fn look_again(&self) -> Left {
        // Each post changes the event count. The count is noted before this look, so that the next look sees a later
        // post.
        let before = self.seen();
        self.worker.note_posts();
        if self.wants_it_after(before) {
            Left::ForIt
        } else if self.worker.registry().has_jobs() {
            Left::Jobs
        } else {
            Left::Nothing
        }
    }

    fn anything(&self) -> bool {
        let worker = self.worker;
        match self.waits {
            // The worker must not sleep in a parking slot, where growth of the allotment does not wake it.
            Waits::Idle if worker.must_stand_aside() => true,
            Waits::Idle => self.injected() || worker.registry().has_jobs(),
            // A waiting worker gives its permit away for unrelated jobs, and takes descendants of the awaited job. So
            // any job ends its sleep. A descendant ends its sleep even if the allotment forbids the worker to run.
            Waits::ForJob(index) => worker.keeps_others_waiting() || worker.sees_descendant(index),
            Waits::ForScope(_) => worker.keeps_others_waiting() || !worker.spawned().is_empty(),
            Waits::ForLoop => worker.has_posts_after(self.seen()) || worker.keeps_others_waiting(),
        }
    }

    fn seen(&self) -> Seen {
        self.worker.seen()
    }

    fn is_free(&self) -> bool {
        self.waits == Waits::Idle
    }

    fn has_filled_cores(&self, since: u64) -> bool {
        self.worker.registry().shared().has_filled_cores(since)
    }

    fn is_any_blocked(&self) -> bool {
        let worker = self.worker;
        let workers = worker.others().map(|other| worker.registry().worker(other));
        let at_work = workers.filter(|other| other.is_at_work());
        at_work.take(ASKED).any(Worker::is_thread_blocked)
    }

    fn has_spare_core(&self) -> bool {
        let registry = self.worker.registry();
        // Permit 0 counts as taken. Each caller from outside writes the word of the caller slot (the role of worker 0)
        // twice per call. A look at that word would take the cache line away from the caller.
        let asleep = self.worker.sleep().sleepers() as usize;
        registry.shared().threads() < registry.shared().cores() + asleep
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pool;
    use crate::seam::BuilderExt;

    /// Many threads were started at some time. A search still begins with the workers with which the pool began, since
    /// they have most work. Each worker comes once.
    #[test]
    fn a_search_begins_with_the_first_workers() {
        for threads in [2, 3, 30] {
            let pool = Pool::builder().threads(threads).open_joins(64);
            let pool = pool.build().unwrap();
            let registry = pool.registry();
            for _ in 0..300 {
                let make = |id| Worker::new(id, registry.stack_capacity(), registry);
                registry.workers().push(make).unwrap();
            }
            for _ in 0..100 {
                let mut others: Vec<_> = registry.worker(0).others().collect();
                assert!(others[..threads - 1].iter().all(|&other| other < threads));
                others.sort_unstable();
                assert!(others.into_iter().eq(1..threads + 300));
            }
        }
    }

    /// No worker is left out in all searches, however many there are.
    #[test]
    fn each_worker_is_searched_for_sometimes() {
        for threads in [2, 100, 130, 200] {
            let builder = Pool::builder().threads(threads).open_joins(2).lazy(true);
            let pool = builder.build().unwrap();
            let registry = pool.registry();
            for _ in 0..40 {
                let make = |id| Worker::new(id, registry.stack_capacity(), registry);
                registry.workers().push(make).unwrap();
            }
            let mut seen = vec![false; threads + 40];
            for _ in 0..2_000 {
                let others: Vec<_> = registry.worker(0).some_others().collect();
                assert!(others.len() <= MOST_SEARCHED);
                others.into_iter().for_each(|other| seen[other] = true);
            }
            assert_eq!(
                seen.iter().position(|seen| !seen),
                Some(0),
                "worker 0 searches"
            );
            assert!(seen[1..].iter().all(|&seen| seen), "{threads} threads");
        }
    }
}
