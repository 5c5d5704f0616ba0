//! Physical memory: frames, in chunks of host memory that never move and live as long as the machine.

use super::{PAGE, Place};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// The physical address of the first frame. On the chip, the addresses of simulated memory begin there.
const FIRST: u64 = 1 << 28;
/// The number of frames of a chunk.
const CHUNK: usize = 256;

const LAYOUT: Layout = match Layout::from_size_align(CHUNK * PAGE as usize, PAGE as usize) {
    Ok(layout) => layout,
    Err(_) => panic!("a chunk has a size"),
};

/// The frames of a machine. The frame that was given back last is taken first.
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

    /// Takes a frame of zeros. Returns `None` if no frame is left.
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

    /// The number of frames in use.
    pub(super) fn used(&self) -> u64 {
        u64::from(self.made) - self.free.len() as u64
    }

    /// The addresses of a frame.
    pub(super) fn place(&self, frame: u32) -> Place {
        let (chunk, at) = (frame as usize / CHUNK, frame as usize % CHUNK);
        // SAFETY: the frame is within its chunk, which has `CHUNK` frames.
        let host = unsafe { self.chunks[chunk].as_ptr().add(at * PAGE as usize) };
        Place {
            physical: FIRST + u64::from(frame) * PAGE,
            host,
        }
    }

    /// The bytes of a frame, for the simulated kernel.
    pub(super) fn bytes(&mut self, frame: u32) -> &mut [u8] {
        let place = self.place(frame);
        // SAFETY: the frame is initialised memory of this table, which is borrowed as long as the slice lives. Guest
        // code accesses the frame by a pointer, but does not run while the slice lives, since it needs the table.
        unsafe { std::slice::from_raw_parts_mut(place.host, PAGE as usize) }
    }

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
            // SAFETY: `alloc_zeroed` returned the chunk for this layout, and the chunk is freed once.
            unsafe { dealloc(chunk.as_ptr(), LAYOUT) };
        }
    }
}
