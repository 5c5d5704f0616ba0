//! The slots through which ranks exchange values.

use super::words::Episode;
use manycore_platform::{CachePadded, Platform};
use std::any::TypeId;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::slice;

/// Bytes that a rank can leave.
const ROOM: usize = 64;

/// The value that a rank has left.
struct Slot {
    /// The episode and the type of the value; `None` before the first.
    label: Option<(Episode, TypeId)>,
    bytes: Bytes,
}

#[repr(align(64))]
struct Bytes {
    /// Only ever used by its address.
    _room: [MaybeUninit<u8>; ROOM],
}

/// Two slots a rank, which take turns: one for even episodes, one for odd.
///
/// In an episode each rank writes its own slot of the episode's parity, and reads slots of the
/// other parity. An episode begins when all ranks have arrived at the end of the one before. So no
/// read overlaps a write, whatever bodies do with their turns, and the label says whether a value
/// is the expected one. (Episodes are numbered modulo 2^29: if a rank leaves nothing for so long,
/// its old value passes for a new one.)
pub(super) struct ValueExchange {
    slots: [Box<[CachePadded<UnsafeCell<Slot>>]>; 2],
}

// SAFETY: the claimer of a rank writes its slot, and others read it in the next episode, by the
// contract of the methods. It holds only `Send` values.
unsafe impl Sync for ValueExchange {}
// SAFETY: as above.
unsafe impl Send for ValueExchange {}

impl ValueExchange {
    pub(super) fn new(ranks: usize) -> Self {
        let slot = |_| {
            CachePadded::new(UnsafeCell::new(Slot {
                label: None,
                bytes: Bytes {
                    _room: [MaybeUninit::uninit(); ROOM],
                },
            }))
        };
        let set = || (0..ranks).map(slot).collect();
        Self {
            slots: [set(), set()],
        }
    }

    const fn fits<T>() {
        assert!(
            size_of::<T>() <= ROOM && align_of::<T>() <= 64,
            "what ranks exchange is up to 64 bytes, aligned to at most 64"
        );
    }

    /// Leaves the value of `rank`.
    ///
    /// # Safety
    ///
    /// The caller has claimed that rank, in this episode, and not given it back.
    pub(super) unsafe fn leave<P: Platform, T: Copy + Send + 'static>(
        &self,
        episode: Episode,
        rank: usize,
        value: T,
    ) {
        const { Self::fits::<T>() };
        let slot = self.slots[episode.parity()][rank].get();
        // SAFETY: the slot is the claimer's alone, and no rank reads it in this episode. It has
        // room, see `fits`.
        unsafe {
            (*slot).label = Some((episode, TypeId::of::<T>()));
            value_in::<T>(slot).write(value);
            P::write(slice::from_mut(&mut *slot));
        }
    }

    /// The value that `rank` left in the episode before; `None` if it is no `T`, or nothing.
    ///
    /// # Safety
    ///
    /// The caller has claimed some rank, in this episode, and not given it back.
    pub(super) unsafe fn take<P: Platform, T: Copy + Send + 'static>(
        &self,
        episode: Episode,
        rank: usize,
    ) -> Option<T> {
        const { Self::fits::<T>() };
        let before = episode.before();
        let slot = self.slots[before.parity()][rank].get();
        // SAFETY: it was written before the barrier between the episodes, if ever, and is
        // not written in this one. The label says that it is a `T`.
        unsafe {
            P::read(slice::from_ref(&*slot));
            let is_it = (*slot).label == Some((before, TypeId::of::<T>()));
            is_it.then(|| value_in::<T>(slot).read())
        }
    }
}

/// The place of the value in a slot.
///
/// # Safety
///
/// The slot is there.
unsafe fn value_in<T>(slot: *mut Slot) -> *mut T {
    // SAFETY: a place in it; no reference is made.
    unsafe { (&raw mut (*slot).bytes).cast() }
}
