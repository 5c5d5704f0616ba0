//! The crew: a pool's workers as fork-join sees them.

use super::gate::{Gate, MOST_WORKERS};
use super::mailbox::Mailbox;
use super::places::{NOWHERE, Places};
use super::queue::{Group, Queue};
use super::roster::Roster;
use super::search::{Look, Waits};
use super::worker::Context;
use super::{Cores, Members, Shared, is_oversubscribed};
use crate::elastic::Allotment;
use crate::loops::Body;
use crate::sleep::policy::{Make, Setup};
use crate::sleep::{Idle, Latch, Sleep};
use crate::steal::JobStack;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform, ThreadSpec};
use std::any::Any;
use std::cell::Cell;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// What a detached job's panic is handed to.
pub(super) type PanicHandler = Arc<dyn Fn(Box<dyn Any + Send>) + Send + Sync>;

/// Jobs that a worker's stack holds at most, unless the builder says otherwise:
/// a `join` deeper than that runs both halves one after the other. 1.5 MiB of address
/// space a thread.
pub(super) const STACK_CAPACITY: u32 = 1 << 16;

/// Everything of a pool.
pub(crate) struct Crew<P: Platform, S> {
    pub(crate) shared: Shared<P>,
    pub(super) sleep: Arc<S>,
    /// Worker 0 is whoever sits in the seat (`seat.rs`); those beyond the pool's
    /// threads belong to threads that were started for a place (`places.rs`).
    pub(super) workers: Roster<P, Worker<P, S>>,
    /// Jobs addressed to the holder of each place.
    pub(super) mail: Box<[Mailbox<P>]>,
    /// Jobs and calls from outside, first come, first served.
    pub(super) queue: CachePadded<Queue<P>>,
    pub(super) places: CachePadded<Places<P>>,
    /// Detached jobs and calls from the queue that have not ended.
    pub(super) roots: CachePadded<P::AtomicUsize>,
    pub(super) panic_handler: Option<PanicHandler>,
    /// How the pool's threads are made.
    pub(super) thread: ThreadSpec,
    /// Where the thread in each place is bound.
    pub(super) cpus: Vec<Vec<usize>>,
    pub(super) stack_capacity: u32,
    /// Threads that were started.
    pub(super) threads: crate::sync::Lock<P, Vec<P::Thread>>,
    /// Whether an adopted thread has the seat, for good.
    pub(super) adopted: bool,
    /// Whether a thread of the pool's own has it, for good.
    pub(super) keeps_seat: bool,
    pub(super) me: Weak<Self>,
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
    pub(super) state: CachePadded<State<P>>,
}

pub(super) struct Known<P: Platform, S> {
    pub(super) id: usize,
    /// The crew's, without a detour.
    pub(super) sleep: *const S,
    pub(super) crew: *const Crew<P, S>,
}

/// What a worker writes now and then.
pub(super) struct State<P: Platform> {
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
// seat, handed over with acquire and release); pointers are to the crew that
// holds the worker, and `S` and the crew are shared as they stand. Groups are looked
// into under the lock of a queue that holds a job of theirs, which keeps them alive.
unsafe impl<P: Platform, S: Sync> Sync for Worker<P, S> {}
// SAFETY: as above.
unsafe impl<P: Platform, S: Send> Send for Worker<P, S> {}

/// How a crew is made.
pub(super) struct Plan<P: Platform, S> {
    pub(super) sleep: Make<P, S>,
    /// The core group of each thread.
    pub(super) groups: Vec<u32>,
    pub(super) stack_capacity: u32,
    pub(super) panic_handler: Option<PanicHandler>,
    pub(super) thread: ThreadSpec,
    pub(super) cpus: Vec<Vec<usize>>,
    pub(super) adopted: bool,
    pub(super) keeps_seat: bool,
    pub(super) cores: Cores,
    pub(super) spin_budget: Duration,
    pub(super) allotment: Option<Allotment<P>>,
}

impl<P: Platform, S: Sleep<P>> Crew<P, S> {
    pub(super) fn new(plan: Plan<P, S>) -> io::Result<Arc<Self>> {
        // Asks for light fences that are light, before the first is used.
        P::heavy_fence();
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
        let crew = Arc::new_cyclic(|crew: &Weak<Self>| {
            let workers = stacks.into_iter().enumerate();
            let workers = workers.map(|(id, stack)| {
                Worker::with_stack(id, id as u32, stack, Arc::as_ptr(&sleep), crew.as_ptr())
            });
            let members: *const dyn Members<P> = crew.as_ptr();
            Self {
                shared: Shared::new(
                    threads,
                    plan.cores,
                    idle,
                    Arc::<S>::clone(&sleep),
                    members,
                    plan.allotment,
                ),
                workers: Roster::new(workers.collect(), MOST_WORKERS),
                sleep,
                mail: (0..threads).map(|_| Mailbox::new()).collect(),
                queue: Queue::new(),
                places: CachePadded::new(Places::new()),
                roots: CachePadded::new(P::AtomicUsize::new(0)),
                panic_handler: plan.panic_handler,
                thread: plan.thread,
                cpus: plan.cpus,
                stack_capacity: plan.stack_capacity,
                threads: crate::sync::Lock::new(Vec::new()),
                adopted: plan.adopted,
                keeps_seat: plan.keeps_seat,
                me: Weak::clone(crew),
            }
        });
        crew.shared.seated.set(Context::of_worker(crew.worker(0)));
        Ok(crew)
    }

    /// Worker `id`, which exists.
    #[inline]
    pub(super) fn worker(&self, id: usize) -> &Worker<P, S> {
        self.workers.get(id)
    }

    /// Names what threads wait on and fight over, where they are to stay.
    pub(super) fn name(&self) {
        self.shared.name();
        self.sleep.name();
        self.queue.name("pool: queue");
        self.places.name();
        P::name(&self.roots, "pool: roots");
        self.mail.iter().for_each(Mailbox::name);
        for worker in self.workers.iter() {
            worker.stack.name();
            worker.spawned.name("worker: spawned jobs");
            P::name(&worker.state, "worker: state");
        }
    }

    /// Calls somebody, near worker `near`, for a job in reach of all.
    pub(super) fn call_for(&self, near: usize, was_empty: bool) {
        if self.sleep.injected(near, 1, was_empty) {
            self.fill_seat();
        }
        // Those who wait for a loop, awake, are told as if there were one.
        self.shared.idle.events.post();
    }

    /// Whether there are jobs that nobody has begun, as seen a moment ago.
    pub(super) fn has_jobs(&self) -> bool {
        let holds = |worker: &Worker<P, S>| !worker.stack.is_empty() || !worker.spawned.is_empty();
        !self.queue.is_empty() || self.places.is_awaited() || self.workers.iter().any(holds)
    }

    /// Has all workers end once no root is left. `deserted`: worker 0 is an adopted
    /// thread that takes no part in it.
    pub(super) fn terminate(&self, deserted: bool) {
        if deserted {
            self.mail[0].desert();
        }
        // Release before the wake-ups: who is woken sees it.
        self.shared.terminating.store(true, Ordering::Release);
        // Against `one_root_less`, which counts, fences and reads: one of the two sees
        // that the pool is over. And against a sleeper's between lying down and its
        // last look: that sees the end, or it is found in bed below.
        P::fence(Ordering::SeqCst);
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

impl<P: Platform, S: Sleep<P>> Members<P> for Crew<P, S> {
    fn split(&self, body: Body<'_>, range: Range<usize>) {
        self.halve_all(body, range);
    }

    fn run_inside(&self, op: &mut (dyn FnMut() + '_)) {
        self.run_elsewhere(op);
    }

    fn get_up_slowly(&self) {
        Self::get_up_slowly(self);
    }

    fn fill_seat(&self) {
        Self::fill_seat(self);
    }

    fn tell_caller(&self, caller: usize) {
        if self.worker(caller).state.helpers.set() {
            self.notify(caller);
        }
    }
}

impl<P: Platform> State<P> {
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

impl<P: Platform, S: Sleep<P>> Worker<P, S> {
    /// A worker without a place.
    pub(super) fn new(id: usize, stack_capacity: u32, crew: &Crew<P, S>) -> io::Result<Self> {
        let stack = JobStack::new(stack_capacity)?;
        let sleep = Arc::as_ptr(&crew.sleep);
        Ok(Self::with_stack(
            id,
            NOWHERE,
            stack,
            sleep,
            crew.me.as_ptr(),
        ))
    }

    fn with_stack(
        id: usize,
        place: u32,
        stack: JobStack<P>,
        sleep: *const S,
        crew: *const Crew<P, S>,
    ) -> Self {
        Self {
            stack,
            known: CachePadded::new(Known { id, sleep, crew }),
            spawned: Queue::new(),
            fifo: Queue::new(),
            state: CachePadded::new(State::new(id, place)),
        }
    }

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

impl<P: Platform, S: Sleep<P>> Member<P> for Worker<P, S> {
    fn await_helpers(&self, gate: &Gate<P>, seen: u32, has_more: &dyn Fn() -> bool) {
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
        let crew = self.crew();
        let over = crew.shared.is_terminating() && crew.roots.load(Ordering::Acquire) == 0;
        if self.has_place() && crew.shared.allows(self.place()) && !over {
            self.give_place();
        }
    }

    fn regain_place(&self) {
        Self::regain_place(self);
    }
}
