//! The crew: a pool's workers as fork-join sees them.

use super::mailbox::Mailbox;
use super::queue::Queue;
use super::seat::Seat;
use super::{Cores, Shared, is_oversubscribed};
use crate::elastic::Allotment;
use crate::sleep::policy::Setup;
use crate::sleep::{Idle, Latch, Sleep};
use crate::steal::JobStack;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform, ThreadSpec};
use std::any::Any;
use std::cell::Cell;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// What a detached job's panic is handed to.
pub(super) type PanicHandler = Arc<dyn Fn(Box<dyn Any + Send>) + Send + Sync>;

/// Jobs that a worker's stack holds at most, unless the builder says otherwise:
/// a `join` deeper than that runs both halves one after the other.
pub(super) const STACK_CAPACITY: u32 = 1 << 20;

/// Everything of a pool.
pub(crate) struct Crew<P: Platform, S> {
    pub(crate) shared: Shared<P>,
    pub(super) sleep: Arc<S>,
    /// Worker 0 is whoever has taken the seat: a visitor, or a thread of the
    /// pool's own (`seat.rs`).
    pub(super) workers: Box<[Worker<P, S>]>,
    /// Jobs from outside that nobody waits for.
    pub(super) injector: CachePadded<Queue<P>>,
    /// Calls from outside whose callers block until they are done.
    pub(super) handed_in: CachePadded<Queue<P>>,
    pub(super) seat: Seat<P>,
    /// Detached jobs that have not ended.
    pub(super) pending: CachePadded<P::AtomicUsize>,
    pub(super) panic_handler: Option<PanicHandler>,
    /// How the pool's own thread for the seat is made.
    pub(super) own_thread: ThreadSpec,
    /// Whether an adopted thread has the seat, for good.
    pub(super) adopted: bool,
    me: Weak<Self>,
}

/// One worker's own.
#[repr(C)]
pub(crate) struct Worker<P: Platform, S> {
    pub(super) stack: JobStack<P>,
    /// Read-only after the pool is made.
    pub(super) known: CachePadded<Known<P, S>>,
    /// Its spawned jobs.
    pub(super) spawned: CachePadded<Queue<P>>,
    /// Its jobs from `spawn_fifo`.
    pub(super) fifo: CachePadded<Queue<P>>,
    /// Jobs addressed to it.
    pub(super) mailbox: Mailbox<P>,
    pub(super) state: CachePadded<State<P>>,
}

pub(super) struct Known<P: Platform, S> {
    pub(super) index: usize,
    /// The crew's, without a detour.
    pub(super) sleep: *const S,
    pub(super) crew: *const Crew<P, S>,
}

/// What a worker writes now and then.
pub(super) struct State<P: Platform> {
    /// Set when the pool ends: what a worker without a job waits for.
    pub(super) end: Latch<P>,
    /// One past the index of the stolen job it waits for; 0: none.
    pub(super) waits_for: P::AtomicU32,
    /// The event count before the last search.
    pub(super) seen: Cell<u32>,
    /// Jobs not descended from what the worker waits for that are on its stack.
    pub(super) depth: Cell<u32>,
    /// Detached jobs that it is in the midst of.
    pub(super) detached: Cell<u32>,
    /// Where the next search begins.
    pub(super) random: Cell<u32>,
}

// SAFETY: cells are the worker's own thread's (for worker 0, of whoever has the
// seat, handed over with acquire and release); pointers are to the crew that
// holds the worker, and `S` and the crew are shared as they stand.
unsafe impl<P: Platform, S: Sync> Sync for Worker<P, S> {}
// SAFETY: as above.
unsafe impl<P: Platform, S: Send> Send for Worker<P, S> {}

/// How a crew is made.
pub(super) struct Plan<P: Platform> {
    /// The core group of each thread.
    pub(super) groups: Vec<u32>,
    pub(super) stack_capacity: u32,
    pub(super) panic_handler: Option<PanicHandler>,
    pub(super) own_thread: ThreadSpec,
    pub(super) adopted: bool,
    pub(super) cores: Cores,
    pub(super) spin_budget: Duration,
    pub(super) allotment: Option<Allotment<P>>,
}

impl<P: Platform, S: Sleep<P>> Crew<P, S> {
    pub(super) fn new(plan: Plan<P>) -> Arc<Self> {
        // Asks for light fences that are light, before the first is used.
        P::heavy_fence();
        let threads = plan.groups.len();
        // Who spins where threads outnumber cores may keep the one it waits for
        // from running.
        let follows = plan.allotment.as_ref();
        let spin_budget = if is_oversubscribed(threads, plan.cores, follows) {
            Duration::ZERO
        } else {
            plan.spin_budget
        };
        let idle = Arc::new(Idle::new(spin_budget));
        let sleep = Arc::new(S::new(&Setup {
            groups: &plan.groups,
            idle: &idle,
        }));
        Arc::new_cyclic(|crew| {
            let worker = |index| Worker {
                stack: JobStack::new(plan.stack_capacity),
                known: CachePadded::new(Known {
                    index,
                    sleep: Arc::as_ptr(&sleep),
                    crew: crew.as_ptr(),
                }),
                spawned: Queue::new(),
                fifo: Queue::new(),
                mailbox: Mailbox::new(),
                state: CachePadded::new(State::new(index)),
            };
            Self {
                shared: Shared::new(
                    threads,
                    plan.cores,
                    idle,
                    Arc::<S>::clone(&sleep),
                    Weak::<Self>::clone(crew),
                    plan.allotment,
                ),
                workers: (0..threads).map(worker).collect(),
                sleep,
                injector: Queue::new(),
                handed_in: Queue::new(),
                seat: Seat::new(),
                pending: CachePadded::new(P::AtomicUsize::new(0)),
                panic_handler: plan.panic_handler,
                own_thread: plan.own_thread,
                adopted: plan.adopted,
                me: Weak::clone(crew),
            }
        })
    }

    /// Names what threads wait on and fight over, where they are to stay.
    pub(super) fn name(&self) {
        self.shared.name();
        self.sleep.name();
        self.injector.name("pool: injector");
        self.handed_in.name("pool: calls handed in");
        P::name(&self.pending, "pool: detached jobs");
        for worker in &self.workers {
            worker.stack.name();
            worker.spawned.name("worker: spawned jobs");
            worker.mailbox.name();
            P::name(&worker.state, "worker: state");
        }
    }

    /// A reference that keeps the crew.
    pub(super) fn keep(&self) -> Arc<Self> {
        self.me.upgrade().expect("a crew in use is alive")
    }

    /// Has all workers end once no detached job is left. `deserted`: worker 0 is an
    /// adopted thread that takes no part in it.
    pub(super) fn terminate(&self, deserted: bool) {
        if deserted {
            self.workers[0].mailbox.desert();
        }
        // Release before the wake-ups: who is woken sees it.
        self.shared.terminating.store(true, Ordering::Release);
        if deserted {
            // Whoever sleeps until a call sent to worker 0 has ended must come for
            // that call. The fence is against a sleeper's between lying down and its
            // last look: that sees the end, or it is found in bed below.
            P::fence(Ordering::SeqCst);
        }
        for worker in &self.workers {
            if worker.state.end.set() || deserted {
                self.sleep.notify(worker.known.index);
            }
        }
        // After the release above: who stands aside sees it.
        self.shared.nudge();
    }
}

impl<P: Platform> State<P> {
    fn new(index: usize) -> Self {
        Self {
            end: Latch::new(),
            waits_for: P::AtomicU32::new(0),
            seen: Cell::new(0),
            depth: Cell::new(0),
            detached: Cell::new(0),
            random: Cell::new(index as u32 * 2 + 1),
        }
    }
}

impl<P: Platform, S: Sleep<P>> Worker<P, S> {
    #[inline(always)]
    pub(super) fn crew(&self) -> &Crew<P, S> {
        // SAFETY: the crew that holds this worker.
        unsafe { &*self.known.crew }
    }

    #[inline(always)]
    pub(super) fn sleep(&self) -> &S {
        // SAFETY: the crew, which holds this worker, has it in an `Arc`.
        unsafe { &*self.known.sleep }
    }
}
