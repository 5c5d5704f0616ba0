//! The program's global allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::{self, NonNull};

use super::classes::Class;
use super::header::{Block, Header};
use super::{CONTEXT, range};

#[cfg(feature = "allocator")]
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// A global allocator. It gives simulated code the same addresses in every run. All other code gets memory of
/// [`System`].
///
/// The crate installs it under its feature `allocator`, which is on by default. A program that
/// needs its own allocator turns the feature off. Then simulated code numbers cache lines in the
/// order of their first use, and the host's allocator decides which objects share a line.
///
/// In a thread that runs no simulation, each allocation also reads a thread-local word, and each release also compares
/// the address.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocator;

/// The arena (memory of the simulated machine) of this thread's simulation, if the thread runs simulated code.
#[inline]
fn current() -> Option<NonNull<Header>> {
    NonNull::new(CONTEXT.with(|context| context.current.get()).cast_mut())
}

/// The arena that holds the live block at `start`. `None` if the block is from [`System`].
#[inline]
fn holder(start: *mut u8) -> Option<NonNull<Header>> {
    NonNull::new(range::slot_of(start as usize)? as *mut Header)
}

fn simulated(arena: NonNull<Header>, layout: Layout) -> Option<Block> {
    // SAFETY: the context points to an open arena, which is mapped. The reference ends with this
    // function, which makes no other allocation.
    unsafe { Header::local(arena) }?.allocate(layout)
}

// SAFETY: a block is from `System`, which has this contract, or from an arena. An arena's block is writable and has the
// size and the alignment of its class, which suit the layout. The block has no second owner before it is freed, and
// stays mapped until then. The block's address says where it is from: the host hands out no address twice, and
// `slot_of` knows the addresses of arenas. Nothing here unwinds.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match current() {
            // SAFETY: the caller promises the same.
            None => unsafe { System.alloc(layout) },
            Some(arena) => simulated(arena, layout).map_or(ptr::null_mut(), |block| block.start),
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(arena) = current() else {
            // SAFETY: the caller promises the same.
            return unsafe { System.alloc_zeroed(layout) };
        };
        let Some(block) = simulated(arena, layout) else {
            return ptr::null_mut();
        };
        // The host has zeroed fresh memory. A write would make the memory resident.
        if !block.fresh {
            // SAFETY: the block has at least this size.
            unsafe { block.start.write_bytes(0, layout.size()) };
        }
        block.start
    }

    #[inline]
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        match holder(start) {
            // SAFETY: the caller promises the same.
            None => unsafe { System.dealloc(start, layout) },
            // SAFETY: the caller promises a live block, and its address says that it is from this arena. The block was
            // handed out for this layout or, after a reallocation in place, for a layout of the same class.
            Some(arena) => unsafe { Header::free(arena, start, layout) },
        }
    }

    #[inline]
    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let held = holder(start).is_some();
        if !held && current().is_none() {
            // SAFETY: the caller promises the same.
            return unsafe { System.realloc(start, layout, size) };
        }
        // SAFETY: the caller says that the size, rounded up to the alignment,
        // is at most `isize::MAX`.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if held && Class::of(layout) == Class::of(new) {
            return start;
        }
        // SAFETY: the caller may allocate this layout. The new block does not overlap `start`, and
        // both blocks have at least the copied bytes. The caller lets this function free `start`.
        unsafe {
            let moved = self.alloc(new);
            if !moved.is_null() {
                ptr::copy_nonoverlapping(start, moved, layout.size().min(size));
                self.dealloc(start, layout);
            }
            moved
        }
    }
}
