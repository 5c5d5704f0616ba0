//! Lines on standard error.
//!
//! Each line is written by one system call from a buffer on the stack. `std::io::stderr` is not used: it may be locked,
//! and the state that Rust's standard library has for the calling thread may be unusable.

use std::fmt::{self, Write};

/// A buffer for a line. Text that does not fit is dropped.
struct Line {
    bytes: [u8; 512],
    used: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.used..];
        let part = &text.as_bytes()[..text.len().min(room.len())];
        room[..part.len()].copy_from_slice(part);
        self.used += part.len();
        Ok(())
    }
}

/// Writes one line, after the name of this library.
pub(crate) fn line(text: fmt::Arguments<'_>) {
    let mut line = Line {
        bytes: [0; 512],
        used: 0,
    };
    // Writing into the buffer does not fail.
    let _ = writeln!(line, "manycore-openmp: {text}");
    raw(&line.bytes[..line.used]);
}

/// Writes the bytes without any change.
pub(crate) fn raw(bytes: &[u8]) {
    // SAFETY: the kernel only reads `bytes`. If the write fails, the message is lost.
    unsafe { libc::write(2, bytes.as_ptr().cast(), bytes.len()) };
}

/// Writes a line and ends the program: a wrong result would be worse.
#[cold]
pub(crate) fn fatal(text: fmt::Arguments<'_>) -> ! {
    line(text);
    std::process::abort()
}
