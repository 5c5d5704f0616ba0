//! The parking slots in which a pool's workers sleep, by cluster (a group of near workers).

use super::core_owners::CoreOwners;
use crate::clusters::Invited;
#[cfg(test)]
use crate::conserving::fault::{self, Fault};
use manycore_cores::sync::Parker;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The reason of a wake-up for a job that was posted.
pub(super) const CALLED: u32 = 2;
/// The state of a worker whose permit (its right to run jobs) is lent to a caller (`nearest/lending.rs`). This is no
/// wake-up: the worker sleeps on.
const LENT: u32 = 3;

/// The parker of a thread, and the core on which the thread fell asleep.
struct Berth<P: Platform> {
    parker: Parker<P>,
    /// The thread's number in the upper half and its core in the lower half, or 0 if the wake-up must not move the
    /// thread. This is written before the thread lies down, and the thread that rouses it reads this. It is a hint, and
    /// a simulator counts no time for accesses to it.
    place: AtomicU64,
}

impl<P: Platform> Berth<P> {
    fn new() -> Self {
        Self {
            parker: Parker::awake(),
            place: AtomicU64::new(0),
        }
    }

    /// The thread's number and core.
    fn place(&self) -> Option<(u64, usize)> {
        let place = self.place.load(Relaxed);
        (place != 0).then_some((place >> 32, place as u32 as usize))
    }
}

/// A thread that was taken out of its parker. The holder of this value wakes the thread next.
pub(super) struct Roused<'a, P: Platform> {
    slots: &'a ParkingSlots<P>,
    worker: usize,
    berth: &'a Berth<P>,
}

impl<P: Platform> Roused<'_, P> {
    /// Wakes the thread, on a core where it need not wait for another worker.
    pub(super) fn wake(self) {
        let wake = || self.berth.parker.wake();
        self.slots.wake_apart(self.worker, self.berth, wake);
    }
}

/// The workers of one cluster (at most 64), with a bit for each that sleeps.
struct SleepSet<P: Platform> {
    /// One bit for each sleeper that may take any job.
    free: P::AtomicU64,
    /// One bit for each sleeper that waits for a stolen job.
    waiting: P::AtomicU64,
    workers: Vec<usize>,
}

/// One worker's parking slot, on its own cache lines.
struct ParkingSlot<P: Platform> {
    worker: Berth<P>,
    /// A caller that has borrowed the permit sleeps here.
    borrower: Berth<P>,
    /// Whether the sleeper's permit may be lent. This is written before the worker lies down.
    lendable: P::AtomicBool,
    set: usize,
    bit: u64,
    /// Counts for the report. They are no part of the protocol, so all accesses are relaxed, and a simulator counts no
    /// time for them.
    sleeps: AtomicU64,
    wakeups: AtomicU64,
    /// When the worker was last roused, in ticks, or 0 if it was not roused since it lay down. This is a hint, too.
    roused_at: AtomicU64,
}

impl<P: Platform> ParkingSlot<P> {
    fn is_lent(&self) -> bool {
        self.worker.parker.glance() == LENT
    }

    /// The berth of the thread that has the permit.
    fn berth(&self) -> &Berth<P> {
        if self.is_lent() {
            &self.borrower
        } else {
            &self.worker
        }
    }
}

/// All parking slots of a pool. A worker's bit says that the worker lies in its parker or is about to lie down. The
/// worker clears the bit when it is up again (`nearest/sleeping.rs`), or [`lend`](Self::lend) clears it.
pub(super) struct ParkingSlots<P: Platform> {
    slots: Box<[CachePadded<ParkingSlot<P>>]>,
    sets: Box<[CachePadded<SleepSet<P>>]>,
    owners: CoreOwners,
}

impl<P: Platform> ParkingSlots<P> {
    /// Makes the slots of a pool's workers. `clusters` has the cluster of each worker.
    pub(super) fn new(clusters: &[u32]) -> Self {
        let count = clusters.iter().max().map_or(0, |&last| last as usize + 1);
        let mut sets = vec![Vec::new(); count];
        let mut slots = Vec::new();
        for (worker, &cluster) in clusters.iter().enumerate() {
            let set = cluster as usize;
            assert!(sets[set].len() < 64, "a bit for each worker of a cluster");
            slots.push(CachePadded::new(ParkingSlot {
                worker: Berth::new(),
                borrower: Berth::new(),
                lendable: P::AtomicBool::new(false),
                set,
                bit: 1 << sets[set].len(),
                sleeps: AtomicU64::new(0),
                wakeups: AtomicU64::new(0),
                roused_at: AtomicU64::new(0),
            }));
            sets[set].push(worker);
        }
        let set = |workers| {
            CachePadded::new(SleepSet {
                free: P::AtomicU64::new(0),
                waiting: P::AtomicU64::new(0),
                workers,
            })
        };
        Self {
            slots: slots.into(),
            sets: sets.into_iter().map(set).collect(),
            owners: CoreOwners::new(clusters.len()),
        }
    }

    pub(super) fn name(&self) {
        for slot in &self.slots {
            P::name(&slot.worker, "sleep: parkers");
        }
        for set in &self.sets {
            P::name(set, "sleep: sleepers of a cluster");
        }
    }

    /// The parker of the thread that has the permit `worker`. Only that thread calls this.
    pub(super) fn parker(&self, worker: usize) -> &Parker<P> {
        &self.slots[worker].berth().parker
    }

    /// Called by the worker that lies in `parker`: marks it as up. Returns why the worker was roused, or
    /// `Parker::ASLEEP` if no thread roused it. If the worker's permit is lent, the worker first sleeps until it has
    /// the permit again and is roused.
    pub(super) fn rise(parker: &Parker<P>) -> u32 {
        parker.rise_after(LENT)
    }

    fn word(&self, worker: usize, free: bool) -> &P::AtomicU64 {
        let set = &self.sets[self.slots[worker].set];
        if free { &set.free } else { &set.waiting }
    }

    /// Lets other threads find `worker`, which lies in its parker.
    pub(super) fn mark(&self, worker: usize, free: bool) {
        self.slots[worker].sleeps.fetch_add(1, Relaxed);
        // Release: a thread that finds the bit finds the worker lying.
        self.word(worker, free)
            .fetch_or(self.slots[worker].bit, Ordering::Release);
    }

    /// Records that `worker` runs on this core.
    pub(super) fn claim_core(&self, worker: usize) {
        self.owners.claim(P::core(), worker);
    }

    /// Makes `worker` invisible to threads that look for sleepers.
    pub(super) fn unmark(&self, worker: usize, free: bool) {
        // Relaxed: a thread that still sees the bit finds the parker empty.
        self.word(worker, free)
            .fetch_and(!self.slots[worker].bit, Ordering::Relaxed);
    }

    /// Whether `invited` contains all clusters.
    pub(super) fn are_all(&self, invited: Invited) -> bool {
        invited.clusters().len() == self.sets.len()
    }

    /// Returns the number of workers that slept in the clusters `invited` a moment ago.
    ///
    /// Relaxed: a caller that has posted a loop has fenced since then, and a sleeper sets its bit before its
    /// own fence and its last look. So either the caller sees the bit, or the sleeper sees the post.
    pub(super) fn sleepers_in(&self, invited: Invited) -> u32 {
        let asleep = |set: &CachePadded<SleepSet<P>>| {
            let bits = set.free.load(Ordering::Relaxed) | set.waiting.load(Ordering::Relaxed);
            bits.count_ones()
        };
        self.sets[invited.clusters()].iter().map(asleep).sum()
    }

    /// Takes a sleeper out of its parker. The sleeper is in one of the clusters `within`, or in any cluster if `within`
    /// is `None`. The cluster of worker `near` comes first. Within a cluster the search begins at the bit position of
    /// `near`, so that posters choose different sleepers.
    pub(super) fn rouse_near(
        &self,
        near: usize,
        free: bool,
        called: bool,
        within: Option<Invited>,
    ) -> Option<Roused<'_, P>> {
        let home = self.slots[near].set;
        let from = self.slots[near].bit.trailing_zeros();
        let within = within.map_or(0..self.sets.len(), Invited::clusters);
        let home = home.clamp(within.start, within.end - 1);
        let sets = (home..within.end).chain(within.start..home);
        for index in sets {
            let set = &self.sets[index];
            let word = if free { &set.free } else { &set.waiting };
            // Acquire pairs with `mark`.
            let mut bits = word.load(Ordering::Acquire).rotate_right(from);
            while bits != 0 {
                let bit = (bits.trailing_zeros() + from) % 64;
                let worker = set.workers[bit as usize];
                if let Some(roused) = self.rouse(worker, called) {
                    return Some(roused);
                }
                bits &= bits - 1;
            }
        }
        None
    }

    /// Takes `worker` out of its parker, if it is there. The caller [wakes](Roused::wake) it next.
    pub(super) fn rouse(&self, worker: usize, called: bool) -> Option<Roused<'_, P>> {
        let reason = if called { CALLED } else { Parker::<P>::AWAKE };
        let slot = &self.slots[worker];
        let berth = if slot.worker.parker.rouse(reason) {
            &slot.worker
        } else {
            // A thread that wakes a borrower has seen in the borrower's latch that the borrower sleeps. The borrower
            // wrote LENT before that, so this thread also sees LENT.
            Some(&slot.borrower).filter(|berth| slot.is_lent() && berth.parker.rouse(reason))?
        };
        slot.wakeups.fetch_add(1, Relaxed);
        slot.roused_at.store(P::now(), Relaxed);
        Some(Roused {
            slots: self,
            worker,
            berth,
        })
    }

    /// Takes the permit of a free sleeper for a caller. The worker sleeps on. If threads outnumber cores, workers
    /// with low numbers keep their permits longest.
    pub(super) fn lend(&self) -> Option<usize> {
        for set in self.sets.iter().rev() {
            // Acquire pairs with `mark`.
            let mut bits = set.free.load(Ordering::Acquire);
            while bits != 0 {
                let bit = bits.ilog2();
                bits &= !(1 << bit);
                let worker = set.workers[bit as usize];
                let slot = &self.slots[worker];
                // Relaxed: the first look is a hint. Before the second look, the exchange in `rouse` has acquired the
                // word that the worker wrote when it lay down for this sleep, and `lendable` was written before that
                // word.
                let lendable = || slot.lendable.load(Ordering::Relaxed);
                if !lendable() || !slot.worker.parker.rouse(LENT) {
                    continue;
                }
                if lendable() {
                    self.unmark(worker, true);
                    return Some(worker);
                }
                // The worker has got up since and sleeps again, and this sleep is not lendable. So the worker
                // is woken for no reason.
                slot.worker.parker.notify(Parker::<P>::AWAKE);
            }
        }
        None
    }

    /// Gives `worker` its permit back. The worker sleeps on as if it had just lain down.
    pub(super) fn lay_back(&self, worker: usize) {
        let lies = self.slots[worker].worker.parker.lay_back(LENT);
        debug_assert!(lies, "no thread takes out a worker whose permit is lent");
    }

    /// Gives `worker` its permit back and wakes it.
    pub(super) fn give_back(&self, worker: usize) {
        let berth = &self.slots[worker].worker;
        let wake = || berth.parker.notify(Parker::<P>::AWAKE);
        self.wake_apart(worker, berth, wake);
    }

    /// Runs `wake`, which wakes the thread that lies in `berth`. If the thread fell asleep on a core that another
    /// worker uses now, it gets up on another core. A caller from outside owns no core: most such callers wait for the
    /// worker, which then gets the caller's core.
    fn wake_apart(&self, worker: usize, berth: &Berth<P>, mut wake: impl FnMut()) {
        let is_taken = |core| self.owners.is_anothers(core, worker);
        let behind = berth.place().filter(|&(_, core)| is_taken(core));
        #[cfg(test)]
        let behind = behind.filter(|_| !fault::is(Fault::StaysBehind));
        match behind {
            // The thread lies until this wake-up. But during this call the thread may get up for no reason and end,
            // and a new thread may get its number. Then the new thread may be moved to another core on which it may
            // run.
            Some((thread, _)) => P::wake_elsewhere(thread, &is_taken, &mut wake),
            None => wake(),
        }
    }

    /// Whether the permit of `worker` is lent, as seen a moment ago.
    pub(super) fn is_lent(&self, worker: usize) -> bool {
        self.slots[worker].is_lent()
    }

    /// Lays `worker` down. `moves` says whether the thread may be moved if another worker owns this core at the
    /// wake-up.
    pub(super) fn lie_down(&self, worker: usize, lendable: bool, moves: bool) {
        let slot = &self.slots[worker];
        slot.roused_at.store(0, Relaxed);
        // Relaxed: `Parker::lie_down` publishes `lendable`. Reading it first avoids a needless write. A borrower does
        // not change it.
        if !slot.is_lent() && slot.lendable.load(Ordering::Relaxed) != lendable {
            slot.lendable.store(lendable, Ordering::Relaxed);
        }
        let berth = slot.berth();
        let place = if moves {
            P::thread_number() << 32 | P::core() as u64
        } else {
            0
        };
        berth.place.store(place, Relaxed);
        berth.parker.lie_down();
    }

    /// The time at which `worker`, which is up, was roused, in ticks. `None` if the worker was not roused, or the time
    /// is not yet written.
    pub(super) fn roused_at(&self, worker: usize) -> Option<u64> {
        Some(self.slots[worker].roused_at.load(Relaxed)).filter(|&at| at != 0)
    }

    /// How often workers lay down, and how often workers were woken.
    pub(super) fn tally(&self) -> (u64, u64) {
        let sum = |count: fn(&ParkingSlot<P>) -> &AtomicU64| {
            self.slots
                .iter()
                .map(|slot| count(slot).load(Relaxed))
                .sum()
        };
        (sum(|slot| &slot.sleeps), sum(|slot| &slot.wakeups))
    }
}
