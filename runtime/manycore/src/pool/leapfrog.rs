//! How a worker waits until the thief of its job is done: it works on descendants of that job, and on
//! nothing else.
//!
//! A waiter that took any job could find itself below an unrelated long job, or below a job that wants a
//! lock of the waiter's caller, and stacks would grow with the number of such accidents. So it takes only
//! descendants of the job that it waits for (leapfrogging: Wagner and Calder 1993). Each frame on a waiting
//! stack is then a descendant of the frame below, and **no stack gets deeper than the program's own
//! recursion**.
//!
//! The thief's jobs from its `base` on were pushed from within the stolen job. If they are gone because
//! they were stolen in turn, the thief is, or will be, waiting for one of them, and the thief of that job
//! is the next to look at.
//!
//! # Why a taken job is a descendant
//!
//! The waiter reads which worker has the job (`Thief`), claims from that stack at `base` or above, and then
//! looks whether the job is still in the same hands and not done. A claimed descendant keeps the job from
//! ending. Any other job at `base` or above was pushed after the job had ended. So if the job is not done
//! after the claim, the claimed job is a descendant; for a chain of thieves this holds link by link.
//! Otherwise, rarely, the claimed job is given back, to its owner or to a worker that may take any job.

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

/// Searches in vain before a thief raises the limit of an owner that does not answer.
pub(super) const PATIENCE: u32 = 8;
/// Looks at the latch before anything dearer: about what a handful of the
/// shortest jobs takes.
const LOOKS: u32 = 32;

/// The stolen job at `index` of `owner`'s stack, in the hands of `thief`.
#[derive(Clone, Copy)]
struct Link {
    owner: usize,
    index: u32,
    thief: Thief,
}

impl<P: Platform> Worker<P> {
    /// Waits until the stolen job at `index`, the newest of this worker's stack,
    /// is done, and frees its slot.
    ///
    /// # Why it is always woken
    ///
    /// It sleeps only through the policy, after `Latch::announce_sleep`; the thief's result of `Latch::set`
    /// then makes the thief call `notify`, and the policy's own protocol does the rest.
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
        // Release: a follower finds this worker's stack and slots set up.
        self.waits_for().store(index + 1, Ordering::Release);
        let find = |worker: &Self, patient| worker.leapfrog(index, patient);
        self.wait_for(latch, Waits::ForJob(index), find, |_| None);
        self.waits_for().store(outer, Ordering::Release);
        self.stack().retire(index);
    }

    /// Runs the jobs that `find` finds until `latch` is set, the latch of the object that the worker
    /// `waits` for. The argument of `find` is whether to be patient with owners that do not answer. After
    /// each job, the worker first runs all jobs that `own` finds: jobs that the worker has pushed itself
    /// meanwhile, for which it need not look around.
    ///
    /// If others' jobs are pending for longer than the pool's patience, the worker gives its permit away
    /// (`permits/mod.rs`).
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
        // When it must give its permit away, if it is in the way.
        let mut deadline = None;
        // Whether it may have permits in other pools; what it runs here may bring it back
        // to them.
        let others = Context::is_elsewhere(shared);
        let mut elsewhere = others;
        let mut naps = Naps::new();
        while !latch.is_set() {
            // Before looking: a post after this is not slept through.
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
                // Before it sleeps: jobs that wait in other pools for its permits there do not wake it here.
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
                // The wake-up was for a worker that may take more jobs than this one: pass it on, once.
                self.wake_others(1, None);
            }
            slept = self.no_work_found(&mut idle, latch, &scan);
        }
        self.set_busy(true);
        self.found(idle);
    }

    /// One long sleep for `latch`, of a worker whose patience has ended. Returns when there is something to see,
    /// or spuriously.
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

    /// A descendant of the stolen job at `index`.
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
                // Each link up to this one must hold still; the same walk, once
                // more, says so.
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

    /// Whether there was something to leapfrog to a moment ago.
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

    /// The job at `index`, then the job that its thief waits for if that is a descendant, and so on, until
    /// a job is done.
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
            // A racy reading could see a circle.
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

    /// Gives back what was claimed: to its owner, if that comes to wait for it, or
    /// to a worker that may take anything. There may be none, if all wait like
    /// the owner.
    #[cold]
    pub(super) fn hand_over(&self, found: Found) {
        let Found::Stolen { victim, claim } = found else {
            return self.run(found);
        };
        let registry: *const Registry<P> = self.registry();
        let index = self.registry().worker(victim).stack().give_back(claim);
        // SAFETY: the registry outlives its injector's jobs, and the closure unwinds
        // no more than a stolen job does.
        let job = unsafe {
            Job::new(move |_| {
                let worker = Context::worker_of(&*registry).expect("jobs are run by workers");
                let stack = &(*registry).worker(victim).stack();
                // The owner may have had it by now, and its index another job.
                if let Some(claim) = stack.adopt(index, worker.as_thief()) {
                    worker.run(Found::Stolen { victim, claim });
                }
            })
        };
        let was_empty = self.registry().injector().push(job);
        // Contains the fence for the owner's last look, too.
        self.call_another(was_empty);
        self.registry().notify(victim);
    }
}
