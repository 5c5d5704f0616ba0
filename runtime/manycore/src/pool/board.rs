//! The board: the slots in which a pool's threads post loops, so that other threads, the *helpers*, can join these
//! loops. Each cluster (a group of up to 32 near threads) has its own entrance to each slot. The [`Gate`] of an
//! entrance lets helpers in while the loop is open.

use super::gate::Gate;
use super::partial_slot::PartialSlot;
use crate::clusters::{Clusters, Invited};
use crate::partition::Shards;
use manycore_platform::{Atomic, CachePadded, Native, Ordering, Platform};
use std::cell::UnsafeCell;
use std::sync::OnceLock;

/// The data that a helper needs to enter a posted loop.
#[derive(Clone, Copy)]
pub(crate) struct PostedLoop {
    /// The loop's frame: its state, on the stack of the loop's caller.
    pub(crate) frame: *const (),
    /// The function by which a helper takes part in the loop. Its arguments are `frame`, the helper's rank (its number
    /// in this loop) and the [`PartialSlot`] of the entrance, where the helper leaves its partial result.
    pub(crate) run: unsafe fn(*const (), usize, *const ()) -> Participation,
    /// The largest number of helpers of the entrance's cluster that the loop can use.
    pub(crate) helpers: u32,
    /// The clusters that the loop invites.
    pub(crate) invited: Invited,
}

/// How a helper's participation in a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Participation {
    /// The helper found no iterations left to claim.
    Done,
    /// The helper must stop, since the pool's allotment of cores has shrunk. The other threads find the remaining
    /// iterations.
    Left,
    /// As `Left`, but some iterations of the helper's own share are left. A thread that looked for work before the
    /// helper left may have missed them. The caller learns of these iterations from the frame.
    Abandoned,
}

/// The entrance of one cluster's helpers to the loop in a slot, in one cache line. The pool keeps each entrance until
/// the pool's threads have ended. So a helper that comes after the loop's end touches only memory that still exists.
pub(crate) struct Entrance<P: Platform> {
    gate: Gate<P>,
    job: UnsafeCell<Option<PostedLoop>>,
    partial: PartialSlot<P>,
}

const _: () = assert!(
    size_of::<Entrance<Native>>() <= 64,
    "what the members of a cluster write at the gate is one line"
);

// SAFETY: only the slot's holder writes `job`, while the gate is closed and empty. The holder may read `job`, and
// helpers may read it between a successful `join` and their `leave`. `Gate::join` acquires what `Gate::open` released.
// The holder writes again only after `is_empty` has acquired every `leave`. The pointers in `job` may be shared because
// the loop frame, to which they point, is `Sync` by construction (`loops::launch`).
unsafe impl<P: Platform> Sync for Entrance<P> {}
// SAFETY: as above. An entrance holds no state that is bound to a thread.
unsafe impl<P: Platform> Send for Entrance<P> {}

impl<P: Platform> Entrance<P> {
    pub(crate) fn gate(&self) -> &Gate<P> {
        &self.gate
    }

    /// The slot for partial results of the cluster's helpers.
    pub(crate) fn partial(&self) -> &PartialSlot<P> {
        &self.partial
    }

    /// The job of a loop that this thread has joined.
    ///
    /// # Safety
    ///
    /// This thread has joined the gate, and has not left it.
    pub(crate) unsafe fn job(&self) -> PostedLoop {
        // SAFETY: by contract this thread is inside, and the holder does not write `job` while a helper is inside.
        unsafe { (*self.job.get()).expect("an open gate has a job") }
    }
}

/// The memory of one posted loop, except its entrances.
pub(crate) struct BoardSlot<P: Platform> {
    /// The part for the slot's holder. It is on a cache line of its own, which helpers do not touch.
    held: CachePadded<Held<P>>,
    /// The claim words of sharded loops, in which each thread claims iterations from a range of its own. The words are
    /// made when such a loop first uses the slot, and stay in the pool, so that posting a loop allocates nothing.
    shards: OnceLock<Shards<P>>,
}

struct Held<P: Platform> {
    /// Set while a thread holds this slot for a loop.
    taken: P::AtomicBool,
    /// The index, plus 1, of the slot of the loop around this one, or 0 without such a loop. Callers that wait for a
    /// loop around this one read this index.
    parent: P::AtomicU32,
}

/// All slots of a pool.
pub(crate) struct Board<P: Platform> {
    slots: Box<[BoardSlot<P>]>,
    clusters: usize,
    /// The entrances of all clusters to the first slot, then those to the second slot, and so on.
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
                partial: PartialSlot::new(),
            })
        };
        Self {
            slots: (0..slots).map(|_| slot()).collect(),
            clusters,
            entrances: (0..slots * clusters).map(|_| entrance()).collect(),
        }
    }

    /// Names the parts for a simulator's statistics.
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

    /// Takes a free slot, trying `hint` first. Returns `None` if all slots are in use. The caller then runs its loop
    /// alone.
    ///
    /// Cost: one locked instruction on the cache line of `taken`. If a thread posts with the same permit (right to run
    /// jobs) again, that line is still in its cache.
    pub(crate) fn take(&self, hint: usize) -> Option<Taken<'_, P>> {
        let free = |&i: &usize| {
            let taken = &self.slots[i].held.taken;
            // Acquire pairs with the release in `Taken::drop`, so the gates are closed and empty.
            !taken.load(Ordering::Relaxed) && !taken.swap(true, Ordering::Acquire)
        };
        let index = self.beginning_at(hint).find(free)?;
        Some(Taken { board: self, index })
    }

    /// Returns the claim words of the loop in slot `index`, for all permits in `clusters`.
    pub(crate) fn shards(&self, index: usize, clusters: &Clusters) -> &Shards<P> {
        self.slots[index]
            .shards
            .get_or_init(|| Shards::new(clusters))
    }

    /// The slots that invite helpers of `cluster`, beginning at `first`. Skips the slot `except`.
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

    /// The indices of all slots, in a circle from `first`, without a division for each index.
    fn beginning_at(&self, first: usize) -> impl Iterator<Item = usize> + use<P> {
        let slots = self.slots.len();
        (first..slots).chain(0..first.min(slots))
    }

    /// Whether the loop in slot `index` was posted from the body of the loop in slot `ancestor`, directly or
    /// through loops between them. The answer is exact while this thread is inside `index`, and otherwise a hint.
    pub(crate) fn descends(&self, mut index: usize, ancestor: usize) -> bool {
        // The walk takes at most as many steps as there are slots. Without this limit, racy reads could lead it round a
        // circle of parents.
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

/// A slot that this thread holds. Dropping this value, also by a panic, gives the slot back. Before that, the slot's
/// gates must be closed and empty.
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
        // Release: all accesses of the loop happen before another thread takes the slot.
        self.board.slots[self.index]
            .held
            .taken
            .store(false, Ordering::Release);
    }
}

impl<P: Platform> BoardSlot<P> {
    /// Notes the slot of the loop around this one. Called before the gates are opened.
    pub(crate) fn set_parent(&self, parent: Option<usize>) {
        let parent = parent.map_or(0, |slot| slot as u32 + 1);
        // Relaxed: opening the gate publishes the value, as it publishes the job. For a thread that is not
        // inside, the value is a hint. An equal value is not written, so that the cache line stays shared.
        if self.held.parent.load(Ordering::Relaxed) != parent {
            self.held.parent.store(parent, Ordering::Relaxed);
        }
    }
}

/// The entrances to one loop, for its caller. Each gate is opened, closed and waited for separately, so that the
/// argument at [`Gate`] holds for each.
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

    /// Writes the job for the helpers of each cluster. `job_for` makes the job from the cluster's number. Called
    /// before the gates are opened.
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
            // Fetch all the gates' cache lines at once, instead of one after the other.
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

    /// Whether all helpers have left. Once a closed gate has been seen empty, it lets no helper in.
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
