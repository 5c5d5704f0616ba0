//! The board: where loops are posted for others to join.

use super::gate::Gate;
use super::partial_slot::PartialSlot;
use crate::clusters::{Clusters, Invited};
use crate::partition::{HoldersWord, Shards};
use manycore_platform::{Atomic, CachePadded, Native, Ordering, Platform};
use std::cell::UnsafeCell;
use std::sync::OnceLock;

/// A helper's way into a posted loop.
#[derive(Clone, Copy)]
pub(crate) struct PostedLoop {
    /// The loop's frame on its caller's stack.
    pub(crate) frame: *const (),
    /// Takes part in the loop at `frame` as the given rank. Partial results are left in the slot, the
    /// [`PartialSlot`] of the entrance.
    pub(crate) run: unsafe fn(*const (), usize, *const ()) -> Participation,
    /// No more than this many helpers of the cluster are of use.
    pub(crate) helpers: u32,
    /// The clusters that are invited.
    pub(crate) invited: Invited,
}

/// How a helper's participation in a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Participation {
    /// Nothing is left that it could claim.
    Done,
    /// It is not allowed any more. All threads look where the remaining iterations are.
    Left,
    /// As `Left`, but some of what is left was its own, and others may have looked
    /// for work before it was. The frame says so to the caller.
    Abandoned,
}

/// The entrance of one cluster's helpers to the loop in a slot: one line. The pool owns it and keeps it
/// until its threads have ended, so a late helper to a finished loop touches only this.
pub(crate) struct Entrance<P: Platform> {
    gate: Gate<P>,
    job: UnsafeCell<Option<PostedLoop>>,
    /// Which members of the cluster hold iterations.
    holders: HoldersWord<P>,
    partial: PartialSlot<P>,
}

const _: () = assert!(
    size_of::<Entrance<Native>>() <= 64,
    "what the members of a cluster write when they come and go is one line"
);

// SAFETY: `job` is written only by the slot's holder while the gate is closed
// and empty, and read only by helpers between a successful `join` and their
// `leave` (and by the holder). `Gate::join` acquires what `Gate::open`
// released; the holder writes again only after `is_empty` acquired every
// `leave`. The pointers inside are as shareable as the loop frame, which is
// `Sync` by construction (`loops::launch`).
unsafe impl<P: Platform> Sync for Entrance<P> {}
// SAFETY: as above; an entrance holds no thread-bound state.
unsafe impl<P: Platform> Send for Entrance<P> {}

impl<P: Platform> Entrance<P> {
    pub(crate) fn gate(&self) -> &Gate<P> {
        &self.gate
    }

    /// The slot for partial results of the cluster's helpers.
    pub(crate) fn partial(&self) -> &PartialSlot<P> {
        &self.partial
    }

    /// The job of a loop this thread has joined.
    ///
    /// # Safety
    ///
    /// This thread has joined the gate and not left it.
    pub(crate) unsafe fn job(&self) -> PostedLoop {
        // SAFETY: by contract the holder does not write while we are inside.
        unsafe { (*self.job.get()).expect("an open gate has a job") }
    }
}

/// The memory of one posted loop, except its entrances.
pub(crate) struct BoardSlot<P: Platform> {
    /// The holder's. On a line of its own: helpers never look at it.
    held: CachePadded<Held<P>>,
    /// The claim words of sharded loops, made at the first use of the slot:
    /// pool memory, so that posting a loop allocates nothing.
    /// The entrances have the words that say which threads hold iterations. The board frees the entrances
    /// after this.
    shards: OnceLock<Shards<'static, P>>,
}

struct Held<P: Platform> {
    /// Set by the thread that posts a loop here.
    taken: P::AtomicBool,
    /// The slot of the loop around this one, plus one. Read by callers that wait for a loop around this
    /// one.
    parent: P::AtomicU32,
}

/// All slots of a pool.
pub(crate) struct Board<P: Platform> {
    slots: Box<[BoardSlot<P>]>,
    clusters: usize,
    /// Each cluster's entrance to the first slot, then to the second, and so on.
    entrances: Box<[CachePadded<Entrance<P>>]>,
}

impl<P: Platform> Board<P> {
    /// A board of `slots` slots, for workers in `clusters` clusters.
    pub(crate) fn new(slots: usize, clusters: usize) -> Self {
        let slot = || BoardSlot {
            held: CachePadded::new(Held {
                taken: P::AtomicBool::new(false),
                parent: P::AtomicU32::new(0),
            }),
            shards: OnceLock::new(),
        };
        let entrance = || {
            CachePadded::new(Entrance {
                gate: Gate::new(),
                job: UnsafeCell::new(None),
                holders: HoldersWord::new(),
                partial: PartialSlot::new(),
            })
        };
        Self {
            slots: (0..slots).map(|_| slot()).collect(),
            clusters,
            entrances: (0..slots * clusters).map(|_| entrance()).collect(),
        }
    }

    /// For a simulator's accounts.
    pub(super) fn name(&self) {
        for slot in &self.slots {
            P::name(&slot.held, "pool: slot");
        }
        for entrance in &self.entrances {
            P::name(entrance, "pool: gate of a loop");
        }
    }

    pub(crate) fn slot(&self, index: usize) -> &BoardSlot<P> {
        &self.slots[index]
    }

    /// The entrance of `cluster`'s helpers to the loop in slot `index`.
    #[inline]
    pub(crate) fn entrance(&self, cluster: usize, index: usize) -> &Entrance<P> {
        &self.entrances[index * self.clusters + cluster]
    }

    /// The entrances of the clusters `invited` to the loop in slot `index`.
    #[inline]
    pub(crate) fn entrances(&self, index: usize, invited: Invited) -> Entrances<'_, P> {
        Entrances {
            board: self,
            index,
            invited,
        }
    }

    /// Takes a free slot, trying `hint` first. `None`: all are in use, and the
    /// caller runs its loop alone.
    ///
    /// Cost: one locked instruction on the slot's `taken` line, which stays in
    /// the cache of a thread that posts with the same permit again.
    pub(crate) fn take(&self, hint: usize) -> Option<Taken<'_, P>> {
        let free = |&i: &usize| {
            let taken = &self.slots[i].held.taken;
            // Acquire pairs with `Taken`'s release: the gates are closed and
            // empty.
            !taken.load(Ordering::Relaxed) && !taken.swap(true, Ordering::Acquire)
        };
        let index = self.beginning_at(hint).find(free)?;
        Some(Taken { board: self, index })
    }

    /// The claim words of the loop in slot `index`, for all permits in `clusters`.
    pub(crate) fn shards(&self, index: usize, clusters: &Clusters) -> &Shards<'_, P> {
        self.slots[index].shards.get_or_init(|| {
            let first = index * self.clusters;
            let entrances: *const [_] = &raw const self.entrances[first..first + self.clusters];
            // SAFETY: the entrances are in memory of their own, which the board frees after the slots, and
            // the shards are lent for no longer than the board is.
            let entrances = unsafe { &*entrances };
            Shards::new(
                clusters,
                entrances,
                |entrance: &CachePadded<Entrance<P>>| &entrance.holders,
            )
        })
    }

    /// The slots that invite helpers of `cluster`, beginning at `first`; without a look at the slot
    /// `except`.
    pub(crate) fn inviting(
        &self,
        cluster: usize,
        first: usize,
        except: Option<usize>,
    ) -> impl Iterator<Item = usize> + '_ {
        self.beginning_at(first).filter(move |&index| {
            Some(index) != except && self.entrance(cluster, index).gate.invites()
        })
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
            match self.slots[index].held.parent.load(Ordering::Relaxed) {
                0 => return false,
                parent if parent as usize - 1 == ancestor => return true,
                parent => index = parent as usize - 1,
            }
        }
        false
    }
}

/// A slot that this thread holds; given back when dropped, also by a panic. Its
/// gates are closed and empty then.
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
        // Release: the loop is over before another thread takes the slot.
        self.board.slots[self.index]
            .held
            .taken
            .store(false, Ordering::Release);
    }
}

impl<P: Platform> BoardSlot<P> {
    /// Notes the slot of the loop around this one; before the gates are opened.
    pub(crate) fn set_parent(&self, parent: Option<usize>) {
        let parent = parent.map_or(0, |slot| slot as u32 + 1);
        // Relaxed: published, as the job is, by the opening of the gate; for a thread that is
        // not inside it is a hint. Looking first spares the line.
        if self.held.parent.load(Ordering::Relaxed) != parent {
            self.held.parent.store(parent, Ordering::Relaxed);
        }
    }
}

/// The entrances to one loop, for its caller. The caller opens, closes and waits for each gate by itself,
/// so that the gate's own argument holds.
pub(crate) struct Entrances<'a, P: Platform> {
    board: &'a Board<P>,
    index: usize,
    invited: Invited,
}

impl<'a, P: Platform> Entrances<'a, P> {
    fn gates(&self) -> impl Iterator<Item = &'a Gate<P>> {
        let (board, index) = (self.board, self.index);
        (self.invited.clusters()).map(move |cluster| &board.entrance(cluster, index).gate)
    }

    /// Writes the job for the helpers of each cluster, before the gates are opened. `job_for` makes it
    /// from the cluster's number.
    ///
    /// # Safety
    ///
    /// The calling thread has taken the slot, and its gates are closed and empty.
    pub(crate) unsafe fn set_job(&self, mut job_for: impl FnMut(usize) -> PostedLoop) {
        for cluster in self.invited.clusters() {
            let entrance = self.board.entrance(cluster, self.index);
            // SAFETY: by contract no other thread reads or writes `job` now.
            unsafe { *entrance.job.get() = Some(job_for(cluster)) };
        }
    }

    /// See [`Gate::open`].
    pub(crate) fn open(&self) {
        self.gates().for_each(Gate::open);
    }

    /// See [`Gate::close`].
    pub(crate) fn close(&self) {
        if !self.invited.is_one() {
            // On their way at once, instead of one after the other.
            for gate in self.gates() {
                P::prefetch_write(std::ptr::from_ref(gate).cast());
            }
        }
        self.gates().for_each(Gate::close);
    }

    /// The slots for partial results.
    pub(crate) fn partials(&self) -> impl Iterator<Item = &'a PartialSlot<P>> {
        let (board, index) = (self.board, self.index);
        (self.invited.clusters()).map(move |cluster| &board.entrance(cluster, index).partial)
    }

    /// Whether all helpers have left. A closed gate that was seen empty lets no helper in again.
    #[inline]
    pub(crate) fn are_empty(&self) -> bool {
        self.gates().all(Gate::is_empty)
    }

    /// See [`Gate::await_last`]: the last helper of each cluster wakes the caller.
    pub(crate) fn await_last(&self, caller: usize) {
        self.gates().for_each(|gate| gate.await_last(caller));
    }

    /// See [`Gate::awaited_no_more`].
    pub(crate) fn awaited_no_more(&self) {
        self.gates().for_each(Gate::awaited_no_more);
    }
}
