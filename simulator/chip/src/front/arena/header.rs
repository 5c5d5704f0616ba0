//! The header of an arena (the memory of a simulated machine), and the allocator of the memory behind the header.

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::classes::{CLASSES, Class};
use super::{ArenaError, range, stack};
use crate::memory::CAPACITY;

/// The part of `Header::live` that an open arena itself holds. An arena has fewer blocks than this.
const OPEN: u64 = 1 << 62;

/// The header lies at offset 0 of an arena. Simulated addresses begin after the header. So its size decides which
/// objects share a cache line, and with that all results.
pub(super) struct Header {
    /// The number of the thread that may use `local`, or 0 once the arena is closed. Only that
    /// thread changes the field, so a thread that reads its own number here owns the arena.
    owner: AtomicUsize,
    /// In an open arena, `OPEN` minus the number of blocks that other threads have freed. In a
    /// closed arena, the number of live blocks. At zero, the memory goes back to the host.
    live: AtomicU64,
    local: UnsafeCell<Local>,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Header>() == 1328);

/// Data of an open arena that only its owning thread uses.
pub(super) struct Local {
    top: usize,
    /// The number of blocks handed out minus the number that this thread has freed.
    live: u64,
    /// The most recently freed block of each class. A free block starts with the address of the
    /// block freed before it, or null.
    free: [*mut u8; CLASSES],
    pub(super) stacks: stack::Pool,
}

/// A block. It is fresh if its memory was never used.
pub(super) struct Block {
    pub(super) start: *mut u8,
    pub(super) fresh: bool,
}

impl Header {
    /// A new arena of the calling thread, which has the number `owner`.
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
        // SAFETY: the slot was just taken, so it is writable, larger than a header, aligned to its
        // capacity, and has no other user.
        unsafe { header.write(contents) };
        Ok(header)
    }

    /// Closes the arena. Its memory stays mapped while a block in it lives.
    ///
    /// # Safety
    ///
    /// The calling thread owns the open arena. Afterwards, it uses the header only for live blocks.
    pub(super) unsafe fn close(this: NonNull<Self>) {
        // SAFETY: the header is mapped while its arena is open.
        let header = unsafe { this.as_ref() };
        // SAFETY: this thread is the owner, the arena is open, and no other reference to `local` is alive, because each
        // such reference lasts only for one call of this module.
        let live = unsafe { (*header.local.get()).live };
        // From here on, the owner frees blocks as other threads do.
        header.owner.store(0, Ordering::Relaxed);
        // SAFETY: the arena's hold of `OPEN` is given up only here. `OPEN - live` of it are
        // released, and the live blocks hold the rest.
        unsafe { Self::release(this, OPEN - live) };
    }

    /// Subtracts `count` from `live`, and gives the slot back at zero.
    ///
    /// # Safety
    ///
    /// The caller holds `count` of `live`, and does not use the header again unless the caller holds more of `live`.
    unsafe fn release(this: NonNull<Self>, count: u64) {
        // SAFETY: the header is mapped while the count is not zero, and the caller holds a part of
        // the count.
        let live = unsafe { &(*this.as_ptr()).live };
        // AcqRel: all other releases happen before the release that reaches zero.
        if live.fetch_sub(count, Ordering::AcqRel) == count {
            // SAFETY: the arena is closed and all its blocks are freed, so nothing in the slot
            // lives. Only one caller reaches zero.
            unsafe { range::give_back(this.cast()) };
        }
    }

    /// The owning thread's data, if the calling thread is the owner.
    ///
    /// # Safety
    ///
    /// The header is mapped. The reference ends before the next call on the same thread.
    pub(super) unsafe fn local<'a>(this: NonNull<Self>) -> Option<&'a mut Local> {
        // SAFETY: the caller says that the header is mapped.
        let header = unsafe { this.as_ref() };
        let owned = header.owner.load(Ordering::Relaxed) == super::thread();
        // SAFETY: `owner` is this thread's number, so the arena is open and this thread is its
        // owner. The number is the address of a thread-local variable, so a later thread can have
        // the same number only after this thread has ended. The caller says that no other reference
        // is alive on this thread.
        owned.then(|| unsafe { &mut *header.local.get() })
    }

    /// Frees a block from any thread. If a thread other than the owner frees it, the block is not
    /// reused, since the time of that call depends on the host.
    ///
    /// # Safety
    ///
    /// `start` is a live block of this arena, handed out for `layout`.
    pub(super) unsafe fn free(this: NonNull<Self>, start: *mut u8, layout: Layout) {
        // SAFETY: this block lives, so the header is mapped. The reference ends with the match.
        match unsafe { Self::local(this) } {
            Some(local) => {
                // SAFETY: the block was handed out for this layout, so the layout has a class. The
                // caller gives up the block, which has at least 16 bytes and is aligned to 16.
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

    /// Frees a stack, which is the block of `length` bytes that ends at `base`, from any thread. If a thread other than
    /// the owner frees the stack, the stack is not reused.
    ///
    /// # Safety
    ///
    /// The stack is a live stack of this arena, and nothing refers to its memory.
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
    /// Allocates a block for `layout`. Returns `None` if neither the arena nor the host has room.
    #[inline]
    pub(super) fn allocate(&mut self, layout: Layout) -> Option<Block> {
        let class = Class::of(layout)?;
        // SAFETY: the list holds only free blocks of this arena.
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

    /// Takes memory that was never handed out.
    pub(super) fn carve(&mut self, bytes: usize, align: usize) -> Result<*mut u8, ArenaError> {
        // The arena lies at a multiple of its capacity, so offsets are aligned as addresses are.
        // Since `top` is above the header, the next multiple of the capacity is the end of the
        // slot.
        let last = self.top.next_multiple_of(CAPACITY);
        let start = self.top.next_multiple_of(align);
        if start > last || bytes > last - start {
            return Err(ArenaError::Full);
        }
        // SAFETY: the arena is open, so it owns its slot. `last` is the slot's end.
        unsafe { range::reach(start + bytes)? };
        self.top = start + bytes;
        Ok(start as *mut u8)
    }

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
    // SAFETY: the caller promises the same.
    unsafe { block.cast::<*mut u8>().write(*list) };
    *list = block;
}

/// Takes the block that was last put on the list.
///
/// # Safety
///
/// [`push`] put all blocks on the list, and the blocks have not been touched since.
unsafe fn pop(list: &mut *mut u8) -> Option<*mut u8> {
    let block = NonNull::new(*list)?.as_ptr();
    // SAFETY: `push` wrote the address of the next block there.
    *list = unsafe { block.cast::<*mut u8>().read() };
    Some(block)
}
