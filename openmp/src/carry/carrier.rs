//! Claims the workers (a kernel thread for each core) for a team, and *carries* the team's regions: the workers execute
//! the team's threads, the ranks.

use super::home::{Home, STACK};
use super::parked::SecondStack;
use super::rank::Rank;
use super::registry::Lead;
use super::worker::Worker;
use super::{
    code_map, current, kernel_threads, parked, pins, preempt, priority, registry, room, setxid,
    signals, switch, thread_state, vectors, watchdog,
};
use crate::environment::cores::cores;
use crate::environment::{places, settings};
use crate::system::masks::with_signals_blocked;
use crate::system::next::is_preloaded;
use crate::system::report::line;
use crate::system::shared_core;
use crate::system::threads::{Place, spawn};
use crate::team::Carrier;
use crate::team::context::Context;
use crate::words::Waiter;
use crate::words::bell::WORKERS;
use manycore_platform::{Native, Platform};
use std::cell::LazyCell;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32};

/// Claims the workers for a team of `size`, if its ranks can be carried. For example, the team must
/// have more ranks than there are cores, and another thread's team must not be carried. `waiting`
/// ranks wait for a team. If too many ranks have not left their last team yet, the next team is not
/// carried.
pub(crate) fn claim(
    context: &Context,
    depth: usize,
    size: u32,
    waiting: usize,
) -> Option<&'static dyn Carrier> {
    let wanted = settings().carries && switch::is_possible();
    let fits = size as usize > cores() && depth == 0;
    // A child process after `fork` has neither the workers nor the sleeping kernel threads of the
    // ranks.
    if !wanted
        || !fits
        || context.is_carried()
        || Native::forks() > 0
        || priority::is_announced()
        || !has_slots(size as usize, waiting)
        || !registry::claim(size as usize)
    {
        return None;
    }
    // The claim comes first: `is_there` counts the threads of the team as existing for ever.
    if !room::is_there(size as usize, cores()) {
        registry::release();
        return None;
    }
    let lead = lead();
    lead.rank.is_member(0);
    lead.rank.state.refresh(true);
    let worker = lead.worker.address();
    kernel_threads::enter(worker, switch::thread_pointer());
    pins::note_leader();
    // In a region, other kernel threads may execute the leader, and the leader's own kernel thread
    // executes ranks.
    parked::has_no_cpu();
    switch::use_vectors();
    signals::choose(preempt::handler, worker);
    lead.worker.alarm.make(worker);
    code_map::refresh(true);
    Some(lead)
}

/// Whether the registry has slots for the ranks of a team of `size`, if `waiting` ranks can join the team.
fn has_slots(size: usize, waiting: usize) -> bool {
    static TOLD: AtomicBool = AtomicBool::new(false);
    // All leaders have the same rank.
    let leaders = usize::from(registry::lead().is_some());
    let others = registry::rank_count().saturating_sub(waiting + leaders);
    // Relaxed: the flag publishes nothing else.
    if size >= registry::MOST && settings().displays && !TOLD.swap(true, Relaxed) {
        line(format_args!(
            "a team of {size} is not carried: a carried team has fewer than {} threads",
            registry::MOST
        ));
    }
    others + size < registry::MOST
}

impl Carrier for Lead {
    fn lead(&self, context: &Context) -> bool {
        // This must precede `is_announced`, for the reason in `begin_region`.
        registry::begin_region();
        if priority::is_announced() {
            registry::end_region();
            return false;
        }
        let Self { rank, worker } = *self;
        rank.state.refresh(false);
        worker.mask.set(rank.state.mask());
        worker.mask.runs();
        code_map::refresh(false);
        start_workers(rank);
        context.carried.set(Some(rank));
        rank.begin(Native::now());
        worker
            .current
            .store(ptr::from_ref(rank).cast_mut(), Relaxed);
        true
    }

    fn leave(&self, context: &Context) {
        if let Some(rank) = current::of(context) {
            context.carried.set(None);
            registry::division().inspect(|it| it.end_region());
            // All other ranks have ended the region, so worker 0 runs none of them.
            rank.pinned.store(true, Relaxed);
            rank.wait_once(None);
            rank.pinned.store(false, Relaxed);
            self.worker.current.store(ptr::null_mut(), Relaxed);
            self.worker.alarm.rank_has_left();
            registry::end_region();
        }
    }

    fn release(&self) {
        kernel_threads::leave();
        registry::release();
    }

    fn lacks_room(&self, waiting: usize) {
        room::was_missing(registry::size(), registry::rank_count().max(waiting + 1));
        self.release();
    }

    fn open_episode(&self, site: usize, begins: bool) {
        let took = |id| registry::member(id).map_or(0, |rank| rank.took.load(Relaxed));
        registry::division().inspect(|it| it.next(site, begins, took));
    }

    fn has_opened(&self) {
        if registry::division().is_some_and(|it| it.is_at_home()) {
            super::watchdog::send_home();
        }
    }

    fn miss_episode(&self) {
        registry::division().inspect(|it| it.miss());
    }
}

/// Returns the leader's rank and worker. The first call makes them. The caller has claimed the workers.
fn lead() -> &'static Lead {
    if let Some(lead) = registry::lead() {
        // The leader may be another thread than the last leader.
        lead.rank.thread_pointer.set(switch::thread_pointer());
        return lead;
    }
    vectors::find();
    let rank: &'static Rank = Box::leak(Box::new(Rank::new()));
    let worker = make_first_worker();
    rank.set_worker(worker);
    registry::add_rank(rank);
    let lead = Box::leak(Box::new(Lead { rank, worker }));
    registry::set_lead(lead);
    lead
}

/// Makes worker 0, and a thread that lends worker 0 its stack and thread-locals. The leader's kernel thread uses both
/// between ranks.
fn make_first_worker() -> &'static Worker {
    static READY: AtomicU32 = AtomicU32::new(0);
    static WORKER: AtomicPtr<Worker> = AtomicPtr::new(ptr::null_mut());
    let (worker, home) = (Place::new(), Place::new());
    with_signals_blocked(|| {
        spawn(c"omp-worker-0", Some(STACK), || {
            let worker = worker.fill(Worker::new(0));
            // Relaxed: `READY` publishes this store.
            WORKER.store(worker, Relaxed);
            let stack = SecondStack::expect();
            parked::part(
                stack,
                worker.stack.get(),
                &READY,
                Home::of_this_thread(home, None),
            );
            worker.work()
        });
    });
    // This wait is short: the thread only has to begin.
    while READY.load(Acquire) == 0 {
        std::thread::yield_now();
    }
    // By now the C library has installed its own handler: it does so when it starts the first thread, at the latest.
    setxid::install();
    if !is_preloaded() {
        thread_state::be_careful();
    }
    // SAFETY: the worker was stored before `READY`, and lives for ever.
    unsafe { &*WORKER.load(Relaxed) }
}

/// Makes the calling thread a rank. Returns when a worker executes the rank.
pub(crate) fn become_rank(context: &Context, stack: SecondStack) {
    shared_core::become_rank();
    let rank: &'static Rank = Box::leak(Box::new(Rank::new()));
    // When `part` has left this stack, no thread can ring the bell of the workers, `WORKERS`, for the rank. So workers
    // stay awake until one of them has taken the rank.
    rank.polled.set(true);
    let home = Home::of_this_thread(Place::new(), Some(rank));
    // No worker takes the rank yet: its word is `RUNNING` until `part` has left this stack.
    registry::add_rank(rank);
    WORKERS.ring();
    parked::part(stack, rank.stack.get(), rank.word.word(), home);
    // Not earlier: until here the rank has no worker, so functions that ask for the calling rank
    // must find no rank. The program's allocator may call such functions.
    context.carried.set(Some(rank));
    rank.polled.set(false);
}

/// Starts workers for all cores of the process.
fn start_workers(leader: &'static Rank) {
    let wanted = cores().min(registry::size());
    let unbound = LazyCell::new(pins::of_new_workers);
    while let Some(index) = registry::next_worker(wanted) {
        let cpus = places::of_worker(index).or_else(|| *unbound);
        let place = Place::new();
        with_signals_blocked(|| {
            spawn(c"omp-worker", Some(STACK), move || {
                cpus.inspect(|cpus| _ = cpus.put_on(0));
                place.fill(Worker::new(index)).work()
            });
        });
    }
    watchdog::start(leader);
}
