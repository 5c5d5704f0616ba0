//! Physical memory: frames in chunks that never move and live as long as the machine.

use super::{PAGE, Place};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// The physical address of the first frame: where the chip's own addresses of simulated memory
/// begin.
const FIRST: u64 = 1 << 28;
/// Frames of a chunk.
const CHUNK: usize = 256;

const LAYOUT: Layout = match Layout::from_size_align(CHUNK * PAGE as usize, PAGE as usize) {
    Ok(layout) => layout,
    Err(_) => panic!("a chunk has a size"),
};

/// The frames of a machine. A frame that was given back is the next to be handed out.
pub(super) struct Frames {
    chunks: Vec<NonNull<u8>>,
    made: u32,
    limit: u64,
    free: Vec<u32>,
}

impl Frames {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            chunks: Vec::new(),
            made: 0,
            limit: limit.min(u64::from(u32::MAX)),
            free: Vec::new(),
        }
    }

    /// A frame of zeros, if there is one left.
    pub(super) fn take(&mut self) -> Option<u32> {
        if let Some(frame) = self.free.pop() {
            self.bytes(frame).fill(0);
            return Some(frame);
        }
        if u64::from(self.made) >= self.limit {
            return None;
        }
        if self.made as usize == self.chunks.len() * CHUNK {
            // SAFETY: the layout's size is not zero.
            self.chunks
                .push(NonNull::new(unsafe { alloc_zeroed(LAYOUT) })?);
        }
        self.made += 1;
        Some(self.made - 1)
    }

    pub(super) fn give_back(&mut self, frame: u32) {
        self.free.push(frame);
    }

    /// Frames in use.
    pub(super) fn used(&self) -> u64 {
        u64::from(self.made) - self.free.len() as u64
    }

    /// The place of a frame.
    pub(super) fn place(&self, frame: u32) -> Place {
        let (chunk, at) = (frame as usize / CHUNK, frame as usize % CHUNK);
        // SAFETY: within the chunk, which is CHUNK frames long.
        let host = unsafe { self.chunks[chunk].as_ptr().add(at * PAGE as usize) };
        Place {
            physical: FIRST + u64::from(frame) * PAGE,
            host,
        }
    }

    /// A frame's bytes, for the kernel.
    pub(super) fn bytes(&mut self, frame: u32) -> &mut [u8] {
        let place = self.place(frame);
        // SAFETY: the frame is initialised memory of this table, borrowed as long as the slice.
        // Guest code, which uses it by pointer, does not run meanwhile: it needs the table.
        unsafe { std::slice::from_raw_parts_mut(place.host, PAGE as usize) }
    }

    /// Copies a frame's bytes to another frame.
    pub(super) fn copy(&mut self, from: u32, to: u32) {
        let bytes = self.bytes(from).to_vec();
        self.bytes(to).copy_from_slice(&bytes);
    }

    /// The frame at a physical address.
    pub(super) fn frame_of(physical: u64) -> Option<u32> {
        u32::try_from(physical.checked_sub(FIRST)? / PAGE).ok()
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        for chunk in &self.chunks {
            // SAFETY: from `alloc_zeroed` with this layout, and freed once.
            unsafe { dealloc(chunk.as_ptr(), LAYOUT) };
        }
    }
}
