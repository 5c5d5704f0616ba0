//! The parking slots of a pool's workers, by core group.

use manycore_cores::sync::Parker;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Why a worker was roused: for a job that was posted.
pub(super) const CALLED: u32 = 2;

/// Workers of one core group, up to 64 of them, and which of them sleep.
struct Room<P: Platform> {
    /// Sleepers that may take anything, one bit each.
    free: P::AtomicU64,
    /// Sleepers that wait for a stolen job.
    waiting: P::AtomicU64,
    workers: Vec<usize>,
}

/// One worker's bed, on lines of its own.
struct Bed<P: Platform> {
    parker: Parker<P>,
    room: usize,
    bit: u64,
    /// For the report: no step of the protocol, so relaxed throughout, and no time
    /// on a simulator.
    sleeps: AtomicU64,
    wakeups: AtomicU64,
    /// When the worker was last roused, in ticks; 0: not since it lay down. A hint, as well.
    roused_at: AtomicU64,
}

/// All beds of a pool. A worker's bit says that it lies down or is about to;
/// who takes the worker out of its parker clears it.
pub(super) struct Beds<P: Platform> {
    beds: Box<[CachePadded<Bed<P>>]>,
    rooms: Box<[CachePadded<Room<P>>]>,
}

impl<P: Platform> Beds<P> {
    /// For workers in the core groups `groups`.
    pub(super) fn new(groups: &[u32]) -> Self {
        let mut rooms: Vec<(u32, Vec<usize>)> = Vec::new();
        let mut beds = Vec::new();
        for (worker, &group) in groups.iter().enumerate() {
            let with_room = |(of, workers): &(u32, Vec<usize>)| *of == group && workers.len() < 64;
            let room = rooms.iter().position(with_room).unwrap_or_else(|| {
                rooms.push((group, Vec::new()));
                rooms.len() - 1
            });
            beds.push(CachePadded::new(Bed {
                parker: Parker::awake(),
                room,
                bit: 1 << rooms[room].1.len(),
                sleeps: AtomicU64::new(0),
                wakeups: AtomicU64::new(0),
                roused_at: AtomicU64::new(0),
            }));
            rooms[room].1.push(worker);
        }
        let room = |(_, workers)| {
            CachePadded::new(Room {
                free: P::AtomicU64::new(0),
                waiting: P::AtomicU64::new(0),
                workers,
            })
        };
        Self {
            beds: beds.into(),
            rooms: rooms.into_iter().map(room).collect(),
        }
    }

    pub(super) fn name(&self) {
        for bed in &self.beds {
            P::name(&bed.parker, "sleep: parkers");
        }
        for room in &self.rooms {
            P::name(room, "sleep: beds of a core group");
        }
    }

    pub(super) fn parker(&self, worker: usize) -> &Parker<P> {
        &self.beds[worker].parker
    }

    fn word(&self, worker: usize, free: bool) -> &P::AtomicU64 {
        let room = &self.rooms[self.beds[worker].room];
        if free { &room.free } else { &room.waiting }
    }

    /// `worker`, which lies in its parker, is to be found.
    pub(super) fn mark(&self, worker: usize, free: bool) {
        self.beds[worker].sleeps.fetch_add(1, Relaxed);
        // Release: who finds the bit finds the worker lying.
        self.word(worker, free)
            .fetch_or(self.beds[worker].bit, Ordering::Release);
    }

    /// `worker` is up.
    pub(super) fn unmark(&self, worker: usize, free: bool) {
        // Relaxed: who still sees the bit finds the parker empty.
        self.word(worker, free)
            .fetch_and(!self.beds[worker].bit, Ordering::Relaxed);
    }

    /// Takes a sleeper out of its parker: one of the core group of worker `near`
    /// if there is one, and of several the next after `near`, so that not
    /// always the same ones are woken.
    pub(super) fn rouse_near(&self, near: usize, free: bool, called: bool) -> Option<usize> {
        let home = self.beds[near].room;
        let from = self.beds[near].bit.trailing_zeros();
        let rooms = (home..self.rooms.len()).chain(0..home);
        for index in rooms {
            let room = &self.rooms[index];
            let word = if free { &room.free } else { &room.waiting };
            // Acquire pairs with `mark`.
            let mut bits = word.load(Ordering::Acquire).rotate_right(from);
            while bits != 0 {
                let bit = (bits.trailing_zeros() + from) % 64;
                let worker = room.workers[bit as usize];
                if self.rouse(worker, called) {
                    return Some(worker);
                }
                bits &= bits - 1;
            }
        }
        None
    }

    /// Takes `worker` out of its parker, if it is there.
    pub(super) fn rouse(&self, worker: usize, called: bool) -> bool {
        let reason = if called { CALLED } else { Parker::<P>::AWAKE };
        let roused = self.beds[worker].parker.rouse(reason);
        if roused {
            self.beds[worker].wakeups.fetch_add(1, Relaxed);
            self.beds[worker].roused_at.store(P::now(), Relaxed);
        }
        roused
    }

    /// `worker` lies down; nobody has roused it yet.
    pub(super) fn lie_down(&self, worker: usize) {
        self.beds[worker].roused_at.store(0, Relaxed);
        self.beds[worker].parker.lie_down();
    }

    /// When `worker`, which is up, was roused, in ticks, if it was and that is known by now.
    pub(super) fn roused_at(&self, worker: usize) -> Option<u64> {
        Some(self.beds[worker].roused_at.load(Relaxed)).filter(|&at| at != 0)
    }

    /// How often a worker lay down, and how often one was woken.
    pub(super) fn tally(&self) -> (u64, u64) {
        let sum = |count: fn(&Bed<P>) -> &AtomicU64| {
            self.beds.iter().map(|bed| count(bed).load(Relaxed)).sum()
        };
        (sum(|bed| &bed.sleeps), sum(|bed| &bed.wakeups))
    }
}
