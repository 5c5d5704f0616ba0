//! Ranks that are carried: members of a team of more members than cores.
//!
//! Such a member is a POSIX thread. Its kernel thread sleeps; [`home`] has the exception. *Workers*, a kernel thread
//! for each core, run on its stack and with its thread-locals: to go from one rank to another
//! is to exchange the stack pointer and the thread pointer, some 15 ns. `threadprivate` variables, `errno`,
//! `malloc` and `pthread_self` are the rank's on every worker. [`state`] lists what else goes with a rank.
//!
//! # Who runs what
//!
//! A rank goes on until it waits: at a barrier, for a lock, for tasks. It then leaves its worker with
//! the condition that it waits for. The worker looks for a rank whose condition holds:
//! among those that are its own (an even share, the same at each barrier), and if there is none for
//! [`POLITENESS`] among all. So T ranks on C cores take ceil(T/C) intervals, not a time slice of
//! the system's for each.
//!
//! The thread that begins the regions is worker 0 and one of the ranks. At the end of a region
//! only worker 0 runs that rank, so that it comes back to its own kernel thread. What worker 0
//! does between ranks, it does on the stack of a thread that was made for that.
//!
//! Where barriers are, ranks are *cut* as well: a rank leaves its worker at any instruction, by a
//! timer's signal ([`alarm`]), and another worker goes on with it. Then T ranks of w take T/C w
//! ([`division`]). To leave in a handler is to wait for nothing: the protocol is the same.
//!
//! # The words
//!
//! | state of a rank | what | next |
//! |---|---|---|
//! | `RUNNING` | a worker executes it, or looks at its condition | `WAITING`, by that worker |
//! | `WAITING` | nobody does; its stack is saved, its condition lives there | `RUNNING`, by whoever exchanges it |
//!
//! The worker that has exchanged the word to `RUNNING` has the rank alone. The worker puts `WAITING`
//! back by a release, after it has left the rank's stack.
//!
//! # No wake-up is lost
//!
//! A worker that finds nothing for long adds itself to `idle`, reads `event`, looks at all ranks, and
//! sleeps while `event` is as it was. Whoever makes a condition true (`Bell::ring`,
//! `WordLock::unlock`) reads `idle` after a full fence, and if it is not 0 changes `event`. As in
//! [`bell`](crate::bell), one of the two sees the other. A rank
//! whose condition another worker looks at meanwhile is that worker's: it looks at all again before it
//! sleeps, or wakes the others if it goes without a look (`Rest::pass_on`). `checked` runs this under loom.
//! A worker that has no core is not among the `idle`: it sleeps until the allotment gives it one.
//!
//! # Ranks that do not come back
//!
//! A rank may spin on a word of the program's that another rank is to write. A worker that has not
//! changed ranks for [`STALL`], or for twice what its rank should take, while ranks wait to be run, is
//! made to by its alarm. Where that happens again and again, between the same two barriers, ranks have
//! turns from then on, as long as loses least. A rank that is known to wait for memory ([`waits`]) is
//! taken again when that has changed. A worker whose core is taken away leaves its rank at the next look.
//! A rank may also block in the kernel,
//! or spin where it cannot be cut. If that changes nothing, another rank goes on at its own kernel thread, its
//! [`home`]; the system then shares the cores. So every rank goes on some time.
//!
//! A rank that waits in the system's ways, by yielding or sleeping, leaves by itself ([`yields`], [`sleeps`]).

mod alarm;
mod allocators;
mod balance;
mod calls;
mod caution;
#[cfg(test)]
mod checked;
mod code;
mod division;
mod frame;
mod home;
mod interposed;
mod kernel;
mod mask;
mod next;
mod objects;
mod order;
mod parked;
mod pending;
mod policy;
mod priority;
mod pulse;
mod rank;
mod setxid;
mod signals;
mod sleeps;
mod spare;
mod state;
mod switch;
mod turns;
mod typical;
mod waits;
mod words;
mod worker;
mod yields;

pub(crate) use rank::Rank;
pub(crate) use state::with_signals_blocked;

use crate::context::Context;
use crate::environment::cores;
use division::Division;
use manycore_platform::{Native, Platform};
use mask::Changes;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize};
use std::time::Duration;
use words::Rest;
use worker::Worker;

/// The size of workers' stacks. A handler of the program's may run there between two ranks.
const STACK: usize = 1 << 20;
/// How long a worker leaves others' ranks alone when it has none itself.
const POLITENESS: Duration = Duration::from_micros(1);
/// How long a worker that has nothing to do stays awake.
const PATIENCE: Duration = Duration::from_micros(200);
/// How long ranks wait beside a worker that does not change ranks until something is done.
const STALL: Duration = Duration::from_millis(5);
/// Ranks that there may be.
const MOST: usize = 1024;

/// All ranks and workers.
struct Hall {
    /// Each once made; never removed.
    ranks: [AtomicPtr<Rank>; MOST],
    count: AtomicUsize,
    /// Those of the team that is carried, by number.
    members: [AtomicPtr<Rank>; MOST],
    /// Workers with threads of their own.
    started: AtomicUsize,
    /// Workers by number, without spare workers; never removed.
    workers: [AtomicPtr<Worker>; MOST],
    /// The leader's rank and worker.
    leader: AtomicPtr<Rank>,
    soul: AtomicPtr<Worker>,
    /// The size of the team that is carried.
    size: AtomicUsize,
    division: AtomicPtr<Division>,
    owned: AtomicBool,
    /// A region of that team runs.
    in_region: AtomicBool,
    rest: Rest<Native>,
    changes: Changes<Native>,
}

static HALL: Hall = Hall {
    ranks: [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST],
    count: AtomicUsize::new(0),
    members: [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST],
    started: AtomicUsize::new(1),
    workers: [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST],
    leader: AtomicPtr::new(std::ptr::null_mut()),
    soul: AtomicPtr::new(std::ptr::null_mut()),
    size: AtomicUsize::new(0),
    division: AtomicPtr::new(std::ptr::null_mut()),
    owned: AtomicBool::new(false),
    in_region: AtomicBool::new(false),
    rest: Rest {
        idle: AtomicU32::new(0),
        event: AtomicU32::new(0),
    },
    changes: Changes(AtomicU32::new(0)),
};

/// Called by the loader.
pub(crate) fn on_load() {
    next::find();
    signals::find();
    interposed::find();
    priority::find();
    sleeps::find();
    yields::find();
}

/// Whether the program calls the functions of the C library that are defined here.
pub(crate) fn is_heard() -> bool {
    interposed::are_effective()
}

/// Takes the hall for a team of `size`, if its ranks are to be carried: they are more than the
/// cores, the processor can do it, and no other thread's team is.
pub(crate) fn claim(context: &Context, depth: usize, size: u32) -> bool {
    let wanted = crate::environment::settings().carries && switch::is_possible();
    let fits = size as usize > cores() && (size as usize) < MOST && depth == 0;
    // In a child after `fork` the kernel threads that slept for ranks are not there, nor the workers.
    if !wanted
        || !fits
        || context.is_carried()
        || crate::crew::forks() > 0
        || priority::is_announced()
    {
        return false;
    }
    if HALL.owned.swap(true, AcqRel) {
        return false;
    }
    let division = division::of_size(size as usize);
    division.miss();
    HALL.size.store(size as usize, Relaxed);
    HALL.division
        .store(std::ptr::from_ref(division).cast_mut(), Release);
    leader().is_member(0);
    leader_known().state.refresh(true);
    kernel::enter(soul(), switch::thread_pointer());
    // The leader is on other kernel threads than its own in regions.
    parked::has_no_cpu();
    signals::choose();
    soul().alarm.make(soul());
    code::refresh(true);
    true
}

/// The team is no more. Its leader calls this.
pub(crate) fn release() {
    kernel::leave();
    HALL.owned.store(false, Release);
}

/// The owner of the hall begins a region as rank 0. Returns `false`, and has done nothing, where threads are not to be
/// carried any more.
pub(crate) fn lead(context: &Context) -> bool {
    // Sequentially consistent, before the question: see there.
    HALL.in_region.store(true, SeqCst);
    if priority::is_announced() {
        HALL.in_region.store(false, Release);
        return false;
    }
    let rank = leader_known();
    rank.state.refresh(false);
    soul().mask.set(rank.state.mask());
    soul().mask.runs();
    code::refresh(false);
    start_workers();
    context.carried.set(Some(rank));
    rank.begin(Native::now());
    soul()
        .current
        .store(std::ptr::from_ref(rank).cast_mut(), Relaxed);
    true
}

/// The region is over.
pub(crate) fn leave(context: &Context) {
    if let Some(rank) = context.carried.take() {
        // All others have ended the region, so that worker 0 runs none of them.
        rank.homeward.store(true, Relaxed);
        rank.wait_once(None);
        rank.homeward.store(false, Relaxed);
        soul().current.store(std::ptr::null_mut(), Relaxed);
        soul().alarm.rank_has_left();
        // Release: what the region did to mutexes.
        HALL.in_region.store(false, Release);
    }
}

/// The rank has come to a barrier, or to the region's end.
pub(crate) fn arrive(context: &Context) {
    if let Some(rank) = context.carried.get() {
        rank.arrive();
    }
}

/// All ranks have arrived, and are let go after this. Here the next episode begins, at an address of the
/// program; or the caller `begins` a region, and goes on.
pub(crate) fn open_episode(site: usize, begins: bool) {
    if let Some(division) = division::of_hall() {
        division.next(site, begins);
    }
}

/// All ranks have arrived at something that was not planned.
pub(crate) fn miss_episode() {
    if let Some(division) = division::of_hall() {
        division.miss();
    }
}

/// The caller has let the others go: it makes room for the rank that its worker is to run first.
pub(crate) fn make_room(context: &Context) {
    if let (Some(rank), Some(division)) = (context.carried.get(), division::of_hall()) {
        // SAFETY: workers live for ever; this one executes the caller.
        let worker = unsafe { &*rank.worker.get() };
        if !division.goes_on_with(worker.index, rank) {
            rank.wait_once(None);
        }
    }
}

/// The rank that is the owner's, with worker 0; made at the first call, by the owner.
fn leader() -> &'static Rank {
    let known = HALL.leader.load(Acquire);
    if !known.is_null() {
        // SAFETY: it lives for ever.
        let rank = unsafe { &*known };
        // Another thread may lead now.
        rank.thread_pointer.set(switch::thread_pointer());
        return rank;
    }
    let rank = Box::leak(Box::new(Rank::new()));
    HALL.leader.store(rank, Release);
    make_soul();
    rank.worker.set(soul());
    register(rank);
    rank
}

fn leader_known() -> &'static Rank {
    // SAFETY: made before worker 0 goes on, and it lives for ever.
    unsafe { &*HALL.leader.load(Acquire) }
}

/// Whether this is worker 0's address.
fn is_soul(address: *const Worker) -> bool {
    let soul = HALL.soul.load(Acquire).cast_const();
    !soul.is_null() && std::ptr::eq(soul, address)
}

/// Worker 0.
fn soul() -> &'static Worker {
    // SAFETY: made with the leader's rank, and it lives for ever.
    unsafe { &*HALL.soul.load(Acquire) }
}

/// Makes worker 0: a thread whose stack and thread-locals the leader's kernel thread has between ranks.
fn make_soul() {
    static READY: AtomicU32 = AtomicU32::new(0);
    with_signals_blocked(|| {
        crate::crew::spawn("manycore-omp-0", Some(STACK), || {
            let worker = Box::leak(Box::new(Worker::new(0)));
            HALL.soul.store(worker, Release);
            parked::part(worker.stack.get(), &READY, home::Home::of_this_thread(None));
            worker.work()
        });
    });
    // It is not long: the thread only has to begin.
    while READY.load(Acquire) == 0 {
        std::thread::yield_now();
    }
    // The C library has installed its own with the thread above, if not before.
    setxid::install();
    if !interposed::are_effective() {
        state::be_careful();
    }
}

/// Makes the calling thread a rank. Returns on a worker.
pub(crate) fn become_rank(context: &Context) {
    let rank: &'static Rank = Box::leak(Box::new(Rank::new()));
    // Nobody rings when this stack is left, which it is without a thread: workers stay awake until one has
    // taken the rank.
    rank.unrung.set(true);
    let home = home::Home::of_this_thread(Some(rank));
    // Before anybody finds it: it is `RUNNING` until this stack is left.
    register(rank);
    HALL.rest.pass_on();
    parked::part(rank.stack.get(), rank.word.word(), home);
    // Not before: until here it has no worker, and is a thread as any other for the functions that
    // ask, which an allocator of the program's may call.
    context.carried.set(Some(rank));
    rank.unrung.set(false);
}

fn register(rank: &'static Rank) {
    let at = HALL.count.fetch_add(1, AcqRel);
    if at >= MOST {
        crate::report::fatal(format_args!("more than {MOST} ranks; expected fewer"));
    }
    HALL.ranks[at].store(std::ptr::from_ref(rank).cast_mut(), Release);
}

/// Starts the workers for the cores there are now.
fn start_workers() {
    let wanted = cores().min(HALL.size.load(Relaxed));
    while HALL.started.load(Relaxed) < wanted {
        let index = HALL.started.fetch_add(1, Relaxed);
        with_signals_blocked(|| {
            crate::crew::spawn("manycore-omp-w", Some(STACK), move || {
                Box::leak(Box::new(Worker::new(index))).work()
            });
        });
    }
    spare::start();
}

fn ranks() -> impl Iterator<Item = &'static Rank> {
    let count = HALL.count.load(Acquire).min(MOST);
    // SAFETY: ranks live for ever.
    let rank = |slot: &'static AtomicPtr<Rank>| unsafe { slot.load(Acquire).as_ref() };
    HALL.ranks[..count].iter().filter_map(rank)
}

/// The workers that have begun, without spare ones.
fn workers() -> impl Iterator<Item = &'static Worker> {
    let count = HALL.started.load(Relaxed).min(MOST);
    // SAFETY: these workers live for ever. Acquire: made before it is found.
    let worker = |slot: &'static AtomicPtr<Worker>| unsafe { slot.load(Acquire).as_ref() };
    HALL.workers[..count].iter().filter_map(worker)
}

/// Somebody's condition may hold now. The caller has made it so before a full fence.
#[inline]
pub(crate) fn notify() {
    HALL.rest.notify();
}
