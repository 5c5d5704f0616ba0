//! A worker: the state that belongs to one thread of a pool.

use super::job::Group;
use super::permit::{Holding, NOWHERE};
use super::queue::{Fifo, Queue};
use super::registry::Registry;
use super::watch::Watched;
use crate::sleep::{Latch, Policy, Seen};
use crate::steal::JobStack;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::cell::Cell;
use std::io;

/// The state of one worker.
#[repr(C)]
pub(crate) struct Worker<P: Platform> {
    stack: JobStack<P>,
    /// Fields that are not written after the pool is made.
    identity: CachePadded<Identity<P>>,
    /// The worker's spawned jobs.
    spawned: CachePadded<Queue<P>>,
    /// The worker's jobs from `spawn_fifo`.
    fifo: Fifo<P>,
    state: CachePadded<WorkerState<P>>,
    /// The state that the pool's monitor watches.
    watched: CachePadded<Watched<P>>,
}

struct Identity<P: Platform> {
    id: usize,
    /// The registry's sleep policy, reachable with one load.
    sleep: *const Policy<P>,
    registry: *const Registry<P>,
}

/// State that a worker writes now and then.
struct WorkerState<P: Platform> {
    holding: Holding<P>,
    /// Set when the pool ends. A worker without a job waits for this latch.
    end: Latch<P>,
    /// Set when all helpers (threads that joined the worker's loop) have left, or when a helper has left iterations
    /// undone.
    helpers: Latch<P>,
    /// One past the index of the stolen job for which the worker waits, or 0.
    waits_for: P::AtomicU32,
    /// The platform's number of the worker's thread, or 0 if unknown.
    thread: P::AtomicU64,
    /// The event count (the number of posted loops and calls from outside) as it was before the last search.
    seen: Cell<Seen>,
    /// The scope to which the worker's current job or scope body belongs, or null. A stolen job does not change this
    /// value, since the job's scope is unknown.
    group: Cell<*const Group>,
    /// How many detached jobs the worker is running.
    detached: Cell<u32>,
    /// How many calls of `run_other` the worker is in (`run_others.rs`).
    nested: Cell<u32>,
    /// The state of the random numbers by which a search chooses its first worker.
    random: Cell<u32>,
    /// The number of searches so far.
    searches: Cell<u32>,
    /// How often the system had preempted the worker's thread, at the last look.
    preemptions: Cell<u64>,
}

// SAFETY: only the worker's own thread uses the cells. For worker 0 this is the holder of the caller slot (the word by
// which a thread from outside takes permit 0). A holder releases the word, and the next acquires it. The pointers are
// to the registry that holds the worker, and to the registry's sleep policy, and both are `Sync`. Other threads read a
// group only under the lock of a queue that holds a job of the group, and this job keeps the group alive.
unsafe impl<P: Platform> Sync for Worker<P> {}
// SAFETY: as above.
unsafe impl<P: Platform> Send for Worker<P> {}

impl<P: Platform> WorkerState<P> {
    fn new(id: usize, permit: u32) -> Self {
        Self {
            holding: Holding::new(permit),
            end: Latch::new(),
            helpers: Latch::new(),
            waits_for: P::AtomicU32::new(0),
            thread: P::AtomicU64::new(0),
            seen: Cell::new(Seen::default()),
            group: Cell::new(std::ptr::null()),
            detached: Cell::new(0),
            nested: Cell::new(0),
            random: Cell::new(id as u32 * 2 + 1),
            searches: Cell::new(0),
            preemptions: Cell::new(0),
        }
    }
}

impl<P: Platform> Worker<P> {
    /// Makes a worker without a permit (a right to run jobs).
    pub(super) fn new(id: usize, stack_capacity: u32, registry: &Registry<P>) -> io::Result<Self> {
        let stack = JobStack::new(stack_capacity)?;
        let sleep: *const Policy<P> = registry.sleep();
        Ok(Self::with_stack(
            id,
            NOWHERE,
            stack,
            sleep,
            registry.address(),
        ))
    }

    pub(super) fn with_stack(
        id: usize,
        permit: u32,
        stack: JobStack<P>,
        sleep: *const Policy<P>,
        registry: *const Registry<P>,
    ) -> Self {
        Self {
            stack,
            identity: CachePadded::new(Identity {
                id,
                sleep,
                registry,
            }),
            spawned: Queue::new(),
            fifo: Fifo::new(),
            state: CachePadded::new(WorkerState::new(id, permit)),
            watched: CachePadded::new(Watched::new()),
        }
    }

    #[inline(always)]
    pub(crate) fn registry(&self) -> &Registry<P> {
        // SAFETY: the pointer is to the registry that holds this worker.
        unsafe { &*self.identity.registry }
    }

    #[inline(always)]
    pub(super) fn sleep(&self) -> &Policy<P> {
        // SAFETY: the registry, which holds this worker, keeps the policy in an `Arc`.
        unsafe { &*self.identity.sleep }
    }

    /// Names this state for a simulator's report.
    pub(super) fn name(&self) {
        self.stack.name();
        self.spawned.name("worker: spawned jobs");
        P::name(&self.state, "worker: state");
    }

    /// The worker's number. This is not the number of its permit.
    #[inline]
    pub(super) fn id(&self) -> usize {
        self.identity.id
    }

    /// Whether the pool has started the worker's thread, or the thread is a visitor (`visit.rs`). Otherwise it holds
    /// the caller slot.
    pub(super) fn is_own(&self) -> bool {
        self.id() != 0 || self.registry().keeps_caller_slot()
    }

    /// The jobs of the worker's joins.
    #[inline(always)]
    pub(crate) fn stack(&self) -> &JobStack<P> {
        &self.stack
    }

    /// The worker's spawned jobs.
    pub(super) fn spawned(&self) -> &Queue<P> {
        &self.spawned
    }

    /// The worker's jobs from `spawn_fifo`.
    pub(super) fn fifo(&self) -> &Fifo<P> {
        &self.fifo
    }

    /// The state that the pool's monitor watches.
    #[inline(always)]
    pub(crate) fn watched(&self) -> &Watched<P> {
        &self.watched
    }

    /// The worker's permit.
    #[inline(always)]
    pub(super) fn holding(&self) -> &Holding<P> {
        &self.state.holding
    }

    /// Set when the pool ends. A worker without a job waits for this latch.
    pub(super) fn end(&self) -> &Latch<P> {
        &self.state.end
    }

    /// Set when all helpers (threads that joined the worker's loop) have left, or when a helper has left iterations
    /// undone.
    pub(super) fn helpers(&self) -> &Latch<P> {
        &self.state.helpers
    }

    /// One past the index of the stolen job for which the worker waits, or 0.
    pub(super) fn waits_for(&self) -> &P::AtomicU32 {
        &self.state.waits_for
    }

    /// Records that the current thread is this worker's thread. Relaxed: `is_thread_blocked` reads this as a hint.
    pub(super) fn note_thread(&self) {
        (self.state.thread).store(P::thread_number(), Ordering::Relaxed);
    }

    /// Whether the worker's thread sleeps in the system, as a hint.
    pub(super) fn is_thread_blocked(&self) -> bool {
        P::is_blocked(self.state.thread.load(Ordering::Relaxed))
    }

    /// Notes the event count. Called before a search, so that a later post keeps the worker from sleeping.
    pub(super) fn note_posts(&self) {
        self.note_seen(self.posts());
    }

    /// The event count of the worker's cluster (its near workers) now.
    pub(super) fn posts(&self) -> Seen {
        (self.registry().shared().idle().events).seen(self.cluster())
    }

    /// Whether loops, or calls from outside, may have been posted since the event count was `seen`. This is so if the
    /// count has changed, or the worker is in another cluster now.
    pub(super) fn has_posts_after(&self, seen: Seen) -> bool {
        !seen.is_of(self.cluster()) || self.registry().shared().idle().events.is_past(seen)
    }

    /// The event count (the number of posted loops and calls from outside) as it was before the last search.
    pub(super) fn seen(&self) -> Seen {
        self.state.seen.get()
    }

    /// Records the event count `seen`. A post after it keeps the worker from sleeping.
    pub(super) fn note_seen(&self, seen: Seen) {
        self.state.seen.set(seen);
    }

    /// The scope to which the worker's current job or scope body belongs, or null. A stolen job does not change this
    /// value, since the job's scope is unknown.
    pub(crate) fn group(&self) -> *const Group {
        self.state.group.get()
    }

    /// Records that the worker enters or re-enters a job of the scope `group`, or the body of that scope. Returns the
    /// previous group.
    pub(super) fn enter_group(&self, group: *const Group) -> *const Group {
        self.state.group.replace(group)
    }

    /// Whether the worker is running a detached job.
    pub(super) fn is_detached(&self) -> bool {
        self.state.detached.get() > 0
    }

    /// Runs a detached job.
    pub(super) fn run_detached<R>(&self, job: impl FnOnce() -> R) -> R {
        let detached = &self.state.detached;
        detached.set(detached.get() + 1);
        let result = job();
        detached.set(detached.get() - 1);
        result
    }

    /// Runs `section`, which does not unwind, one level deeper. Returns `false` at once if there are `most` levels.
    pub(super) fn nested(&self, most: u32, section: impl FnOnce() -> bool) -> bool {
        let nested = &self.state.nested;
        let depth = nested.get();
        if depth == most {
            return false;
        }
        nested.set(depth + 1);
        let result = section();
        nested.set(depth);
        result
    }

    /// Whether the system has preempted the worker's thread since the last call of this function. This makes a system
    /// call.
    #[cold]
    pub(crate) fn was_put_aside(&self) -> bool {
        let now = P::preemptions();
        self.state.preemptions.replace(now) != now
    }

    /// Counts a search. Returns the number of searches before.
    pub(super) fn count_search(&self) -> u32 {
        let searches = self.state.searches.get();
        self.state.searches.set(searches.wrapping_add(1));
        searches
    }

    /// The worker's next pseudo-random number, by Marsaglia's xorshift. The numbers only need to spread thieves over
    /// the workers.
    pub(super) fn random(&self) -> u32 {
        let mut x = self.state.random.get();
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        self.state.random.set(x);
        x
    }

    /// Gives the worker's permit away, if it has one.
    pub(super) fn leave_permit(&self) {
        // Even if the allotment (how many cores the pool may use now) does not include this permit, it needs a holder.
        // The holder reads the jobs that are sent to the permit, and notices when the allotment grows. A pool that has
        // ended needs no holder.
        let registry = self.registry();
        let over = registry.shared().is_terminating() && !registry.has_detached();
        if self.has_permit() && !over {
            self.give_permit();
        }
    }
}
