//! The address range all arenas lie in, cut into slots of [`CAPACITY`]: one
//! comparison tells whether an address belongs to an arena, and a mask whose.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};

use super::{ArenaError, CAPACITY};

/// Slots, if the host's address space has room for them.
const SLOTS: usize = 1024;

static START: AtomicUsize = AtomicUsize::new(0);
/// Bytes from `START`; zero until they are reserved.
static LENGTH: AtomicUsize = AtomicUsize::new(0);
static TAKEN: [AtomicU64; SLOTS / 64] = [const { AtomicU64::new(0) }; SLOTS / 64];

/// The start of the slot that holds `address`, if one does.
#[inline]
pub(super) fn slot_of(address: usize) -> Option<usize> {
    let length = LENGTH.load(Ordering::Acquire);
    let start = START.load(Ordering::Relaxed);
    (address.wrapping_sub(start) < length).then_some(address & !(CAPACITY - 1))
}

/// Takes a free slot: zeroed memory that may be read and written.
pub(super) fn take() -> Result<NonNull<c_void>, ArenaError> {
    static RESERVED: OnceLock<Result<(), rustix::io::Errno>> = OnceLock::new();
    RESERVED
        .get_or_init(reserve)
        .map_err(|errno| ArenaError::Reserve(errno.into()))?;
    let slots = LENGTH.load(Ordering::Acquire) / CAPACITY;
    let slot = (0..slots)
        .find(|slot| claim(*slot))
        .ok_or(ArenaError::TooMany(slots))?;
    let start = (START.load(Ordering::Relaxed) + slot * CAPACITY) as *mut c_void;
    // SAFETY: the slot lies in the range this module reserved and is ours since
    // `claim`; nothing refers to it.
    let made = unsafe { mprotect(start, CAPACITY, MprotectFlags::READ | MprotectFlags::WRITE) };
    if let Err(errno) = made {
        unclaim(slot);
        return Err(ArenaError::Protect(errno.into()));
    }
    Ok(NonNull::new(start).expect("no mapping starts at address zero"))
}

/// Gives a slot back, and its memory to the host.
///
/// # Safety
///
/// `start` is from [`take`] and not given back since; nothing refers to the
/// slot's memory.
pub(super) unsafe fn give_back(start: NonNull<c_void>) {
    // SAFETY: the slot is a part of our reservation, and the caller says that
    // nothing refers to it: it may be replaced by an untouched reservation.
    let replaced = unsafe { map(start.as_ptr(), CAPACITY, MapFlags::FIXED) };
    // Otherwise the slot keeps its contents and must not pass for zeroed: it is
    // lost.
    if replaced.is_ok() {
        unclaim((start.as_ptr() as usize - START.load(Ordering::Relaxed)) / CAPACITY);
    }
}

fn claim(slot: usize) -> bool {
    let bit = 1 << (slot % 64);
    // Acquire: what was done to the slot before it was given back is over.
    TAKEN[slot / 64].fetch_or(bit, Ordering::Acquire) & bit == 0
}

fn unclaim(slot: usize) {
    TAKEN[slot / 64].fetch_and(!(1 << (slot % 64)), Ordering::Release);
}

/// Reserves addresses for as many slots as the host allows.
fn reserve() -> Result<(), rustix::io::Errno> {
    let mut slots = SLOTS;
    let (start, slots) = loop {
        // One more, since the host aligns to pages only.
        // SAFETY: a new mapping at an address of the host's choice.
        match unsafe {
            map(
                std::ptr::null_mut(),
                (slots + 1) * CAPACITY,
                MapFlags::empty(),
            )
        } {
            Ok(start) => break (start as usize, slots),
            Err(errno) if slots == 1 => return Err(errno),
            Err(_) => slots /= 2,
        }
    };
    START.store(start.next_multiple_of(CAPACITY), Ordering::Relaxed);
    // Release: whoever sees the length sees the start.
    LENGTH.store(slots * CAPACITY, Ordering::Release);
    Ok(())
}

/// Maps inaccessible memory that costs the host nothing.
///
/// # Safety
///
/// With `FIXED`, nothing refers to the `length` bytes from `address`.
unsafe fn map(
    address: *mut c_void,
    length: usize,
    flags: MapFlags,
) -> Result<*mut c_void, rustix::io::Errno> {
    let flags = flags | MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: the caller's.
    unsafe { mmap_anonymous(address, length, ProtFlags::empty(), flags) }
}
