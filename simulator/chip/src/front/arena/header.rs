//! An arena's own data, at the start of its memory, and the allocator over the
//! rest of it.

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::classes::{CLASSES, Class};
use super::{ArenaError, range, stack};
use crate::memory::CAPACITY;

/// The count of `Header::live` that an open arena holds: more than it can have
/// blocks.
const OPEN: u64 = 1 << 62;

/// Lies at offset 0 of an arena. Its size is where simulated addresses begin: were
/// it another, what shares a line with what would be too, and all results.
pub(super) struct Header {
    /// The thread that may use `local`; 0 once the arena is closed. No thread's
    /// number changes while it lives, so a thread that reads its own number
    /// here reads the truth.
    owner: AtomicUsize,
    /// While open: `OPEN` less the blocks freed by other threads. When closed:
    /// the blocks that still live. At zero the memory goes back to the host.
    live: AtomicU64,
    local: UnsafeCell<Local>,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Header>() == 1328);

/// Data for the owning thread alone, while the arena is open.
pub(super) struct Local {
    /// The first byte never handed out.
    top: usize,
    /// Blocks handed out, less those freed by this thread.
    live: u64,
    /// The block of each class that was freed last. A free block starts with
    /// the address of the one freed before it, or null.
    free: [*mut u8; CLASSES],
    pub(super) stacks: stack::Pool,
}

/// A block, and whether its memory was never used.
pub(super) struct Block {
    pub(super) start: *mut u8,
    pub(super) fresh: bool,
}

impl Header {
    /// A new arena that belongs to the thread `owner`, which is the caller.
    pub(super) fn open(owner: usize, stack: usize) -> Result<NonNull<Self>, ArenaError> {
        let slot = range::take()?;
        let start = slot.as_ptr() as usize;
        let local = Local {
            top: start + size_of::<Self>(),
            live: 0,
            free: [ptr::null_mut(); CLASSES],
            stacks: stack::Pool::new(stack),
        };
        let header = slot.cast();
        let contents = Self {
            owner: AtomicUsize::new(owner),
            live: AtomicU64::new(OPEN),
            local: UnsafeCell::new(local),
        };
        // SAFETY: a slot just taken is writable, larger than a header, aligned to its capacity, and
        // has no other user.
        unsafe { header.write(contents) };
        Ok(header)
    }

    /// Ends the thread's use of the arena. Its memory stays for as long as a
    /// block in it lives.
    ///
    /// # Safety
    ///
    /// The calling thread owns the arena, which is open. It uses the header afterwards only for
    /// blocks that still live.
    pub(super) unsafe fn close(this: NonNull<Self>) {
        // SAFETY: the header is mapped while its arena is open.
        let header = unsafe { this.as_ref() };
        // SAFETY: this is the owner, the arena is open, and no other reference
        // to `local` is alive: each lasts for one call of this module only.
        let live = unsafe { (*header.local.get()).live };
        // From here the owner frees like anyone else.
        header.owner.store(0, Ordering::Relaxed);
        // SAFETY: the owner's hold is given up once, here; `OPEN - live` of it
        // go, and `live` stay for the blocks.
        unsafe { Self::release(this, OPEN - live) };
    }

    /// Takes `count` from the count of what lives.
    ///
    /// # Safety
    ///
    /// The caller holds `count` of it, and does not use the header again
    /// unless it holds more.
    unsafe fn release(this: NonNull<Self>, count: u64) {
        // SAFETY: mapped while the count is not zero, and the caller holds some.
        let live = unsafe { &(*this.as_ptr()).live };
        // AcqRel: the last to leave sees that all others have.
        if live.fetch_sub(count, Ordering::AcqRel) == count {
            // SAFETY: nothing lives in the slot: the arena is closed and all
            // its blocks are freed. Only one caller reaches zero.
            unsafe { range::give_back(this.cast()) };
        }
    }

    /// The state of the arena's one thread, if this is the one.
    ///
    /// # Safety
    ///
    /// The header is mapped. The reference is gone before the next call on the
    /// same thread.
    pub(super) unsafe fn local<'a>(this: NonNull<Self>) -> Option<&'a mut Local> {
        // SAFETY: mapped, says the caller.
        let header = unsafe { this.as_ref() };
        let owned = header.owner.load(Ordering::Relaxed) == super::thread();
        // SAFETY: `owner` is this thread's number, so the arena is open and this
        // is its thread: the number is the address of a thread-local variable,
        // which a later thread can inherit only after this one is dead. No other
        // reference is alive on this thread, says the caller.
        owned.then(|| unsafe { &mut *header.local.get() })
    }

    /// Frees a block from any thread. By another than the arena's own, the
    /// block is not used again: when that happens is the host's accident.
    ///
    /// # Safety
    ///
    /// `start` is a live block of this arena, handed out for `layout`.
    pub(super) unsafe fn free(this: NonNull<Self>, start: *mut u8, layout: Layout) {
        // SAFETY: the header is mapped while a block lives, and this one does.
        // The reference ends with the match.
        match unsafe { Self::local(this) } {
            Some(local) => {
                // SAFETY: a block was handed out for this layout, so it has a
                // class. The caller gives up the block, of at least 16 bytes
                // aligned to 16.
                unsafe {
                    let class = Class::of(layout).unwrap_unchecked();
                    push(&mut local.free[class.index], start);
                }
                local.live -= 1;
            }
            // SAFETY: the block, which the caller gives up, holds a count of one.
            None => unsafe { Self::release(this, 1) },
        }
    }

    /// Frees a stack, the block of `length` that ends at `base`, from any thread. By
    /// another than the arena's own, it is not used again.
    ///
    /// # Safety
    ///
    /// The stack is live and of this arena, and nothing refers to its memory.
    pub(super) unsafe fn free_stack(this: NonNull<Self>, base: NonNull<u8>, length: usize) {
        // SAFETY: as in `free`.
        match unsafe { Self::local(this) } {
            Some(local) => {
                // SAFETY: the caller gives up the stack.
                unsafe { local.stacks.put(base, length) };
                local.live -= 1;
            }
            // SAFETY: the stack, which the caller gives up, holds a count of one.
            None => unsafe { Self::release(this, 1) },
        }
    }
}

impl Local {
    /// A block for `layout`; none if neither the arena nor the host has room.
    #[inline]
    pub(super) fn allocate(&mut self, layout: Layout) -> Option<Block> {
        let class = Class::of(layout)?;
        // SAFETY: the list holds free blocks, which are ours.
        let block = match unsafe { pop(&mut self.free[class.index]) } {
            Some(start) => Block {
                start,
                fresh: false,
            },
            None => Block {
                start: self.carve(class.bytes, class.align()).ok()?,
                fresh: true,
            },
        };
        self.live += 1;
        Some(block)
    }

    /// Memory never handed out before.
    pub(super) fn carve(&mut self, bytes: usize, align: usize) -> Result<*mut u8, ArenaError> {
        // The arena lies at a multiple of its capacity, so the offset is aligned
        // as the address is. The header keeps `top` above a multiple of it.
        let last = self.top.next_multiple_of(CAPACITY);
        let start = self.top.next_multiple_of(align);
        if start > last || bytes > last - start {
            return Err(ArenaError::Full);
        }
        // SAFETY: the arena is open, so its slot is taken, and by it; `last` is
        // the slot's end.
        unsafe { range::reach(start + bytes)? };
        self.top = start + bytes;
        Ok(start as *mut u8)
    }

    /// A stack was handed out.
    pub(super) fn count_stack(&mut self) {
        self.live += 1;
    }
}

/// Puts a block on a list of free blocks.
///
/// # Safety
///
/// `block` is writable, aligned to and as large as a pointer, and has no other user.
pub(super) unsafe fn push(list: &mut *mut u8, block: *mut u8) {
    // SAFETY: the caller's.
    unsafe { block.cast::<*mut u8>().write(*list) };
    *list = block;
}

/// Takes the block put last.
///
/// # Safety
///
/// All on the list were put there by [`push`] and not touched since.
unsafe fn pop(list: &mut *mut u8) -> Option<*mut u8> {
    let block = NonNull::new(*list)?.as_ptr();
    // SAFETY: `push` left the address of the next there.
    *list = unsafe { block.cast::<*mut u8>().read() };
    Some(block)
}
