//! The places of arenas: a window of the host's address space, cut into slots of [`CAPACITY`]. One
//! comparison says whether an address may belong to an arena, a mask says to which, and a second
//! comparison confirms it.
//!
//! Nothing is reserved. An arena's memory is mapped from the start of its slot
//! on, as far as its program has needed it; so a limit on address space, as
//! batch queues set, is used up by what simulations use. The rest of a slot is
//! free, for the host too. Its own mappings go elsewhere (it is asked where,
//! and the window is a part of the address space that it comes to last), but
//! if one lies in the way an arena cannot grow, which is an error as any other
//! lack of memory is.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::ArenaError;
use crate::memory::CAPACITY;

/// Slots, if the host's address space has room for them.
const SLOTS: usize = 1024;

/// Taken for the host's choice where that leaves no room for a slot below.
const ABOVE: usize = 1 << 42;

/// The initial size of an arena, and its least growth: room for one thread.
const FIRST: usize = 1 << 20;
/// An arena doubles until it grows by this much at a time.
const LARGEST_STEP: usize = 64 << 20;
/// Left to the host when an arena grows: so the arena, which can say so, is the
/// first to be refused memory, and not the simulator's next small allocation.
const SPARE: usize = 1 << 20;
/// A multiple of any host's pages.
const GRAIN: usize = 64 << 10;

static START: AtomicUsize = AtomicUsize::new(0);
/// Bytes from `START`; zero until the window is chosen.
static LENGTH: AtomicUsize = AtomicUsize::new(0);
static TAKEN: [AtomicU64; SLOTS / 64] = [const { AtomicU64::new(0) }; SLOTS / 64];
/// The end of each slot's mapped memory, or zero.
static END: [AtomicUsize; SLOTS] = [const { AtomicUsize::new(0) }; SLOTS];

/// The start of the slot with the arena that holds `address`, which is in a live block, if an arena
/// holds it.
#[inline]
pub(super) fn slot_of(address: usize) -> Option<usize> {
    let length = LENGTH.load(Ordering::Acquire);
    let offset = address.wrapping_sub(START.load(Ordering::Relaxed));
    if offset >= length {
        return None;
    }
    // Relaxed. For a block of an arena: the end was raised before the block was handed out, on its
    // way to the caller, and falls only when no block lives. For a block of the host in the window:
    // its mapping is newer than the unmapping of any arena there, and the end fell before that; the
    // host does both under its lock on the address space.
    let end = END[offset / CAPACITY].load(Ordering::Relaxed);
    (address < end).then_some(address & !(CAPACITY - 1))
}

/// Takes a free slot: zeroed memory that may be read and written, from its start
/// to where it was made to [`reach`].
pub(super) fn take() -> Result<NonNull<c_void>, ArenaError> {
    static CHOSEN: OnceLock<Result<(), Errno>> = OnceLock::new();
    let chosen = CHOSEN.get_or_init(choose);
    chosen.map_err(|errno| refused(FIRST, errno))?;
    let slots = LENGTH.load(Ordering::Acquire) / CAPACITY;
    for slot in (0..slots).filter(|&slot| claim(slot)) {
        let start = START.load(Ordering::Relaxed) + slot * CAPACITY;
        match map(start, FIRST) {
            Ok(()) => {
                // Relaxed: `slot_of` says why.
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

/// Sees to it that the memory of a slot reaches to `end`, which is in the slot
/// or its end.
///
/// # Safety
///
/// The slot is taken, by the caller.
#[inline]
pub(super) unsafe fn reach(end: usize) -> Result<(), ArenaError> {
    let slot = (end - 1 - START.load(Ordering::Relaxed)) / CAPACITY;
    // Relaxed: only the taker of the slot changes it.
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
    // A host without so much memory may have enough.
    let size = match map(mapped, step) {
        Ok(()) => step,
        Err(_) if step > needed && map(mapped, needed).is_ok() => needed,
        Err(errno) => return Err(refused(needed, errno)),
    };
    // Relaxed: `slot_of` says why.
    END[slot].store(mapped + size, Ordering::Relaxed);
    Ok(())
}

/// Gives a slot back, and its memory to the host.
///
/// # Safety
///
/// `start` is from [`take`] and not given back since; nothing refers to the
/// slot's memory.
pub(super) unsafe fn give_back(start: NonNull<c_void>) {
    let slot = (start.as_ptr() as usize - START.load(Ordering::Relaxed)) / CAPACITY;
    // Before the unmapping: `slot_of` says why.
    let end = END[slot].swap(0, Ordering::Relaxed);
    // SAFETY: the slot's memory is ours, and the caller says that nothing
    // refers to it.
    let gone = unsafe { munmap(start.as_ptr(), end - start.as_ptr() as usize) };
    // Otherwise the slot must not pass for zeroed: it is lost.
    if gone.is_ok() {
        unclaim(slot);
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

/// Chooses the window: the second quarter of the addresses below where the host
/// puts a mapping if it may choose. It goes on from there downwards, or upwards
/// in its legacy layout; programs and their heaps are above or far below.
fn choose() -> Result<(), Errno> {
    // SAFETY: a new mapping at an address of the host's choice, unmapped at once.
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
    // A host that begins so far below, as valgrind's does, leaves what is above free.
    let chosen = if chosen < 4 * CAPACITY { ABOVE } else { chosen };
    let start = (chosen / 4).next_multiple_of(CAPACITY);
    let slots = ((chosen / 2).saturating_sub(start) / CAPACITY).min(SLOTS);
    START.store(start, Ordering::Relaxed);
    // Release: whoever sees the length sees the start.
    LENGTH.store(slots * CAPACITY, Ordering::Release);
    Ok(())
}

/// Maps zeroed memory exactly at `start`, where the caller's is to be; fails
/// with `EXIST` where anything is mapped.
fn map(start: usize, length: usize) -> Result<(), Errno> {
    #[cfg(target_os = "linux")]
    const HERE: MapFlags = MapFlags::FIXED_NOREPLACE;
    #[cfg(not(target_os = "linux"))]
    const HERE: MapFlags = MapFlags::empty();
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | HERE;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    let wanted = start as *mut c_void;
    // SAFETY: new mappings, which replace none. The spare mapping, and a mapping elsewhere on a
    // host that treats the address as a wish, are unmapped before any other code knows of them.
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
