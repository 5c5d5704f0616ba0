//! All ranks (threads of teams), the workers (kernel threads) that execute them, and the team that is carried.
//!
//! | what | written by |
//! |---|---|
//! | ranks, workers | each by the thread that becomes a rank or a worker; nothing is removed |
//! | the leaders' rank and worker | the first leader, once |
//! | `is_owned`, the team's size and division | the leader that has claimed the workers, until it releases them |
//! | members | each rank, as it joins the team |
//! | `is_in_region`, how many regions there were | the leader |

use super::division::{self, Division};
use super::rank::Rank;
use super::worker::Worker;
use manycore_cores::sync::Bell;
use manycore_platform::Native;
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};
use std::time::{Duration, Instant};

/// The most ranks, over the life of the process.
pub(super) const MOST: usize = 1024;

/// A slot for one value that lives for ever.
struct Slot<T: 'static>(AtomicPtr<T>);

impl<T> Slot<T> {
    const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    fn set(&self, value: &'static T) {
        // Release publishes the value.
        self.0.store(ptr::from_ref(value).cast_mut(), Release);
    }

    fn get(&self) -> Option<&'static T> {
        // SAFETY: null, or the argument of `set`, which lives for ever. Acquire makes the contents visible.
        unsafe { self.0.load(Acquire).as_ref() }
    }
}

struct Registry {
    ranks: [Slot<Rank>; MOST],
    count: AtomicUsize,
    /// The members of the carried team, by number.
    members: [Slot<Rank>; MOST],
    /// Workers by number. The workers that belong to [homes](super::home) are not listed.
    workers: [Slot<Worker>; MOST],
    /// How many workers were started, including worker 0.
    started: AtomicUsize,
    lead: Slot<Lead>,
    size: AtomicUsize,
    division: Slot<Division>,
    is_owned: AtomicBool,
    is_in_region: AtomicBool,
    regions: AtomicU64,
}

/// The leader of the carried team. All threads that ever lead have the same rank. Worker 0 runs on the leader's kernel
/// thread.
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
    regions: AtomicU64::new(0),
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

/// Sets member `id` of the carried team.
pub(super) fn set_member(id: usize, rank: &'static Rank) {
    REGISTRY.members[id].set(rank);
}

/// Member `id` of the carried team.
pub(super) fn member(id: usize) -> Option<&'static Rank> {
    REGISTRY.members.get(id)?.get()
}

/// A number for the next worker, if fewer than `wanted` workers were started.
pub(super) fn next_worker(wanted: usize) -> Option<usize> {
    // Relaxed: only the leader of the carried team starts workers.
    let is_wanted = REGISTRY.started.load(Relaxed) < wanted.min(MOST);
    is_wanted.then(|| REGISTRY.started.fetch_add(1, Relaxed))
}

/// Adds a worker that has begun.
pub(super) fn add_worker(worker: &'static Worker) {
    REGISTRY.workers[worker.index].set(worker);
}

/// The workers that have begun. The workers of homes are not listed.
pub(super) fn workers() -> impl Iterator<Item = &'static Worker> {
    // Relaxed: the slot of a worker publishes the worker.
    let count = REGISTRY.started.load(Relaxed).min(MOST);
    REGISTRY.workers[..count].iter().filter_map(Slot::get)
}

/// The rank and the worker of leaders, if they were made.
pub(super) fn lead() -> Option<&'static Lead> {
    REGISTRY.lead.get()
}

/// Sets the rank and the worker of leaders.
pub(super) fn set_lead(lead: &'static Lead) {
    REGISTRY.lead.set(lead);
}

/// Claims the workers for the caller's team of this size. Returns `false` if another team is carried.
pub(super) fn claim(size: usize) -> bool {
    // AcqRel orders this after the accesses of the last owner.
    if REGISTRY.is_owned.swap(true, AcqRel) {
        return false;
    }
    let division = division::of_size(size);
    division.miss();
    // Relaxed: the store of the division publishes this one.
    REGISTRY.size.store(size, Relaxed);
    REGISTRY.division.set(division);
    true
}

/// Called by the leader to give the workers back.
pub(super) fn release() {
    REGISTRY.is_owned.store(false, Release);
}

/// Whether a team is carried. Relaxed: callers use this for estimates.
pub(super) fn is_owned() -> bool {
    REGISTRY.is_owned.load(Relaxed)
}

/// The size of the team that is carried. Relaxed: only the team's threads and estimates use this.
pub(super) fn size() -> usize {
    REGISTRY.size.load(Relaxed)
}

/// The division of the team that is carried.
pub(super) fn division() -> Option<&'static Division> {
    REGISTRY.division.get()
}

/// Notes that a carried region begins. Sequentially consistent: the caller next reads whether a mutex that raises
/// priorities was announced. A thread that makes such a mutex announces it, and then reads whether a region runs
/// ([`priority`](super::priority)). So one of the two sees the other.
pub(super) fn begin_region() {
    REGISTRY.is_in_region.swap(true, SeqCst);
    // Relaxed: only the leader of the carried team writes the count, and others use it for estimates.
    let regions = REGISTRY.regions.load(Relaxed);
    REGISTRY.regions.store(regions.wrapping_add(1), Relaxed);
    REGIONS.ring_after_rmw();
}

/// While no region is carried, the threads of `watchdog`, `lookout` and `granularity` sleep here.
static REGIONS: Bell<Native> = Bell::native();

/// The last state that [`rest`] has seen.
#[derive(Default)]
pub(super) struct Seen {
    regions: u64,
    since: Option<Instant>,
}

/// Returns at once while regions are carried, or were within the last second. Otherwise returns when the next region
/// begins.
pub(super) fn rest(seen: &mut Seen) {
    let regions = REGISTRY.regions.load(Relaxed);
    if is_in_region() || seen.regions != regions {
        (seen.regions, seen.since) = (regions, None);
        return;
    }
    if seen.since.get_or_insert_with(Instant::now).elapsed() >= REST {
        while !is_in_region() {
            REGIONS.sleep(|| is_in_region().then_some(()), || None);
        }
        seen.since = None;
    }
}

/// After this time without a region, the next one is probably far away. A wake-up delays a region by some microseconds.
const REST: Duration = Duration::from_secs(1);

/// Notes that the carried region has ended, or could not begin.
pub(super) fn end_region() {
    // Release publishes accesses to mutexes in the region.
    REGISTRY.is_in_region.store(false, Release);
}

/// Whether a carried region runs: see [`begin_region`].
pub(super) fn is_in_region() -> bool {
    REGISTRY.is_in_region.load(SeqCst)
}
