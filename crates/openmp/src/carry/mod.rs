//! Ranks that are carried: members of a team of more members than cores.
//!
//! Such a member is a POSIX thread whose kernel thread sleeps for ever. *Workers*, a kernel thread
//! for each core, run on its stack and with its thread-locals: to go from one rank to another
//! is to exchange the stack pointer and FS, some 15 ns. `threadprivate` variables, `errno`,
//! `malloc` and `pthread_self` are those of the rank, whichever worker it is on.
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
//! # The words
//!
//! | state of a rank | what | next |
//! |---|---|---|
//! | `RUNNING` | a worker executes it, or looks at its condition | `WAITING`, by that worker |
//! | `WAITING` | nobody does; its stack is saved, its condition lives there | `RUNNING`, by whoever exchanges it |
//!
//! Who has exchanged the word to `RUNNING` has the rank alone; it puts `WAITING` back by a release,
//! after it has left the rank's stack.
//!
//! # No wake-up is lost
//!
//! A worker that finds nothing for long adds itself to `idle`, reads `event`, looks at all ranks, and
//! sleeps while `event` is as it was. Whoever makes a condition true (`Bell::ring`,
//! `WordLock::unlock`) reads `idle` after a full fence, and if it is not 0 changes `event`. As in
//! [`bell`](crate::bell), one of the two sees the other. A rank whose condition another worker looks at meanwhile is that
//! worker's: it looks at all again before it sleeps.
//!
//! # Ranks that do not come back
//!
//! A rank may block in the kernel, or spin on a word of the program's that another rank is to
//! write. While ranks wait to be run, and no worker has changed ranks for [`STALL`], a *spare* worker
//! runs one of them; the system then shares the cores. So every rank goes on some time.

mod spare;
mod switch;

use crate::context::Context;
use crate::environment::cores;
use manycore_platform::{Futex, Native, Platform};
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};
use std::time::Duration;

/// How long a worker leaves others' ranks alone when it has none itself.
const POLITENESS: Duration = Duration::from_micros(1);
/// How long a worker that has nothing to do stays awake.
const PATIENCE: Duration = Duration::from_micros(200);
/// How long ranks wait beside workers that do not change ranks until a spare helps.
const STALL: Duration = Duration::from_millis(5);
/// Ranks that there may be.
const MOST: usize = 1024;

const RUNNING: u32 = 0;
const WAITING: u32 = 1;

/// A rank; it lives for ever.
#[repr(align(128))]
pub(crate) struct Rank {
    state: AtomicU32,
    /// Where its stack was left; its owner's.
    stack: UnsafeCell<usize>,
    fs: Cell<usize>,
    /// What it waits for; its owner's. On its stack.
    condition: Cell<Option<*const dyn Fn() -> bool>>,
    /// The worker that executes it.
    worker: Cell<*const Worker>,
    /// Its number in its team.
    id: AtomicU32,
    /// Only worker 0 may run it: it is the leader, at the end of a region.
    homeward: AtomicBool,
}

// SAFETY: the cells belong to who has exchanged the state to `RUNNING`.
unsafe impl Sync for Rank {}

/// What a kernel thread does between ranks.
struct Worker {
    index: usize,
    stack: UnsafeCell<usize>,
    fs: usize,
    /// Times that it has changed ranks.
    switches: AtomicU64,
}

// SAFETY: its stack pointer is its own, and of the rank that it executes.
unsafe impl Sync for Worker {}

/// All ranks and workers.
struct Hall {
    /// Each once made; never removed.
    ranks: [AtomicPtr<Rank>; MOST],
    count: AtomicUsize,
    /// Workers with threads of their own.
    started: AtomicUsize,
    /// The leader's rank and worker.
    leader: AtomicPtr<Rank>,
    /// The size of the team that is carried.
    size: AtomicUsize,
    owned: AtomicBool,
    idle: AtomicU32,
    event: AtomicU32,
}

static HALL: Hall = Hall {
    ranks: [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST],
    count: AtomicUsize::new(0),
    started: AtomicUsize::new(1),
    leader: AtomicPtr::new(std::ptr::null_mut()),
    size: AtomicUsize::new(0),
    owned: AtomicBool::new(false),
    idle: AtomicU32::new(0),
    event: AtomicU32::new(0),
};

/// Takes the hall for a team of `size`, if its ranks are to be carried: they are more than the
/// cores, the processor can do it, and no other thread's team is.
pub(crate) fn claim(context: &Context, depth: usize, size: u32) -> bool {
    let wanted = crate::environment::settings().carries && switch::is_possible();
    let fits = size as usize > cores() && (size as usize) < MOST && depth == 0;
    // In a child after `fork` the kernel threads that slept for ranks are not there, nor the workers.
    if !wanted || !fits || context.is_carried() || crate::crew::forks() > 0 {
        return false;
    }
    if HALL.owned.swap(true, AcqRel) {
        return false;
    }
    HALL.size.store(size as usize, Relaxed);
    start_workers();
    true
}

/// The team is no more.
pub(crate) fn release() {
    HALL.owned.store(false, Release);
}

/// The owner of the hall begins a region as rank 0.
pub(crate) fn lead(context: &Context) {
    context.carried.set(Some(leader()));
    start_workers();
}

/// The region is over.
pub(crate) fn leave(context: &Context) {
    if let Some(rank) = context.carried.take() {
        // All others have ended the region, so that worker 0 runs none of them.
        rank.homeward.store(true, Relaxed);
        rank.wait_once(None);
        rank.homeward.store(false, Relaxed);
    }
}

/// The rank that is the owner's, with worker 0; made at the first call, by the owner.
fn leader() -> &'static Rank {
    let known = HALL.leader.load(Acquire);
    if !known.is_null() {
        // SAFETY: it lives for ever.
        let rank = unsafe { &*known };
        // Another thread may lead now.
        rank.fs.set(switch::fs_base());
        return rank;
    }
    let rank = Box::leak(Box::new(Rank::new()));
    rank.worker.set(soul());
    HALL.leader.store(rank, Release);
    register(rank);
    rank
}

fn leader_known() -> &'static Rank {
    // SAFETY: made before worker 0 goes on, and it lives for ever.
    unsafe { &*HALL.leader.load(Acquire) }
}

/// Worker 0: a thread whose stack and thread-locals the leader's kernel thread has between ranks.
fn soul() -> &'static Worker {
    static READY: AtomicU32 = AtomicU32::new(0);
    static WORKER: AtomicPtr<Worker> = AtomicPtr::new(std::ptr::null_mut());
    crate::crew::spawn("manycore-omp-0", Some(64 << 10), || {
        let worker = Box::leak(Box::new(Worker::new(0)));
        WORKER.store(worker, Release);
        part(worker.stack.get(), &READY);
        worker.work()
    });
    // It is not long: the thread only has to begin.
    while READY.load(Acquire) == 0 {
        std::thread::yield_now();
    }
    // SAFETY: it lives for ever.
    unsafe { &*WORKER.load(Acquire) }
}

/// Makes the calling thread a rank. Returns on a worker.
pub(crate) fn become_rank(context: &Context) {
    let rank: &'static Rank = Box::leak(Box::new(Rank::new()));
    context.carried.set(Some(rank));
    // Before anybody finds it: it is `RUNNING` until this stack is left.
    register(rank);
    part(rank.stack.get(), &rank.state);
}

/// Leaves the calling thread's kernel thread asleep; `word` becomes `WAITING` (1) when others may go on
/// with the thread's stack.
fn part(save: *mut usize, word: &'static AtomicU32) {
    // The kernel thread's own, for ever; a page would do.
    let sleeping: &'static mut [u128] = Box::leak(vec![0_u128; 64].into_boxed_slice());
    // SAFETY: the kernel thread gets no signal any more. It sleeps where nobody else writes.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
        let end = sleeping.as_mut_ptr_range().end.cast::<u8>();
        switch::detach(save, end, word.as_ptr(), WAITING);
    }
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
        crate::crew::spawn("manycore-omp-w", Some(64 << 10), move || {
            Box::leak(Box::new(Worker::new(index))).work()
        });
    }
    spare::start();
}

/// Somebody's condition may hold now. The caller has made it so before a full fence.
#[inline]
pub(crate) fn notify() {
    if HALL.idle.load(SeqCst) != 0 {
        wake();
    }
}

#[cold]
fn wake() {
    HALL.event.fetch_add(1, SeqCst);
    Futex::wake(&HALL.event, u32::MAX);
}

impl Rank {
    fn new() -> Self {
        Self {
            state: AtomicU32::new(RUNNING),
            stack: UnsafeCell::new(0),
            fs: Cell::new(switch::fs_base()),
            condition: Cell::new(None),
            worker: Cell::new(std::ptr::null()),
            id: AtomicU32::new(0),
            homeward: AtomicBool::new(false),
        }
    }

    /// It is member `id` of its team.
    pub(crate) fn is_member(&self, id: u32) {
        self.id.store(id, Relaxed);
    }

    /// Lets others run until the condition holds.
    pub(crate) fn wait_until(&self, condition: &dyn Fn() -> bool) {
        while !condition() {
            // SAFETY: the reference is used while this function has not gone on.
            let condition = unsafe {
                std::mem::transmute::<&dyn Fn() -> bool, &'static (dyn Fn() -> bool + 'static)>(
                    condition,
                )
            };
            self.wait_once(Some(condition));
        }
    }

    /// Goes back to its worker, until a worker finds that the condition holds.
    fn wait_once(&self, condition: Option<*const dyn Fn() -> bool>) {
        self.condition.set(condition);
        // SAFETY: the worker executes this rank, and waits where it went here.
        unsafe {
            let worker = &*self.worker.get();
            switch::switch(self.stack.get(), *worker.stack.get(), worker.fs);
        }
        self.condition.set(None);
    }
}

impl Worker {
    fn new(index: usize) -> Self {
        Self {
            index,
            stack: UnsafeCell::new(0),
            fs: switch::fs_base(),
            switches: AtomicU64::new(0),
        }
    }

    /// Whether this worker has a core.
    fn has_core(&self) -> bool {
        self.index < cores()
    }

    /// Whether a rank is one of this worker's share.
    fn owns(&self, rank: &Rank) -> bool {
        let size = HALL.size.load(Relaxed).max(1);
        let workers = cores().min(size);
        rank.id.load(Relaxed) as usize * workers / size == self.index
    }

    /// Takes a rank that can go on: of its share, or with `all` of anybody's.
    fn take(&self, all: bool) -> Option<&'static Rank> {
        let count = HALL.count.load(Acquire).min(MOST);
        for slot in &HALL.ranks[..count] {
            let rank = slot.load(Acquire);
            if rank.is_null() {
                continue;
            }
            // SAFETY: ranks live for ever.
            let rank = unsafe { &*rank };
            let mine = self.owns(rank);
            if !(mine || all) || rank.state.load(Relaxed) != WAITING {
                continue;
            }
            // Acquire: the stack, and the condition on it.
            if rank
                .state
                .compare_exchange(WAITING, RUNNING, Acquire, Relaxed)
                .is_err()
            {
                continue;
            }
            let here = self.index == 0 || !rank.homeward.load(Relaxed);
            // SAFETY: the rank waits in the frame where the condition lives.
            let goes_on = here && rank.condition.get().is_none_or(|c| unsafe { (*c)() });
            if goes_on {
                return Some(rank);
            }
            rank.state.store(WAITING, Release);
        }
        None
    }

    /// Executes the rank until it waits.
    fn run(&self, rank: &'static Rank) {
        self.switches.fetch_add(1, Relaxed);
        rank.worker.set(self);
        // SAFETY: this worker has the rank alone, whose stack was saved.
        unsafe { switch::switch(self.stack.get(), *rank.stack.get(), rank.fs.get()) };
        self.has_left(rank);
    }

    /// The rank waits.
    fn has_left(&self, rank: &Rank) {
        // Release: the rank's stack is left.
        rank.state.store(WAITING, Release);
        // Its condition may hold since before it was to be seen.
        std::sync::atomic::fence(SeqCst);
        notify();
    }

    /// The life of a worker.
    fn work(&'static self) -> ! {
        spare::watch(self);
        if self.index == 0 {
            // The leader comes here when it waits for the first time.
            self.has_left(leader_known());
        }
        let politeness = Native::duration_to_ticks(POLITENESS);
        let patience = Native::duration_to_ticks(PATIENCE);
        loop {
            if !self.has_core() && self.index != 0 {
                self.sleep();
                continue;
            }
            let since = Native::now();
            loop {
                let waited = Native::now() - since;
                if let Some(rank) = self.take(waited > politeness) {
                    self.run(rank);
                    break;
                }
                if waited > patience {
                    self.sleep();
                    break;
                }
                Native::relax();
            }
        }
    }

    /// Sleeps until something may have changed.
    fn sleep(&self) {
        HALL.idle.fetch_add(1, SeqCst);
        let event = HALL.event.load(SeqCst);
        std::sync::atomic::fence(SeqCst);
        let found = (self.has_core() || self.index == 0)
            .then(|| self.take(true))
            .flatten();
        if found.is_none() {
            // A new core does not ring.
            Futex::wait(&HALL.event, event, Some(Duration::from_millis(10)));
        }
        HALL.idle.fetch_sub(1, SeqCst);
        if let Some(rank) = found {
            self.run(rank);
        }
    }
}
