//! Where ranks leave values for one another.

use manycore_platform::CachePadded;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

/// Bytes that a rank can leave.
pub(super) const ROOM: usize = 64;

#[repr(align(64))]
struct Slot(UnsafeCell<[MaybeUninit<u8>; ROOM]>);

/// Two slots a rank, which take turns: a rank that still reads the one set has not passed
/// the barrier behind the other.
pub(super) struct Exchange {
    slots: [Box<[CachePadded<Slot>]>; 2],
}

// SAFETY: a slot is written by its rank alone, and read by others between two barriers, by
// the contract of the methods.
unsafe impl Sync for Exchange {}
// SAFETY: bytes.
unsafe impl Send for Exchange {}

impl Exchange {
    pub(super) fn new(ranks: usize) -> Self {
        let slot = |_| CachePadded::new(Slot(UnsafeCell::new([MaybeUninit::uninit(); ROOM])));
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

    /// Leaves the value of `rank` for the exchange number `turn`.
    ///
    /// # Safety
    ///
    /// The caller is that rank, and a barrier of all ranks lies between any read in the
    /// exchange before the last and this.
    pub(super) unsafe fn leave<T: Copy + Send>(&self, turn: usize, rank: usize, value: T) {
        const { Self::fits::<T>() };
        let slot = self.slots[turn % 2][rank].0.get();
        // SAFETY: it has room, see `fits`, and by the contract nobody else has it.
        unsafe { slot.cast::<T>().write(value) };
    }

    /// The value that `rank` has left.
    ///
    /// # Safety
    ///
    /// That rank has left a `T` in the same exchange, and a barrier of all ranks lies between
    /// that and this.
    pub(super) unsafe fn take<T: Copy + Send>(&self, turn: usize, rank: usize) -> T {
        const { Self::fits::<T>() };
        let slot = self.slots[turn % 2][rank].0.get();
        // SAFETY: written as a `T`, and not written again before this rank's next barrier.
        unsafe { slot.cast::<T>().read() }
    }
}
