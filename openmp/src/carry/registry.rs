//! All ranks and workers there are, and the team whose members are carried.
//!
//! | what | written by |
//! |---|---|
//! | ranks, workers | each by the thread that becomes one, once; nothing is removed |
//! | the leaders' rank and worker | the first leader, once |
//! | `is_owned`, the team's size and division | the leader that claims, until it releases |
//! | members | each rank, as it joins the team |
//! | `is_in_region` | the leader |

use super::division::{self, Division};
use super::rank::Rank;
use super::worker::Worker;
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};

/// Ranks that there may be.
pub(super) const MOST: usize = 1024;

/// A value that lives for ever, once it is set.
struct Slot<T: 'static>(AtomicPtr<T>);

impl<T> Slot<T> {
    const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    fn set(&self, value: &'static T) {
        // Release: what is in it.
        self.0.store(ptr::from_ref(value).cast_mut(), Release);
    }

    fn get(&self) -> Option<&'static T> {
        // SAFETY: null, or what `set` was given, which lives for ever. Acquire: what is in it.
        unsafe { self.0.load(Acquire).as_ref() }
    }
}

struct Registry {
    ranks: [Slot<Rank>; MOST],
    count: AtomicUsize,
    /// Those of the team that is carried, by number.
    members: [Slot<Rank>; MOST],
    /// Workers by number, without those of homes.
    workers: [Slot<Worker>; MOST],
    /// Workers whose threads were started, with the first one.
    started: AtomicUsize,
    lead: Slot<Lead>,
    size: AtomicUsize,
    division: Slot<Division>,
    is_owned: AtomicBool,
    is_in_region: AtomicBool,
}

/// The rank that leads carried regions, whichever thread it is, and worker 0, which is on that thread's kernel thread.
pub(super) struct Lead {
    pub(super) rank: &'static Rank,
    pub(super) worker: &'static Worker,
}

static REGISTRY: Registry = Registry {
    ranks: [const { Slot::new() }; MOST],
    count: AtomicUsize::new(0),
    members: [const { Slot::new() }; MOST],
    workers: [const { Slot::new() }; MOST],
    started: AtomicUsize::new(1),
    lead: Slot::new(),
    size: AtomicUsize::new(0),
    division: Slot::new(),
    is_owned: AtomicBool::new(false),
    is_in_region: AtomicBool::new(false),
};

/// Adds a rank.
pub(super) fn add_rank(rank: &'static Rank) {
    let at = REGISTRY.count.fetch_add(1, AcqRel);
    if at >= MOST {
        crate::system::report::fatal(format_args!("more than {MOST} ranks; expected fewer"));
    }
    REGISTRY.ranks[at].set(rank);
}

/// How many ranks there are.
pub(super) fn rank_count() -> usize {
    REGISTRY.count.load(Acquire).min(MOST)
}

/// All ranks.
pub(super) fn ranks() -> impl Iterator<Item = &'static Rank> {
    REGISTRY.ranks[..rank_count()].iter().filter_map(Slot::get)
}

/// The rank is member `id` of the team that is carried.
pub(super) fn set_member(id: usize, rank: &'static Rank) {
    REGISTRY.members[id].set(rank);
}

/// Member `id` of the team that is carried.
pub(super) fn member(id: usize) -> Option<&'static Rank> {
    REGISTRY.members.get(id)?.get()
}

/// The number of a worker that is to be started, if fewer than `wanted` were.
pub(super) fn next_worker(wanted: usize) -> Option<usize> {
    // Relaxed: only the leader of the team that is carried starts workers.
    let is_wanted = REGISTRY.started.load(Relaxed) < wanted.min(MOST);
    is_wanted.then(|| REGISTRY.started.fetch_add(1, Relaxed))
}

/// The worker has begun.
pub(super) fn add_worker(worker: &'static Worker) {
    REGISTRY.workers[worker.index].set(worker);
}

/// The workers that have begun, without those of homes.
pub(super) fn workers() -> impl Iterator<Item = &'static Worker> {
    // Relaxed: a worker is found by its own slot.
    let count = REGISTRY.started.load(Relaxed).min(MOST);
    REGISTRY.workers[..count].iter().filter_map(Slot::get)
}

/// The leaders' rank and worker, once they were made.
pub(super) fn lead() -> Option<&'static Lead> {
    REGISTRY.lead.get()
}

/// The leaders' rank and worker are made.
pub(super) fn set_lead(lead: &'static Lead) {
    REGISTRY.lead.set(lead);
}

/// The team that is carried is the caller's from now on, of this size. Returns `false` if another team is carried.
pub(super) fn claim(size: usize) -> bool {
    // AcqRel: what the last owner did.
    if REGISTRY.is_owned.swap(true, AcqRel) {
        return false;
    }
    let division = division::of_size(size);
    division.miss();
    // Relaxed: published with the division.
    REGISTRY.size.store(size, Relaxed);
    REGISTRY.division.set(division);
    true
}

/// The team that was carried is no more.
pub(super) fn release() {
    REGISTRY.is_owned.store(false, Release);
}

/// Whether a team is carried. Relaxed: for estimates.
pub(super) fn is_owned() -> bool {
    REGISTRY.is_owned.load(Relaxed)
}

/// The size of the team that is carried. Relaxed: for its own threads, and for estimates.
pub(super) fn size() -> usize {
    REGISTRY.size.load(Relaxed)
}

/// The division of the team that is carried.
pub(super) fn division() -> Option<&'static Division> {
    REGISTRY.division.get()
}

/// A carried region begins. Sequentially consistent: the caller asks for mutexes with priorities next, whose makers announce them
/// and then ask whether a region runs ([`priority`](super::priority)).
pub(super) fn begin_region() {
    REGISTRY.is_in_region.store(true, SeqCst);
}

/// It has ended, or was not begun.
pub(super) fn end_region() {
    // Release: what the region did to mutexes.
    REGISTRY.is_in_region.store(false, Release);
}

/// Whether a carried region runs: see [`begin_region`].
pub(super) fn is_in_region() -> bool {
    REGISTRY.is_in_region.load(SeqCst)
}
