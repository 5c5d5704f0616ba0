//! Lines on standard error.
//!
//! They are written by one system call from a separate buffer: a program's standard error may be
//! locked, and this may run in a thread whose standard library is not in order.

use std::fmt::{self, Write};

/// A line that is cut where it is full.
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

/// One line, after the name of this library.
pub(crate) fn line(text: fmt::Arguments<'_>) {
    let mut line = Line {
        bytes: [0; 512],
        used: 0,
    };
    // Writing into the buffer does not fail.
    let _ = writeln!(line, "manycore-openmp: {text}");
    raw(&line.bytes[..line.used]);
}

/// Bytes as they are.
pub(crate) fn raw(bytes: &[u8]) {
    // SAFETY: the bytes live. If the write fails, the message is lost.
    unsafe { libc::write(2, bytes.as_ptr().cast(), bytes.len()) };
}

/// A line, and the end of the program: a wrong result would be worse.
#[cold]
pub(crate) fn fatal(text: fmt::Arguments<'_>) -> ! {
    line(text);
    std::process::abort()
}
