//! Memory that iterations read and write. Its placement keeps addresses from influencing the timing.

use std::cell::RefCell;

/// The size of a page of virtual memory. It is also the distance at which x86 processors mistake a
/// load for an earlier store, since they compare only the low 12 bits of addresses ("4K aliasing").
const PAGE: usize = 4096;

/// Two cache lines, because some processors fetch lines in pairs.
const LINE_PAIR: usize = 128;

/// Bytes at a chosen distance from the start of a page. No other data are on their cache lines.
#[derive(Debug)]
pub(crate) struct Buffer {
    storage: Vec<u8>,
    start: usize,
    len: usize,
}

impl Buffer {
    /// Makes `len` bytes to read, from the start of a page.
    pub(crate) fn for_reading(len: usize, byte: impl FnMut() -> u8) -> Self {
        let mut buffer = Self::at(0, len);
        buffer.bytes_mut().fill_with(byte);
        buffer
    }

    /// Makes `len` bytes to write, from the middle of a page. Byte `i` to write and byte `i` to read are half a page
    /// apart, modulo a page.
    fn for_writing(len: usize) -> Self {
        Self::at(PAGE / 2, len)
    }

    fn at(offset: usize, len: usize) -> Self {
        let storage = vec![0; PAGE + offset + len + LINE_PAIR];
        let start = storage.as_ptr().align_offset(PAGE) + offset;
        Self {
            storage,
            start,
            len,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.storage[self.start..self.start + self.len]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..self.start + self.len]
    }
}

std::thread_local! {
    /// The write buffers of this thread that no iteration uses now.
    static FREE: RefCell<Vec<Buffer>> = const { RefCell::new(Vec::new()) };
}

/// Calls `body` with `len` bytes that no other thread writes.
///
/// An iteration takes a buffer out of its thread's list and puts it back. So the list is not borrowed while
/// the iteration runs: during an iteration, a simulator may switch to another simulated thread on the same
/// host thread.
pub(crate) fn with_write_buffer<R>(len: usize, body: impl FnOnce(&mut [u8]) -> R) -> R {
    let mut buffer = match FREE.with_borrow_mut(Vec::pop) {
        Some(buffer) if buffer.len >= len => buffer,
        _ => Buffer::for_writing(len),
    };
    let result = body(&mut buffer.bytes_mut()[..len]);
    FREE.with_borrow_mut(|free| free.push(buffer));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_start_where_they_should() {
        for len in [1, 64, 5000] {
            let read = Buffer::for_reading(len, || 1);
            assert_eq!(read.bytes().as_ptr().addr() % PAGE, 0);
            assert_eq!(read.bytes(), vec![1; len]);
            with_write_buffer(len, |bytes| {
                assert_eq!(bytes.as_ptr().addr() % PAGE, PAGE / 2);
                assert_eq!(bytes.len(), len);
            });
        }
    }

    #[test]
    fn a_thread_reuses_its_buffer_and_shares_it_with_no_other() {
        let address = || with_write_buffer(64, |bytes| bytes.as_ptr().addr());
        let here = address();
        assert_eq!(here, address());
        assert_ne!(here, std::thread::spawn(address).join().unwrap());
    }

    #[test]
    fn iterations_that_overlap_on_one_thread_get_two_buffers() {
        with_write_buffer(64, |outer| {
            with_write_buffer(64, |inner| assert_ne!(outer.as_ptr(), inner.as_ptr()));
        });
    }
}
