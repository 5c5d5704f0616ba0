//! The program's global allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::{self, NonNull};

use super::classes::Class;
use super::header::{Block, Header};
use super::{CONTEXT, range};

#[cfg(feature = "allocator")]
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// A global allocator that gives simulated code the same addresses in every run, and all other code
/// those of [`System`].
///
/// The crate installs it under its feature `allocator`, which is on by default. A program that
/// needs its own allocator turns the feature off. Memory is then numbered by cache line in the
/// order of first use by simulated code, and the host's allocator decides the places within a line.
///
/// To a thread that runs no simulation, it costs a look at a thread-local word
/// for each allocation and a comparison of the address for each release.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocator;

/// The arena of the simulated code that this thread runs, if it does.
#[inline]
fn current() -> Option<NonNull<Header>> {
    NonNull::new(CONTEXT.with(|context| context.current.get()).cast_mut())
}

/// The arena that holds `start`, a live block, if one does.
#[inline]
fn holder(start: *mut u8) -> Option<NonNull<Header>> {
    NonNull::new(range::slot_of(start as usize)? as *mut Header)
}

/// A block in the arena of the simulated code that runs.
fn simulated(arena: NonNull<Header>, layout: Layout) -> Option<Block> {
    // SAFETY: what a context points to is open, thus mapped; the reference ends
    // with this function, and nothing in it allocates.
    unsafe { Header::local(arena) }?.allocate(layout)
}

// SAFETY: a block is from `System`, which has this contract, or from an arena. An arena's block is
// writable, and as large and aligned as its size class, which suits the layout. It is given out
// once until it is freed, and its memory stays mapped until then. The block's address decides where
// it is from: the host gives no address away twice, and `slot_of` knows the addresses of arenas.
// Nothing here unwinds.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match current() {
            // SAFETY: the caller's.
            None => unsafe { System.alloc(layout) },
            Some(arena) => simulated(arena, layout).map_or(ptr::null_mut(), |block| block.start),
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(arena) = current() else {
            // SAFETY: the caller's.
            return unsafe { System.alloc_zeroed(layout) };
        };
        let Some(block) = simulated(arena, layout) else {
            return ptr::null_mut();
        };
        // Fresh memory is the host's, zeroed, and better left untouched.
        if !block.fresh {
            // SAFETY: the block has at least this size.
            unsafe { block.start.write_bytes(0, layout.size()) };
        }
        block.start
    }

    #[inline]
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        match holder(start) {
            // SAFETY: the caller's.
            None => unsafe { System.dealloc(start, layout) },
            // SAFETY: by the caller's promise a live block. By its address it is this arena's. It
            // was handed out for this layout or, after a reallocation in place, for a layout of the
            // same class.
            Some(arena) => unsafe { Header::free(arena, start, layout) },
        }
    }

    #[inline]
    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let held = holder(start).is_some();
        if !held && current().is_none() {
            // SAFETY: the caller's.
            return unsafe { System.realloc(start, layout, size) };
        }
        // SAFETY: the caller says that the size, rounded up to the alignment,
        // is at most `isize::MAX`.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if held && Class::of(layout) == Class::of(new) {
            return start;
        }
        // SAFETY: the caller may allocate this layout. A new block is not `start`, and both have
        // the copied bytes. `start` is then freed as the caller allows.
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
