//! The parking slots of a pool's workers, by cluster.

use crate::clusters::Invited;
use manycore_cores::sync::Parker;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Why a worker was roused: for a job that was posted.
pub(super) const CALLED: u32 = 2;
/// The worker's permit is lent to a caller (`nearest/lending.rs`). The worker sleeps on.
const LENT: u32 = 3;

/// No core.
const NO_CORE: u32 = u32::MAX;

/// The workers of one cluster, up to 64, and which of them sleep.
struct SleepSet<P: Platform> {
    /// Sleepers that may take anything, one bit each.
    free: P::AtomicU64,
    /// Sleepers that wait for a stolen job.
    waiting: P::AtomicU64,
    workers: Vec<usize>,
}

/// One worker's parking slot, on lines of its own.
struct ParkingSlot<P: Platform> {
    parker: Parker<P>,
    /// A caller that has borrowed the permit sleeps here.
    borrower: Parker<P>,
    /// Whether the sleeper's permit may be lent. Written before the worker lies down.
    lendable: P::AtomicBool,
    set: usize,
    bit: u64,
    /// For the report: no step of the protocol, so relaxed throughout, and no time
    /// on a simulator.
    sleeps: AtomicU64,
    wakeups: AtomicU64,
    /// The core of the thread that last roused the worker for a loop; `NO_CORE`: for a job. A hint, so relaxed.
    roused_from: P::AtomicU32,
    /// When the worker was last roused, in ticks; 0: not since it lay down. A hint, as well.
    roused_at: AtomicU64,
}

impl<P: Platform> ParkingSlot<P> {
    fn is_lent(&self) -> bool {
        self.parker.glance() == LENT
    }
}

/// All parking slots of a pool. A worker's bit says that it lies down or is about to; the thread
/// that takes the worker out of its parker clears it.
pub(super) struct ParkingSlots<P: Platform> {
    slots: Box<[CachePadded<ParkingSlot<P>>]>,
    sets: Box<[CachePadded<SleepSet<P>>]>,
}

impl<P: Platform> ParkingSlots<P> {
    /// For workers in the clusters `clusters`.
    pub(super) fn new(clusters: &[u32]) -> Self {
        let here = P::core() as u32;
        let count = clusters.iter().max().map_or(0, |&last| last as usize + 1);
        let mut sets = vec![Vec::new(); count];
        let mut slots = Vec::new();
        for (worker, &cluster) in clusters.iter().enumerate() {
            let set = cluster as usize;
            assert!(sets[set].len() < 64, "a bit for each worker of a cluster");
            slots.push(CachePadded::new(ParkingSlot {
                parker: Parker::awake(),
                borrower: Parker::awake(),
                lendable: P::AtomicBool::new(false),
                set,
                bit: 1 << sets[set].len(),
                sleeps: AtomicU64::new(0),
                wakeups: AtomicU64::new(0),
                roused_from: P::AtomicU32::new(if worker == 0 { NO_CORE } else { here }),
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
        }
    }

    pub(super) fn name(&self) {
        for slot in &self.slots {
            P::name(&slot.parker, "sleep: parkers");
        }
        for set in &self.sets {
            P::name(set, "sleep: sleepers of a cluster");
        }
    }

    /// The parker of the thread that has the permit `worker`. Only that thread asks.
    pub(super) fn parker(&self, worker: usize) -> &Parker<P> {
        let slot = &self.slots[worker];
        if slot.is_lent() {
            &slot.borrower
        } else {
            &slot.parker
        }
    }

    /// `worker`, which lay in `parker`, gets up; why it was roused, or `Parker::ASLEEP`. While its permit is
    /// lent, and after that until it is roused, it sleeps.
    pub(super) fn rise(parker: &Parker<P>) -> u32 {
        parker.rise_after(LENT)
    }

    fn word(&self, worker: usize, free: bool) -> &P::AtomicU64 {
        let set = &self.sets[self.slots[worker].set];
        if free { &set.free } else { &set.waiting }
    }

    /// `worker`, which lies in its parker, is to be found.
    pub(super) fn mark(&self, worker: usize, free: bool) {
        self.slots[worker].sleeps.fetch_add(1, Relaxed);
        // Release: a thread that finds the bit finds the worker lying.
        self.word(worker, free)
            .fetch_or(self.slots[worker].bit, Ordering::Release);
    }

    /// `worker` is up.
    pub(super) fn unmark(&self, worker: usize, free: bool) {
        // Relaxed: a thread that still sees the bit finds the parker empty.
        self.word(worker, free)
            .fetch_and(!self.slots[worker].bit, Ordering::Relaxed);
    }

    /// Whether the clusters `invited` are all.
    pub(super) fn are_all(&self, invited: Invited) -> bool {
        invited.clusters().len() == self.sets.len()
    }

    /// Workers asleep in the clusters `invited`, as seen a moment ago.
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

    /// Takes a sleeper of the clusters `within`, or of any, out of its parker: one of the cluster
    /// of worker `near` if there is one, and of several the next after `near`, so that the choice
    /// changes.
    pub(super) fn rouse_near(
        &self,
        near: usize,
        free: bool,
        called: bool,
        within: Option<Invited>,
    ) -> Option<&Parker<P>> {
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
                if let Some(parker) = self.rouse(worker, called) {
                    return Some(parker);
                }
                bits &= bits - 1;
            }
        }
        None
    }

    /// Takes `worker` out of its parker, if it is there. The caller [wakes](Parker::wake) it next.
    pub(super) fn rouse(&self, worker: usize, called: bool) -> Option<&Parker<P>> {
        let reason = if called { CALLED } else { Parker::<P>::AWAKE };
        let slot = &self.slots[worker];
        let roused = if slot.parker.rouse(reason) {
            Some(&slot.parker)
        } else {
            // The thread that calls for a borrower has seen its latch, and so LENT.
            Some(&slot.borrower).filter(|parker| slot.is_lent() && parker.rouse(reason))
        };
        if roused.is_some() {
            slot.wakeups.fetch_add(1, Relaxed);
            slot.roused_at.store(P::now(), Relaxed);
            let core = if called { NO_CORE } else { P::core() as u32 };
            slot.roused_from.store(core, Ordering::Relaxed);
        }
        roused
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
                // Relaxed: a hint here. Below, the exchange has acquired the word of this sleep.
                let lendable = || slot.lendable.load(Ordering::Relaxed);
                if !lendable() || !slot.parker.rouse(LENT) {
                    continue;
                }
                if lendable() {
                    self.unmark(worker, true);
                    return Some(worker);
                }
                // It has got up since, and sleeps another sleep. It gets up for no reason.
                slot.parker.tell(Parker::<P>::AWAKE);
            }
        }
        None
    }

    /// The permit of `worker` is its own again, and it sleeps on, as if it had just lain down.
    pub(super) fn lay_back(&self, worker: usize) {
        let lies = self.slots[worker].parker.lay_back(LENT);
        debug_assert!(lies, "nobody takes out a worker whose permit is lent");
    }

    /// The permit of `worker` is its own again, and it gets up.
    pub(super) fn give_back(&self, worker: usize) {
        self.slots[worker].parker.tell(Parker::<P>::AWAKE);
    }

    /// Whether the permit of `worker` is lent, as seen a moment ago.
    pub(super) fn is_lent(&self, worker: usize) -> bool {
        self.slots[worker].is_lent()
    }

    /// `worker` lies down; no thread has roused it yet.
    pub(super) fn lie_down(&self, worker: usize, lendable: bool) {
        let slot = &self.slots[worker];
        slot.roused_at.store(0, Relaxed);
        let parker = self.parker(worker);
        // Relaxed: published by `lie_down`. Looking first spares the line. A borrower leaves it as the
        // worker has it.
        if !slot.is_lent() && slot.lendable.load(Ordering::Relaxed) != lendable {
            slot.lendable.store(lendable, Ordering::Relaxed);
        }
        parker.lie_down();
    }

    /// When `worker`, which is up, was roused, in ticks, if it was and that is known by now.
    pub(super) fn roused_at(&self, worker: usize) -> Option<u64> {
        Some(self.slots[worker].roused_at.load(Relaxed)).filter(|&at| at != 0)
    }

    /// The core from which `worker` was last roused for a loop, unless it was for a job. At first, the core on
    /// which the pool was made, but none for worker 0: in a pool of two, both would begin on the other core.
    pub(super) fn roused_from(&self, worker: usize) -> Option<usize> {
        let core = self.slots[worker].roused_from.load(Ordering::Relaxed);
        (core != NO_CORE).then_some(core as usize)
    }

    /// How often a worker lay down, and how often one was woken.
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
