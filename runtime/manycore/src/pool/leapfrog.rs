//! How a worker waits until the thief of its job is done: it runs only descendants of that job.
//!
//! If a waiting worker took any other job, that job could be long, or could want a lock that the caller of the waiting
//! function holds. Stacks would grow with each such job. So the waiter takes only descendants of the job that it waits
//! for (leapfrogging: Wagner and Calder 1993). Each frame on a waiting stack is then a descendant of the frame below,
//! and **no stack gets deeper than the program's own recursion**.
//!
//! When a thief steals a job, it notes the height of its own stack, the `base`. The jobs that the stolen job pushes
//! are at `base` or above. If these jobs were stolen in turn, the thief waits for one of them, or soon will wait. The
//! waiter then looks at the thief of that job.
//!
//! # Why a taken job is a descendant
//!
//! The waiter reads which worker has the job (`Thief`) and claims a job from that worker's stack at `base` or above.
//! Then it checks that the same thief still has the awaited job and that the job is not done. A claimed descendant
//! keeps the awaited job from ending. Any other job at `base` or above was pushed after the awaited job had ended. So
//! if the awaited job is not done after the claim, the claimed job is a descendant. In a chain of thieves, this
//! argument holds for each link. If the check fails, which is rare, the waiter gives the claimed job back, to its
//! owner or to a worker that may take any job.

use super::context::Context;
use super::job::Job;
use super::naps::Naps;
use super::registry::Registry;
use super::search::{Found, Look, Waits};
use super::worker::Worker;
use crate::sleep::Latch;
use crate::sleep::Scan;
use crate::steal::Thief;
use manycore_platform::{Atomic, Ordering, Platform};

/// After this number of vain searches a thief raises the limit (the number of public jobs) of an owner that does not
/// answer requests.
pub(super) const PATIENCE: u32 = 8;
/// The number of looks at the latch before a costlier step. These looks take about as long as a handful of the
/// shortest jobs.
const LOOKS: u32 = 32;

/// The job at `index` of `owner`'s stack, which `thief` has stolen.
#[derive(Clone, Copy)]
struct Link {
    owner: usize,
    index: u32,
    thief: Thief,
}

impl<P: Platform> Worker<P> {
    /// Waits until the stolen job at `index`, the newest job of this worker's stack, is done. Then frees the job's
    /// slot.
    ///
    /// # Why the worker is always woken
    ///
    /// The worker sleeps only through the sleep policy, after `Latch::announce_sleep`. So `Latch::set` returns `true`
    /// to the thief, and the thief calls `notify`, which makes the policy wake the worker.
    #[cold]
    #[inline(never)]
    pub(super) fn await_stolen(&self, index: u32) {
        let latch = self.stack().latch(index);
        for _ in 0..LOOKS {
            if latch.is_set() {
                return self.stack().retire(index);
            }
            P::relax();
        }
        let outer = self.waits_for().load(Ordering::Relaxed);
        // Release: a worker that follows this link sees this worker's stack and slots set up.
        self.waits_for().store(index + 1, Ordering::Release);
        let find = |worker: &Self, patient| worker.leapfrog(index, patient);
        self.wait_for(latch, Waits::ForJob(index), find, |_| None);
        self.waits_for().store(outer, Ordering::Release);
        self.stack().retire(index);
    }

    /// Runs the jobs that `find` finds until `latch` is set. `waits` is the reason of the wait, and `latch` is set when
    /// the wait may end. The argument of `find` says whether to be patient with owners that do not answer requests.
    /// After each job the worker runs all jobs that `own` finds, before it calls `find` again. The worker has pushed
    /// these jobs itself, so it need not search.
    ///
    /// If jobs of other workers are pending for longer than the pool's patience, the worker gives its permit, the right
    /// to run jobs, away (`permits/mod.rs`).
    pub(super) fn wait_for(
        &self,
        latch: &Latch<P>,
        waits: Waits,
        find: impl Fn(&Self, bool) -> Option<Found>,
        own: impl Fn(&Self) -> Option<Found>,
    ) {
        let (sleep, shared) = (self.sleep(), self.registry().shared());
        let scan = Look {
            worker: self,
            waits,
        };
        let mut idle = self.start_looking();
        let mut misses = 0;
        let mut slept = false;
        // From this time on, the worker gives its permit away if it keeps others waiting.
        let mut deadline = None;
        // Whether the worker may hold permits in other pools. After each job the worker may hold some again.
        let others = Context::is_elsewhere(shared);
        let mut elsewhere = others;
        let mut naps = Naps::new();
        while !latch.is_set() {
            // The worker notes the event count, which each post changes, before the search, so that a later post keeps
            // the worker from sleeping.
            self.note_posts();
            if let Some(found) = find(self, misses < PATIENCE) {
                self.set_busy(true);
                self.found(idle);
                let mut next = Some(found);
                while let Some(found) = next {
                    self.run(found);
                    next = if latch.is_set() { None } else { own(self) };
                }
                idle = self.start_looking();
                (misses, slept, deadline, elsewhere) = (0, false, None, others);
                naps = Naps::new();
                continue;
            }
            misses += 1;
            let now = P::now();
            let due = *deadline.get_or_insert_with(|| {
                shared.check_wait();
                now + shared.patience()
            });
            if elsewhere {
                let yield_core = || {
                    shared
                        .idle()
                        .yield_core(|since| shared.has_filled_cores(since))
                };
                if now < due && yield_core() {
                    continue;
                }
                // The worker gives up its permits in other pools before it sleeps: a job of another pool that needs
                // such a permit would not wake the worker from this sleep.
                Context::leave_others(shared);
                if Context::holds_others(shared) {
                    self.found(idle);
                    self.serve_or_nap(latch, &mut naps);
                    idle = self.start_looking();
                    continue;
                }
                elsewhere = false;
            }
            if now >= due {
                self.set_busy(false);
            }
            if now >= due && self.keeps_others_waiting() {
                self.found(idle);
                if !self.wait_without_permit(latch) && !latch.is_set() {
                    self.serve_or_nap(latch, &mut naps);
                }
                idle = self.start_looking();
                slept = false;
                continue;
            }
            if slept && sleep.sleepers() > 0 {
                // The wake-up may have been meant for a worker that may take more jobs than this worker. So this
                // worker passes the wake-up on, once.
                self.wake_others(1, None);
            }
            slept = self.no_work_found(&mut idle, latch, &scan);
        }
        self.set_busy(true);
        self.found(idle);
    }

    /// Sleeps until `latch` is set or `look` finds something. Called when the worker has waited for longer than the
    /// pool's patience. May return spuriously.
    pub(super) fn rest(&self, latch: &Latch<P>, look: &Look<'_, P>) {
        let shared = self.registry().shared();
        shared.check_wait();
        Context::leave_others(shared);
        if Context::holds_others(shared) {
            return self.serve_or_nap(latch, &mut Naps::new());
        }
        if self.keeps_others_waiting() {
            if !self.wait_without_permit(latch) && !latch.is_set() {
                self.serve_or_nap(latch, &mut Naps::new());
            }
            return;
        }
        let mut idle = self.start_looking();
        while !latch.is_set() && !look.anything() {
            if self.no_work_found(&mut idle, latch, look) {
                break;
            }
        }
        self.found(idle);
    }

    /// Claims a descendant of the stolen job at `index`.
    fn leapfrog(&self, index: u32, patient: bool) -> Option<Found> {
        let registry = self.registry();
        let me = self.as_thief();
        if let Some(claim) = self.stack().adopt(index, me) {
            let victim = self.id();
            return Some(Found::Stolen { victim, claim });
        }
        let mut links = self.links(index);
        let mut first = true;
        while let Some(link) = links() {
            let victim = link.thief.worker as usize;
            let stack = &registry.worker(victim).stack();
            let mut claim = stack.steal(link.thief.base, me);
            if claim.is_none() && !patient && stack.is_requested() {
                claim = stack.raise(link.thief.base, me);
            }
            if let Some(claim) = claim {
                let found = Found::Stolen { victim, claim };
                // The claimed job is a descendant if no link up to `link` has changed. A second walk checks that.
                let mut again = self.links(index);
                let mut holds = false;
                while let Some(other) = again() {
                    if other.owner == link.owner && other.index == link.index {
                        holds = other.thief == link.thief;
                        break;
                    }
                }
                if holds {
                    return Some(found);
                }
                self.hand_over(found);
                return None;
            }
            if first {
                stack.request();
                first = false;
            }
        }
        None
    }

    /// Whether `leapfrog` would have found a job a moment ago.
    pub(super) fn sees_descendant(&self, index: u32) -> bool {
        if self.stack().is_given_back(index) {
            return true;
        }
        let registry = self.registry();
        let mut links = self.links(index);
        std::iter::from_fn(&mut links).any(|link| {
            registry
                .worker(link.thief.worker as usize)
                .stack()
                .is_above(link.thief.base)
        })
    }

    /// Yields the job at `index`, then the job that its thief waits for, and so on. The walk ends at a job that is
    /// done, or whose thief waits for no descendant of it.
    fn links(&self, index: u32) -> impl FnMut() -> Option<Link> {
        let registry = self.registry();
        let mut next = Some((self.id(), index));
        let mut hops = 0;
        move || {
            let (owner, index) = next.take()?;
            let stack = &registry.worker(owner).stack();
            let thief = stack.thief(index)?;
            if stack.latch(index).is_set() {
                return None;
            }
            hops += 1;
            // Acquire pairs with `await_stolen`.
            let waits_for =
                (registry.worker(thief.worker as usize).waits_for()).load(Ordering::Acquire);
            // The links are read one after the other, so they may form a circle. `hops` bounds the walk.
            if waits_for > thief.base && hops < registry.workers().len() {
                next = Some((thief.worker as usize, waits_for - 1));
            }
            Some(Link {
                owner,
                index,
                thief,
            })
        }
    }

    /// Gives a claimed job back. Its owner runs the job if the owner comes to wait for it. Otherwise a worker that
    /// may take any job runs it. If all workers wait, there is no such worker.
    #[cold]
    pub(super) fn hand_over(&self, found: Found) {
        let Found::Stolen { victim, claim } = found else {
            return self.run(found);
        };
        let registry: *const Registry<P> = self.registry();
        let index = self.registry().worker(victim).stack().give_back(claim);
        // SAFETY: the registry outlives its injector's jobs. The closure does not unwind, since a stolen job
        // does not.
        let job = unsafe {
            Job::new(move |_| {
                let worker = Context::worker_of(&*registry).expect("jobs are run by workers");
                let stack = &(*registry).worker(victim).stack();
                // The owner may have run the job by now, and another job may have its index.
                if let Some(claim) = stack.adopt(index, worker.as_thief()) {
                    worker.run(Found::Stolen { victim, claim });
                }
            })
        };
        let was_empty = self.registry().injector().push(job);
        // The fence in `call_another` also orders `give_back` before the look at whether the owner sleeps, and pairs
        // with the owner's fence before its last look.
        self.call_another(was_empty);
        self.registry().notify(victim);
    }
}
