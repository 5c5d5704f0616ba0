//! The registry: a pool's workers as fork-join sees them.

use super::Cores;
use super::gate::{Gate, MOST_WORKERS};
use super::mailbox::Mailbox;
use super::places::{NOWHERE, Places};
use super::queue::{Group, Queue};
use super::roster::Roster;
use super::search::{Look, Waits};
use super::shared::{Shared, is_oversubscribed};
use super::worker::Context;
use crate::World;
use crate::elastic::Allotment;
use crate::sleep::policy::Setup;
use crate::sleep::{Idle, Latch, Sleep};
use crate::steal::JobStack;
use crate::world::Make;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform, ThreadSpec};
use std::any::Any;
use std::cell::Cell;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// What a detached job's panic is handed to.
pub(super) type PanicHandler = Arc<dyn Fn(Box<dyn Any + Send>) + Send + Sync>;

/// Jobs that a worker's stack holds at most, unless the builder says otherwise:
/// a `join` deeper than that runs both halves one after the other. 1.5 MiB of address
/// space a thread.
pub(super) const STACK_CAPACITY: u32 = 1 << 16;

/// Everything of a pool.
pub(crate) struct Registry<W: World> {
    pub(crate) shared: Shared<W::Platform>,
    pub(super) sleep: Arc<W::Sleep>,
    /// Worker 0 is whoever has the caller slot (`caller_slot.rs`); those beyond the pool's
    /// threads belong to threads that were started for a place (`places.rs`).
    pub(super) workers: Roster<W::Platform, Worker<W>>,
    /// Jobs addressed to the holder of each place.
    pub(super) mail: Box<[Mailbox<W::Platform>]>,
    /// Jobs and calls from outside, first come, first served.
    pub(super) queue: CachePadded<Queue<W::Platform>>,
    pub(super) places: CachePadded<Places<W::Platform>>,
    /// Detached jobs and calls from the queue that have not ended.
    pub(super) roots: CachePadded<<W::Platform as Platform>::AtomicUsize>,
    pub(super) panic_handler: Option<PanicHandler>,
    /// How the pool's threads are made.
    pub(super) thread: ThreadSpec,
    /// Where the thread in each place is bound.
    pub(super) cpus: Vec<Vec<usize>>,
    pub(super) stack_capacity: u32,
    /// Threads that were started.
    pub(super) threads: crate::sync::Lock<W::Platform, Vec<<W::Platform as Platform>::Thread>>,
    /// Whether an adopted thread has the caller slot, for good.
    pub(super) adopted: bool,
    /// Whether a thread of the pool's own has it, for good.
    pub(super) keeps_caller_slot: bool,
    pub(super) me: Weak<Self>,
}

/// One worker's own.
#[repr(C)]
pub(crate) struct Worker<W: World> {
    pub(super) stack: JobStack<W::Platform>,
    /// Read-only after the pool is made.
    pub(super) known: CachePadded<Known<W>>,
    /// Its spawned jobs.
    pub(super) spawned: CachePadded<Queue<W::Platform>>,
    /// Its jobs from `spawn_fifo`.
    pub(super) fifo: CachePadded<Queue<W::Platform>>,
    pub(super) state: CachePadded<WorkerState<W::Platform>>,
}

pub(super) struct Known<W: World> {
    pub(super) id: usize,
    /// The registry's, without a detour.
    pub(super) sleep: *const W::Sleep,
    pub(super) registry: *const Registry<W>,
}

/// What a worker writes now and then.
pub(super) struct WorkerState<P: Platform> {
    /// Its place, or NOWHERE.
    pub(super) place: P::AtomicU32,
    /// Where it sleeps without one.
    pub(super) alone: P::Futex,
    /// Set when the pool ends: what a worker without a job waits for.
    pub(super) end: Latch<P>,
    /// Set when the helpers of its loop have left, or have left something behind.
    pub(super) helpers: Latch<P>,
    /// One past the index of the stolen job it waits for; 0: none.
    pub(super) waits_for: P::AtomicU32,
    /// The event count before the last search.
    pub(super) seen: Cell<u32>,
    /// The scope whose job or body it is in, as far as it knows.
    pub(super) group: Cell<*const Group>,
    /// Detached jobs that it is in the midst of.
    pub(super) detached: Cell<u32>,
    /// Where the next search begins.
    pub(super) random: Cell<u32>,
    /// Searches so far.
    pub(super) searches: Cell<u32>,
}

// SAFETY: cells are the worker's own thread's (for worker 0, of whoever has the
// caller slot, handed over with acquire and release); pointers are to the registry that
// holds the worker, and `S` and the registry are shared as they stand. Groups are looked
// into under the lock of a queue that holds a job of theirs, which keeps them alive.
unsafe impl<W: World> Sync for Worker<W> {}
// SAFETY: as above.
unsafe impl<W: World> Send for Worker<W> {}

/// How a registry is made.
pub(super) struct Plan<W: World> {
    pub(super) sleep: Make<W>,
    /// The core group of each thread.
    pub(super) groups: Vec<u32>,
    pub(super) stack_capacity: u32,
    pub(super) panic_handler: Option<PanicHandler>,
    pub(super) thread: ThreadSpec,
    pub(super) cpus: Vec<Vec<usize>>,
    pub(super) adopted: bool,
    pub(super) keeps_caller_slot: bool,
    pub(super) cores: Cores,
    pub(super) spin_budget: Duration,
    pub(super) allotment: Option<Allotment<W::Platform>>,
}

impl<W: World> Registry<W> {
    pub(super) fn new(plan: Plan<W>) -> io::Result<Arc<Self>> {
        // Asks for light fences that are light, before the first is used.
        W::Platform::heavy_fence();
        let threads = plan.groups.len();
        // A thread that spins where threads outnumber cores may keep the one it waits for
        // from running.
        let follows = plan.allotment.as_ref();
        let crowded = is_oversubscribed(threads, plan.cores, follows);
        let seated = crowded.then(|| plan.cores.cores.saturating_sub(1));
        let idle = Arc::new(Idle::new(plan.spin_budget, seated));
        let sleep = Arc::new((plan.sleep)(&Setup {
            groups: &plan.groups,
            idle: &idle,
        }));
        let mut stacks = Vec::with_capacity(threads);
        for _ in 0..threads {
            stacks.push(JobStack::new(plan.stack_capacity)?);
        }
        let registry = Arc::new_cyclic(|registry: &Weak<Self>| {
            let workers = stacks.into_iter().enumerate();
            let workers = workers.map(|(id, stack)| {
                Worker::with_stack(id, id as u32, stack, Arc::as_ptr(&sleep), registry.as_ptr())
            });
            Self {
                shared: Shared::new(threads, plan.cores, idle, plan.allotment),
                workers: Roster::new(workers.collect(), MOST_WORKERS),
                sleep,
                mail: (0..threads).map(|_| Mailbox::new()).collect(),
                queue: Queue::new(),
                places: CachePadded::new(Places::new()),
                roots: CachePadded::new(<W::Platform as Platform>::AtomicUsize::new(0)),
                panic_handler: plan.panic_handler,
                thread: plan.thread,
                cpus: plan.cpus,
                stack_capacity: plan.stack_capacity,
                threads: crate::sync::Lock::new(Vec::new()),
                adopted: plan.adopted,
                keeps_caller_slot: plan.keeps_caller_slot,
                me: Weak::clone(registry),
            }
        });
        registry
            .shared
            .caller_context()
            .set(Context::of_worker(registry.worker(0)));
        Ok(registry)
    }

    /// Worker `id`, which exists.
    #[inline]
    pub(super) fn worker(&self, id: usize) -> &Worker<W> {
        self.workers.get(id)
    }

    /// Names what threads wait on and fight over, where they are to stay.
    pub(super) fn name(&self) {
        self.shared.name();
        self.sleep.name();
        self.queue.name("pool: queue");
        self.places.name();
        W::Platform::name(&self.roots, "pool: roots");
        self.mail.iter().for_each(Mailbox::name);
        for worker in self.workers.iter() {
            worker.stack.name();
            worker.spawned.name("worker: spawned jobs");
            W::Platform::name(&worker.state, "worker: state");
        }
    }

    /// Calls somebody, near worker `near`, for a job in reach of all.
    pub(super) fn call_for(&self, near: usize, was_empty: bool) {
        if self.sleep.injected(near, 1, was_empty) {
            self.fill_caller_slot();
        }
        // Those who wait for a loop, awake, are told as if there were one.
        self.shared.idle().events.post();
    }

    /// Whether there are jobs that nobody has begun, as seen a moment ago.
    pub(super) fn has_jobs(&self) -> bool {
        let holds = |worker: &Worker<W>| !worker.stack.is_empty() || !worker.spawned.is_empty();
        !self.queue.is_empty() || self.places.is_awaited() || self.workers.iter().any(holds)
    }

    /// Has all workers end once no root is left. `deserted`: worker 0 is an adopted
    /// thread that takes no part in it.
    pub(super) fn terminate(&self, deserted: bool) {
        if deserted {
            self.mail[0].desert();
        }
        // Before the wake-ups: who is woken sees it.
        self.shared.terminate();
        // Against `one_root_less`, which counts, fences and reads: one of the two sees
        // that the pool is over. And against a sleeper's between lying down and its
        // last look: that sees the end, or it is found in bed below.
        W::Platform::fence(Ordering::SeqCst);
        self.close_bench();
        // What was sent to worker 0 is everybody's now, and somebody must come for it.
        for place in 0..self.mail.len() {
            self.sleep.notify(place);
        }
        self.end_if_over();
        // After the release above: who stands aside sees it.
        self.shared.nudge();
    }

    /// If the pool ends and no root is left, sends the workers home.
    pub(super) fn end_if_over(&self) {
        // Acquire: the roots are over before the pool is.
        if self.roots.load(Ordering::Acquire) != 0 {
            return;
        }
        for worker in self.workers.iter() {
            if worker.state.end.set() {
                self.notify(worker.known.id);
            }
        }
    }
}

impl<P: Platform> WorkerState<P> {
    fn new(id: usize, place: u32) -> Self {
        Self {
            place: P::AtomicU32::new(place),
            alone: <P::Futex as Atomic<u32>>::new(0),
            end: Latch::new(),
            helpers: Latch::new(),
            waits_for: P::AtomicU32::new(0),
            seen: Cell::new(0),
            group: Cell::new(std::ptr::null()),
            detached: Cell::new(0),
            random: Cell::new(id as u32 * 2 + 1),
            searches: Cell::new(0),
        }
    }
}

impl<W: World> Worker<W> {
    /// A worker without a place.
    pub(super) fn new(id: usize, stack_capacity: u32, registry: &Registry<W>) -> io::Result<Self> {
        let stack = JobStack::new(stack_capacity)?;
        let sleep = Arc::as_ptr(&registry.sleep);
        Ok(Self::with_stack(
            id,
            NOWHERE,
            stack,
            sleep,
            registry.me.as_ptr(),
        ))
    }

    fn with_stack(
        id: usize,
        place: u32,
        stack: JobStack<W::Platform>,
        sleep: *const W::Sleep,
        registry: *const Registry<W>,
    ) -> Self {
        Self {
            stack,
            known: CachePadded::new(Known {
                id,
                sleep,
                registry,
            }),
            spawned: Queue::new(),
            fifo: Queue::new(),
            state: CachePadded::new(WorkerState::new(id, place)),
        }
    }

    #[inline(always)]
    pub(crate) fn registry(&self) -> &Registry<W> {
        // SAFETY: the registry that holds this worker.
        unsafe { &*self.known.registry }
    }

    #[inline(always)]
    pub(super) fn sleep(&self) -> &W::Sleep {
        // SAFETY: the registry, which holds this worker, has it in an `Arc`.
        unsafe { &*self.known.sleep }
    }
}

/// A worker by what loops, which know no sleep policy, and other pools need of it.
pub(crate) trait Member<P: Platform> {
    /// Sleeps, as the caller of the loop behind `gate`, until something may have
    /// changed: the last helper has left, one `has_more` to say, or a loop was posted
    /// after `seen`. May return for no reason.
    fn await_helpers(&self, gate: &Gate<P>, seen: u32, has_more: &dyn Fn() -> bool);

    /// Gives its place away, if it has one.
    fn leave_place(&self);

    /// Waits until it has a place.
    fn regain_place(&self);
}

impl<W: World> Member<W::Platform> for Worker<W> {
    fn await_helpers(&self, gate: &Gate<W::Platform>, seen: u32, has_more: &dyn Fn() -> bool) {
        let latch = &self.state.helpers;
        self.state.seen.set(seen);
        latch.reset();
        gate.await_last(self.known.id);
        if !gate.is_empty() && !has_more() {
            let look = Look {
                worker: self,
                waits: Waits::ForLoop,
            };
            self.rest(latch, &look);
        }
        gate.awaited_no_more();
    }

    fn leave_place(&self) {
        // One that is not allowed to run keeps nobody from running; nor is anybody to
        // run in a pool that is over.
        let registry = self.registry();
        let over = registry.shared.is_terminating() && registry.roots.load(Ordering::Acquire) == 0;
        if self.has_place() && registry.shared.allows(self.place()) && !over {
            self.give_place();
        }
    }

    fn regain_place(&self) {
        Self::regain_place(self);
    }
}
