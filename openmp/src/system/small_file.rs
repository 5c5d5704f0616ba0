//! Reads files of `/proc` without allocating memory.

use crate::system::next;
use std::ffi::CStr;

/// Reads the beginning of a file into `text`. The result is empty if the file cannot be read. Allocates no memory and
/// does not change `errno`.
pub(crate) fn read<'a>(path: &CStr, text: &'a mut [u8]) -> &'a [u8] {
    // SAFETY: the name ends with a zero, and the kernel writes at most `size` bytes at `at`.
    let read = unsafe {
        let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
        let directory = libc::AT_FDCWD as usize;
        let arguments = [directory, path.as_ptr() as usize, flags, 0, 0, 0];
        let file = next::syscall(libc::SYS_openat, arguments);
        if file < 0 {
            return &[];
        }
        let (at, size) = (text.as_mut_ptr() as usize, text.len());
        let read = next::syscall(libc::SYS_read, [file as usize, at, size, 0, 0, 0]);
        next::syscall(libc::SYS_close, [file as usize, 0, 0, 0, 0, 0]);
        read
    };
    &text[..usize::try_from(read).unwrap_or(0)]
}
