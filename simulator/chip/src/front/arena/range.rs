//! The places of arenas (the memories of simulated machines): a window of the host's address space, divided into slots
//! of [`CAPACITY`] bytes. Finding the arena of an address takes a comparison with the window, a mask, and a comparison
//! with the end of the slot's memory.
//!
//! No address space is reserved. An arena maps the memory that its program has needed, from the start of its slot. So
//! only used memory counts against a limit on address space, such as the limit of a batch queue. The host may map
//! memory in the rest of a slot, but rarely does: the window is the part of the address space that the host uses last.
//! If such a mapping is in the way, the arena cannot grow. This is an error like any other lack of memory.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::ArenaError;
use crate::memory::CAPACITY;

/// The most slots of the window.
const SLOTS: usize = 1024;

/// Replaces the address that the host chose, if there is no room for a slot below that address.
const ABOVE: usize = 1 << 42;

/// The initial size of an arena, which has room for one thread.
const FIRST: usize = 1 << 20;
/// An arena doubles when it grows, but grows by at most this much at a time, unless more is needed.
const LARGEST_STEP: usize = 64 << 20;
/// Memory that an arena leaves to the host when it grows. So the host refuses memory first to an
/// arena, which reports the error, and not to a small allocation of the simulator.
const SPARE: usize = 1 << 20;
/// A multiple of the page size of any host.
const GRAIN: usize = 64 << 10;

static START: AtomicUsize = AtomicUsize::new(0);
/// The number of bytes of the window, which begins at `START`. Zero until the window is chosen.
static LENGTH: AtomicUsize = AtomicUsize::new(0);
static TAKEN: [AtomicU64; SLOTS / 64] = [const { AtomicU64::new(0) }; SLOTS / 64];
/// The end of each slot's mapped memory, or zero.
static END: [AtomicUsize; SLOTS] = [const { AtomicUsize::new(0) }; SLOTS];

/// The start of the slot that holds `address`, which is in a live block. `None` if no arena has the block.
#[inline]
pub(super) fn slot_of(address: usize) -> Option<usize> {
    let length = LENGTH.load(Ordering::Acquire);
    let offset = address.wrapping_sub(START.load(Ordering::Relaxed));
    if offset >= length {
        return None;
    }
    // Relaxed suffices. If the block is from an arena, the end was raised before the block was handed out and reached
    // this thread, and the end falls only when no block lives. If the block is from the host, its mapping is newer than
    // the unmapping of any arena at this address, and the end was set to zero before that unmapping. The host maps and
    // unmaps under one lock.
    let end = END[offset / CAPACITY].load(Ordering::Relaxed);
    (address < end).then_some(address & !(CAPACITY - 1))
}

/// Takes a free slot. From its start to its end (see [`reach`]), its memory is zeroed, readable and
/// writable.
pub(super) fn take() -> Result<NonNull<c_void>, ArenaError> {
    static CHOSEN: OnceLock<Result<(), Errno>> = OnceLock::new();
    let chosen = CHOSEN.get_or_init(choose);
    chosen.map_err(|errno| refused(FIRST, errno))?;
    let slots = LENGTH.load(Ordering::Acquire) / CAPACITY;
    for slot in (0..slots).filter(|&slot| claim(slot)) {
        let start = START.load(Ordering::Relaxed) + slot * CAPACITY;
        match map(start, FIRST) {
            Ok(()) => {
                // Relaxed: see `slot_of`.
                END[slot].store(start + FIRST, Ordering::Relaxed);
                let start = NonNull::new(start as *mut c_void);
                return Ok(start.expect("no mapping starts at address zero"));
            }
            Err(Errno::EXIST) => unclaim(slot),
            Err(errno) => {
                unclaim(slot);
                return Err(refused(FIRST, errno));
            }
        }
    }
    Err(ArenaError::TooMany(slots))
}

/// Maps the memory of a slot up to `end`, which is in the slot or at its end.
///
/// # Safety
///
/// The caller has taken the slot.
#[inline]
pub(super) unsafe fn reach(end: usize) -> Result<(), ArenaError> {
    let slot = (end - 1 - START.load(Ordering::Relaxed)) / CAPACITY;
    // Relaxed: only the owner of the slot, this caller, changes the end.
    let mapped = END[slot].load(Ordering::Relaxed);
    match end <= mapped {
        true => Ok(()),
        false => extend(slot, mapped, end),
    }
}

#[cold]
fn extend(slot: usize, mapped: usize, end: usize) -> Result<(), ArenaError> {
    let start = START.load(Ordering::Relaxed) + slot * CAPACITY;
    let needed = (end - mapped).next_multiple_of(GRAIN);
    let room = start + CAPACITY - mapped;
    let step = (mapped - start).min(LARGEST_STEP).max(needed).min(room);
    // If the host refuses the step, it may still have the needed memory.
    let size = match map(mapped, step) {
        Ok(()) => step,
        Err(_) if step > needed && map(mapped, needed).is_ok() => needed,
        Err(errno) => return Err(refused(needed, errno)),
    };
    // Relaxed: see `slot_of`.
    END[slot].store(mapped + size, Ordering::Relaxed);
    Ok(())
}

/// Unmaps a slot's memory and frees the slot.
///
/// # Safety
///
/// `start` is from [`take`] and has not been given back. Nothing refers to the slot's memory.
pub(super) unsafe fn give_back(start: NonNull<c_void>) {
    let slot = (start.as_ptr() as usize - START.load(Ordering::Relaxed)) / CAPACITY;
    // The end becomes zero before the unmapping: see `slot_of`.
    let end = END[slot].swap(0, Ordering::Relaxed);
    // SAFETY: the caller owns the slot and says that nothing refers to its memory.
    let gone = unsafe { munmap(start.as_ptr(), end - start.as_ptr() as usize) };
    // If the unmapping failed, the slot is not zeroed, so it stays taken for ever.
    if gone.is_ok() {
        unclaim(slot);
    }
}

fn claim(slot: usize) -> bool {
    let bit = 1 << (slot % 64);
    // Acquire: the previous owner's accesses to the slot happen before this claim.
    TAKEN[slot / 64].fetch_or(bit, Ordering::Acquire) & bit == 0
}

fn unclaim(slot: usize) {
    TAKEN[slot / 64].fetch_and(!(1 << (slot % 64)), Ordering::Release);
}

/// Chooses the window: the second quarter of the addresses below a mapping that the host places freely. The host places
/// later mappings below this mapping, or above it in its legacy layout. Programs and their heaps are above the window
/// or far below it.
fn choose() -> Result<(), Errno> {
    // SAFETY: the host chooses the address of the new mapping, which is unmapped at once.
    let chosen = unsafe {
        let page = mmap_anonymous(
            ptr::null_mut(),
            GRAIN,
            ProtFlags::empty(),
            MapFlags::PRIVATE,
        )?;
        munmap(page, GRAIN)?;
        page as usize
    };
    // If the host places mappings at such low addresses, as under valgrind, it leaves higher
    // addresses free.
    let chosen = if chosen < 4 * CAPACITY { ABOVE } else { chosen };
    let start = (chosen / 4).next_multiple_of(CAPACITY);
    let slots = ((chosen / 2).saturating_sub(start) / CAPACITY).min(SLOTS);
    START.store(start, Ordering::Relaxed);
    // Release: a thread that sees the length also sees the start.
    LENGTH.store(slots * CAPACITY, Ordering::Release);
    Ok(())
}

/// Maps zeroed memory exactly at `start`. Fails with `EXIST` if a mapping is in the way.
fn map(start: usize, length: usize) -> Result<(), Errno> {
    #[cfg(target_os = "linux")]
    const HERE: MapFlags = MapFlags::FIXED_NOREPLACE;
    #[cfg(not(target_os = "linux"))]
    const HERE: MapFlags = MapFlags::empty();
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | HERE;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    let wanted = start as *mut c_void;
    // SAFETY: the mappings are new and replace no other mapping. The spare mapping is unmapped
    // before any other code knows of it. If the host treats the address as a hint and maps
    // elsewhere, that mapping, too, is unmapped before any other code knows of it.
    unsafe {
        let spare = mmap_anonymous(ptr::null_mut(), SPARE, access, MapFlags::PRIVATE)?;
        let got = mmap_anonymous(wanted, length, access, flags);
        munmap(spare, SPARE)?;
        let got = got?;
        if got != wanted {
            munmap(got, length)?;
            return Err(Errno::EXIST);
        }
    }
    Ok(())
}

fn refused(bytes: usize, errno: Errno) -> ArenaError {
    ArenaError::Refused {
        bytes,
        reason: errno.into(),
    }
}
