//! Slots through which ranks (the parts of a program) exchange values.

use super::words::Episode;
use manycore_platform::{CachePadded, Platform};
use std::any::TypeId;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::slice;

/// The largest value that a rank can leave, in bytes.
const ROOM: usize = 64;
struct Slot {
    /// The value's episode (the interval between two barriers) and its type. `None` before the
    /// first value.
    label: Option<(Episode, TypeId)>,
    bytes: Bytes,
}

#[repr(align(64))]
struct Bytes {
    /// Only the address of this field is used.
    _room: [MaybeUninit<u8>; ROOM],
}

/// Two slots for each rank: one for even episodes, one for odd episodes.
///
/// In an episode each rank writes its own slot of the episode's parity, and reads slots of the
/// other parity. An episode begins when all ranks have arrived at the end of the previous one. So
/// no read overlaps a write, whatever bodies do with their turns. The label says whether a value is
/// the expected value. (Episodes are numbered modulo 2^29. If a rank leaves no value in so many
/// episodes, its old value passes for a new one.)
pub(super) struct ValueExchange {
    slots: [Box<[CachePadded<UnsafeCell<Slot>>]>; 2],
}

// SAFETY: by the contract of the methods, the claimer of a rank writes the rank's slot, and other
// threads read it only in the next episode. The slots hold only `Send` values.
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

    /// Stores the value of `rank` in its slot.
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
        // SAFETY: only the claimer uses this slot, and no rank reads it in this episode. The slot
        // is large enough: see `fits`.
        unsafe {
            (*slot).label = Some((episode, TypeId::of::<T>()));
            value_in::<T>(slot).write(value);
            P::write(slice::from_mut(&mut *slot));
        }
    }

    /// The value that `rank` left in the previous episode. `None` if the rank left no value, or no
    /// value of type `T`.
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
        // SAFETY: if the slot was ever written, that was before the barrier between the episodes,
        // and it is not written in this episode. The label says that the value is a `T`.
        unsafe {
            P::read(slice::from_ref(&*slot));
            let is_it = (*slot).label == Some((before, TypeId::of::<T>()));
            is_it.then(|| value_in::<T>(slot).read())
        }
    }
}

/// Returns the place of the value in a slot.
///
/// # Safety
///
/// `slot` points to a slot.
unsafe fn value_in<T>(slot: *mut Slot) -> *mut T {
    // SAFETY: the address is inside the slot, and no reference is made.
    unsafe { (&raw mut (*slot).bytes).cast() }
}
