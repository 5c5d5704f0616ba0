//! The board: where loops are posted for others to join.

use super::gate::Gate;
use crate::partition::Shards;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::cell::UnsafeCell;
use std::sync::OnceLock;

/// What a helper needs to take part in a posted loop.
#[derive(Clone, Copy)]
pub(crate) struct PostedLoop {
    /// The loop's frame on its caller's stack.
    pub(crate) frame: *const (),
    /// Takes part in the loop at `frame` as the given rank.
    pub(crate) run: unsafe fn(*const (), usize) -> Participation,
    /// No more than this many helpers are of use.
    pub(crate) helpers: u32,
}

/// How a helper's participation in a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Participation {
    /// Nothing is left that it could claim.
    Done,
    /// It is not allowed any more. What is left is where all look for it.
    Left,
    /// As `Left`, but some of what is left was its own, and others may have looked
    /// for work before it was. The frame says so to the caller.
    Abandoned,
}

/// The memory of one posted loop. The pool owns it and keeps it until its
/// threads have ended, so a late helper to a finished loop touches only this.
pub(crate) struct BoardSlot<P: Platform> {
    /// What helpers read and write to come in: one line.
    header: CachePadded<SlotHeader<P>>,
    /// Held by the thread whose loop is posted here. On a line of its own:
    /// helpers never look at it.
    taken: CachePadded<P::AtomicBool>,
    /// The claim words of sharded loops, made at the first use of the slot:
    /// pool memory, so that posting a loop allocates nothing.
    shards: OnceLock<Shards<P>>,
}

struct SlotHeader<P: Platform> {
    gate: Gate<P>,
    /// The slot of the loop in whose body this one was posted, plus one.
    parent: P::AtomicU32,
    job: UnsafeCell<Option<PostedLoop>>,
}

// SAFETY: `job` is written only by the slot's holder while the gate is closed
// and empty, and read only by helpers between a successful `join` and their
// `leave` (and by the holder). `Gate::join` acquires what `Gate::open`
// released; the holder writes again only after `is_empty` acquired every
// `leave`. The pointers inside are as shareable as the loop frame, which is
// `Sync` by construction (`loops::launch`).
unsafe impl<P: Platform> Sync for BoardSlot<P> {}
// SAFETY: as above; a slot holds no thread-bound state.
unsafe impl<P: Platform> Send for BoardSlot<P> {}

/// All slots of a pool.
pub(crate) struct Board<P: Platform> {
    slots: Box<[BoardSlot<P>]>,
}

impl<P: Platform> Board<P> {
    pub(crate) fn new(slots: usize) -> Self {
        let slot = || BoardSlot {
            header: CachePadded::new(SlotHeader {
                gate: Gate::new(),
                parent: P::AtomicU32::new(0),
                job: UnsafeCell::new(None),
            }),
            taken: CachePadded::new(P::AtomicBool::new(false)),
            shards: OnceLock::new(),
        };
        Self {
            slots: (0..slots).map(|_| slot()).collect(),
        }
    }

    /// For a simulator's accounts.
    pub(super) fn name(&self) {
        for slot in &self.slots {
            P::name(&slot.header, "pool: door of a loop");
            P::name(&slot.taken, "pool: slot");
        }
    }

    pub(crate) fn slot(&self, index: usize) -> &BoardSlot<P> {
        &self.slots[index]
    }

    /// Takes a free slot, trying `hint` first. `None`: all are in use, and the
    /// caller runs its loop alone.
    ///
    /// Cost: one locked instruction on the slot's `taken` line, which stays in
    /// the cache of a thread that posts with the same permit again.
    pub(crate) fn take(&self, hint: usize) -> Option<Taken<'_, P>> {
        let free = |&i: &usize| {
            let taken = &self.slots[i].taken;
            // Acquire pairs with `Taken`'s release: the gate is closed and
            // empty.
            !taken.load(Ordering::Relaxed) && !taken.swap(true, Ordering::Acquire)
        };
        let index = self.beginning_at(hint).find(free)?;
        Some(Taken { board: self, index })
    }

    /// The slots that invite helpers, beginning at `first`.
    pub(crate) fn inviting(&self, first: usize) -> impl Iterator<Item = usize> + '_ {
        self.beginning_at(first)
            .filter(|&i| self.slots[i].header.gate.invites())
    }

    /// All slots, without a division for each.
    fn beginning_at(&self, first: usize) -> impl Iterator<Item = usize> + use<P> {
        let slots = self.slots.len();
        (first..slots).chain(0..first.min(slots))
    }

    /// Whether the loop in slot `index` was posted, directly or further down,
    /// from the body of the loop in slot `ancestor`. Exact while this thread
    /// is inside `index`; otherwise a hint.
    pub(crate) fn descends(&self, mut index: usize, ancestor: usize) -> bool {
        // Bounded by the number of slots: a racy reading could see a circle.
        for _ in 0..self.slots.len() {
            match self.slots[index].header.parent.load(Ordering::Relaxed) {
                0 => return false,
                parent if parent as usize - 1 == ancestor => return true,
                parent => index = parent as usize - 1,
            }
        }
        false
    }
}

/// A slot that this thread holds; given back when dropped, also by a panic. Its
/// gate is closed and empty then.
pub(crate) struct Taken<'a, P: Platform> {
    board: &'a Board<P>,
    index: usize,
}

impl<P: Platform> Taken<'_, P> {
    pub(crate) fn index(&self) -> usize {
        self.index
    }
}

impl<P: Platform> Drop for Taken<'_, P> {
    fn drop(&mut self) {
        // Release: the loop is over before the slot is somebody else's.
        self.board.slots[self.index]
            .taken
            .store(false, Ordering::Release);
    }
}

impl<P: Platform> BoardSlot<P> {
    pub(crate) fn gate(&self) -> &Gate<P> {
        &self.header.gate
    }

    /// Writes the job, before the gate is opened.
    ///
    /// # Safety
    ///
    /// The calling thread has taken the slot, and its gate is closed and empty.
    pub(crate) unsafe fn set_job(&self, job: PostedLoop, parent: Option<usize>) {
        // SAFETY: by contract nobody else reads or writes `job` now.
        unsafe { *self.header.job.get() = Some(job) };
        // Relaxed: published, as the job is, by the opening of the gate; to who is
        // not inside it is a hint.
        self.header
            .parent
            .store(parent.map_or(0, |p| p as u32 + 1), Ordering::Relaxed);
    }

    /// The job of a loop this thread has joined.
    ///
    /// # Safety
    ///
    /// This thread has joined the gate and not left it.
    pub(crate) unsafe fn job(&self) -> PostedLoop {
        // SAFETY: by contract the holder does not write while we are inside.
        unsafe { (*self.header.job.get()).expect("an open gate has a job") }
    }

    /// Begins to fetch the claim word that participant `rank` will want, if
    /// the slot has any.
    #[inline]
    pub(crate) fn prefetch(&self, rank: usize) {
        if let Some(shards) = self.shards.get() {
            shards.prefetch(rank);
        }
    }

    /// The slot's claim words, `count` of them.
    pub(crate) fn shards(&self, count: usize) -> &Shards<P> {
        self.shards.get_or_init(|| Shards::new(count))
    }
}
