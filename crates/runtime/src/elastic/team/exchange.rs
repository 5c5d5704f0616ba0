//! Where ranks leave values for one another.

use manycore_platform::{CachePadded, Platform};
use std::any::TypeId;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::slice;

/// Bytes that a rank can leave.
const ROOM: usize = 64;

/// What a rank has left.
struct Slot {
    /// In which of its intervals, and of which type; `None` if never.
    label: Option<(u64, TypeId)>,
    bytes: Bytes,
}

#[repr(align(64))]
struct Bytes([MaybeUninit<u8>; ROOM]);

/// Two slots a rank, which take turns: one for even intervals, one for odd.
///
/// A rank writes the slot of the interval it is in; others read it in the next one. It writes
/// there again in the one after that, which begins when all have arrived at the end of the one
/// between. So no reading is at the same time as a writing, whatever ranks exchange,
/// and the label says whether a value is the one that is looked for.
pub(super) struct Exchange {
    slots: [Box<[CachePadded<UnsafeCell<Slot>>]>; 2],
}

// SAFETY: a slot is written by its rank alone, and read by others in the next interval, by the
// contract of the methods. Only `Send` values are in it.
unsafe impl Sync for Exchange {}
// SAFETY: as above.
unsafe impl Send for Exchange {}

impl Exchange {
    pub(super) fn new(ranks: usize) -> Self {
        let slot = |_| {
            CachePadded::new(UnsafeCell::new(Slot {
                label: None,
                bytes: Bytes([MaybeUninit::uninit(); ROOM]),
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
    /// The caller is that rank, in its interval number `interval`.
    pub(super) unsafe fn leave<P: Platform, T: Copy + Send + 'static>(
        &self,
        interval: u64,
        rank: usize,
        value: T,
    ) {
        const { Self::fits::<T>() };
        let slot = self.slots[(interval % 2) as usize][rank].get();
        // SAFETY: its own, and nobody reads it in this interval. It has room, see `fits`.
        unsafe {
            (*slot).label = Some((interval, TypeId::of::<T>()));
            value_in::<T>(slot).write(value);
            P::write(slice::from_mut(&mut *slot));
        }
    }

    /// What `rank` left in the interval before; `None` if it is no `T`, or nothing.
    ///
    /// # Safety
    ///
    /// The caller is a rank in the interval after number `interval`.
    pub(super) unsafe fn take<P: Platform, T: Copy + Send + 'static>(
        &self,
        interval: u64,
        rank: usize,
    ) -> Option<T> {
        const { Self::fits::<T>() };
        let slot = self.slots[(interval % 2) as usize][rank].get();
        // SAFETY: it was written before the barrier between the intervals, and is not written
        // again before the next. The label says that it is a `T`.
        unsafe {
            P::read(slice::from_ref(&*slot));
            let is_it = (*slot).label == Some((interval, TypeId::of::<T>()));
            is_it.then(|| value_in::<T>(slot).read())
        }
    }
}

/// Where the value is in a slot.
///
/// # Safety
///
/// The slot is there.
unsafe fn value_in<T>(slot: *mut Slot) -> *mut T {
    // SAFETY: a place in it; no reference is made.
    unsafe { (&raw mut (*slot).bytes).cast() }
}
