//! The part of a pool that workers and callers share. It does not depend on the sleep policy.

use super::board::Board;
use super::caller_slot::CallerContext;
use super::permit_holders::PermitHolders;
use super::permits;
use super::permits::CallerSlot;
use crate::clusters::Clusters;
use crate::decide::{Explained, print_at_exit};
use crate::partition::{CallSites, measure_claim};
use crate::sleep::Idle;
use crate::times::BLOCKING_SPIN;
use manycore_cores::elastic::Allotment;
use manycore_platform::{Atomic, Ordering, Platform};
use std::sync::Arc;

/// The machine that a pool runs on.
#[derive(Clone, Copy)]
pub(crate) struct Cores {
    /// The number of cores that the affinity mask and the quota leave.
    pub(crate) cores: usize,
    /// The number of core groups that these cores are in.
    pub(crate) groups: usize,
}

/// The part of a pool that workers and callers share.
pub(crate) struct Shared<P: Platform> {
    threads: usize,
    cores: usize,
    core_groups: usize,
    oversubscribed: bool,
    ticks_per_ns: f32,
    claim_ticks: u64,
    clusters: Clusters,
    board: Board<P>,
    idle: Arc<Idle<P>>,
    caller_slot: CallerSlot<P>,
    caller_context: CallerContext<P>,
    patience: u64,
    blocking_spin: u64,
    call_sites: CallSites<P>,
    permit_holders: PermitHolders<P>,
    terminating: P::AtomicBool,
    /// The pool's account of its loops, if it keeps an account.
    explained: Option<Arc<Explained>>,
    /// Whether each loop takes the slow path, because the pool has one thread or keeps an account of its loops.
    is_special: bool,
    /// Whether the account is printed at the end.
    is_printed: bool,
    /// The allotment that the pool follows, if any.
    allotment: Option<Allotment<P>>,
    /// The value of `P::forks()` in the process of the pool's threads.
    generation: u32,
}

impl<P: Platform> Shared<P> {
    pub(super) fn new(
        threads: usize,
        cores: Cores,
        clusters: Clusters,
        idle: Arc<Idle<P>>,
        allotment: Option<Allotment<P>>,
        explain: bool,
    ) -> Self {
        let is_printed = std::env::var_os("MANYCORE_EXPLAIN").is_some_and(|value| value == "1");
        let explained = (explain || is_printed).then(Arc::<Explained>::default);
        if let Some(explained) = explained.as_ref().filter(|_| is_printed) {
            print_at_exit(explained);
        }
        let oversubscribed = is_oversubscribed(threads, cores, allotment.as_ref());
        // If threads outnumber cores, a thread may be late only because it waits for a core. So the patience is longer.
        let patience = if oversubscribed {
            50 * permits::PATIENCE
        } else {
            permits::PATIENCE
        };
        Self {
            threads,
            cores: cores.cores,
            core_groups: cores.groups,
            oversubscribed,
            ticks_per_ns: P::ticks_per_ns() as f32,
            claim_ticks: measure_claim::<P>(),
            // The board (the list of posted loops) has one slot for each thread, as many again for nested loops, and
            // some for threads from outside. A caller that finds no free slot runs its loop alone.
            board: Board::new(2 * threads + 8, clusters.count()),
            clusters,
            idle,
            caller_slot: CallerSlot::new(),
            caller_context: CallerContext::new(),
            patience: P::duration_to_ticks(patience),
            blocking_spin: P::duration_to_ticks(BLOCKING_SPIN),
            call_sites: CallSites::new(),
            permit_holders: PermitHolders::new(threads),
            terminating: P::AtomicBool::new(false),
            is_special: threads == 1 || explained.is_some(),
            explained,
            is_printed,
            allotment,
            generation: P::forks(),
        }
    }

    /// Names, for a simulator, the words that threads wait on and contend for. Called when these
    /// words have their final addresses.
    pub(super) fn name(&self) {
        self.board.name();
        self.idle.events.name();
        self.caller_slot.name();
        self.permit_holders.name();
    }

    /// The number of the pool's threads, including its caller.
    #[inline]
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Whether each loop takes the slow path.
    #[inline]
    pub(crate) fn is_special(&self) -> bool {
        self.is_special
    }

    /// The pool's account of its loops, if it keeps an account.
    pub(crate) fn explained(&self) -> Option<&Explained> {
        self.explained.as_deref()
    }

    /// The number of cores that the threads have.
    pub(super) fn cores(&self) -> usize {
        self.cores
    }

    /// The number of core groups that the threads are in.
    pub(crate) fn core_groups(&self) -> usize {
        self.core_groups
    }

    /// Whether the pool may have had work for all its cores at some time after `since`, as a hint.
    pub(super) fn has_filled_cores(&self, since: u64) -> bool {
        self.permit_holders.at_work_since(since) >= self.cores
    }

    /// Whether there are more threads than cores. If so, a thread that spins may take the core that the awaited thread
    /// needs.
    pub(super) fn is_oversubscribed(&self) -> bool {
        self.oversubscribed
    }

    /// Which of the pool's permits (rights to run jobs) are near one another.
    #[inline]
    pub(crate) fn clusters(&self) -> &Clusters {
        &self.clusters
    }

    /// The platform's clock rate.
    #[inline]
    pub(crate) fn ticks_per_ns(&self) -> f32 {
        self.ticks_per_ns
    }

    /// The ticks that a thread needs for one claim from its own range on this machine.
    pub(crate) fn claim_ticks(&self) -> u64 {
        self.claim_ticks
    }

    /// The board of posted loops.
    #[inline]
    pub(crate) fn board(&self) -> &Board<P> {
        &self.board
    }

    /// The record of when loops come, and of how long workers wait for them.
    #[inline]
    pub(crate) fn idle(&self) -> &Idle<P> {
        &self.idle
    }

    /// The slot through which threads from outside enter the pool.
    #[inline]
    pub(crate) fn caller_slot(&self) -> &CallerSlot<P> {
        &self.caller_slot
    }

    /// The context of the thread that holds the caller slot. That thread is worker 0.
    #[inline]
    pub(super) fn caller_context(&self) -> &CallerContext<P> {
        &self.caller_context
    }

    /// How long a waiting thread keeps its permit while unrelated jobs are pending, in ticks.
    pub(super) fn patience(&self) -> u64 {
        self.patience
    }

    /// How long a thread that is not a worker spins, in ticks.
    pub(super) fn blocking_spin(&self) -> u64 {
        self.blocking_spin
    }

    /// The durations of loops by call site.
    #[inline]
    pub(crate) fn call_sites(&self) -> &CallSites<P> {
        &self.call_sites
    }

    /// The state of the permits' holders.
    #[inline]
    pub(crate) fn permit_holders(&self) -> &PermitHolders<P> {
        &self.permit_holders
    }

    /// Whether a loop invites the holder of `permit`.
    pub(super) fn has_invitation(&self, permit: usize) -> bool {
        self.board
            .inviting(self.clusters.of(permit).cluster as usize, 0, None)
            .any(|slot| !self.permit_holders.is_barred(permit, slot))
    }

    /// Whether the pool ends. Acquire pairs with `terminate`.
    pub(super) fn is_terminating(&self) -> bool {
        self.terminating.load(Ordering::Acquire)
    }

    /// Announces that the pool ends. Release: a thread that sees this sees all earlier writes.
    pub(super) fn terminate(&self) {
        self.terminating.store(true, Ordering::Release);
    }

    /// Undoes `terminate`, for a pool that goes on after all its threads have ended. Relaxed: the starts of
    /// threads, and the caller slot, publish this.
    pub(super) fn clear_terminating(&self) {
        self.terminating.store(false, Ordering::Relaxed);
    }

    /// The allotment that the pool follows, if any. A helper checks it between blocks.
    #[inline]
    pub(crate) fn allotment(&self) -> Option<&Allotment<P>> {
        self.allotment.as_ref()
    }

    /// Whether the thread with this permit may run now. Cost: one load of a cache line that is never written, and a
    /// load of the allotment if the pool follows an allotment.
    #[inline]
    pub(crate) fn allows(&self, permit: usize) -> bool {
        (self.allotment.as_ref()).is_none_or(|allotment| allotment.allows(permit))
    }

    /// The number of threads that may run now, at least 1.
    #[inline]
    pub(crate) fn allowed(&self) -> usize {
        match &self.allotment {
            Some(allotment) => self.threads.min(allotment.cores()),
            None => self.threads,
        }
    }

    /// Makes workers that the allotment has parked check again whether they must do something.
    pub(super) fn nudge(&self) {
        if let Some(allotment) = &self.allotment {
            allotment.nudge();
        }
    }

    /// Whether this process is a child of `fork`, and the pool's threads are in the parent.
    /// Natively this is one relaxed load: the value changes only while a new child has one thread.
    #[inline]
    pub(super) fn is_forked(&self) -> bool {
        self.generation != P::forks()
    }

    /// Called where a thread that is not at work for the pool enters the pool.
    ///
    /// # Panics
    ///
    /// If the pool's threads are in the parent of this process.
    #[inline]
    pub(super) fn check_fork(&self) {
        if self.is_forked() {
            refuse_forked();
        }
    }

    /// Called when a thread that works for the pool must wait for other threads. A child of `fork` has no other
    /// threads, so the wait would never end, and this aborts the child. A panic instead would unwind frames that other
    /// threads use.
    #[inline]
    pub(super) fn check_wait(&self) {
        if self.is_forked() {
            abort_forked();
        }
    }
}

/// Prints the account, if `MANYCORE_EXPLAIN` asks for it. All jobs have run by now, also after
/// `dismiss`.
impl<P: Platform> Drop for Shared<P> {
    fn drop(&mut self) {
        if let Some(explained) = self.explained.as_ref().filter(|_| self.is_printed) {
            explained.print();
        }
    }
}

#[cold]
#[inline(never)]
fn refuse_forked() -> ! {
    panic!("this pool's threads did not survive fork(): build a new pool in the child");
}

#[cold]
#[inline(never)]
fn abort_forked() -> ! {
    eprintln!(
        "manycore: fork() was called inside a pool, and the child waits for the pool's threads, \
         which did not survive; aborting"
    );
    std::process::abort();
}

/// Whether more threads may run at once than there are cores. In a pool that follows an allotment this is never so,
/// since the allotment prevents it.
pub(super) fn is_oversubscribed<P: Platform>(
    threads: usize,
    cores: Cores,
    allotment: Option<&Allotment<P>>,
) -> bool {
    allotment.is_none() && threads > cores.cores
}
