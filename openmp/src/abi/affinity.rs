//! Functions that print which CPUs a thread may use.

use crate::region::affinity::{format, get, set, show};
use crate::system::export;
use std::ffi::{CStr, c_char, c_int};

/// Reads a Fortran string, without trailing blanks.
pub(super) fn padded(text: *const c_char, length: usize) -> String {
    // SAFETY: the program passes the string.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).trim_end_matches(' ').into()
}

/// Writes a Fortran string. Returns the length of the text, which may be larger than the buffer.
pub(super) fn put_padded(text: &str, buffer: *mut c_char, length: usize) -> c_int {
    for at in 0..length {
        let byte = text.as_bytes().get(at).copied().unwrap_or(b' ');
        // SAFETY: the program passes the string.
        unsafe { buffer.add(at).write(byte as c_char) };
    }
    text.len() as c_int
}

/// Writes a C string with its final zero. Returns the length of the text, which may be larger than the buffer.
fn put(text: &str, buffer: *mut c_char, size: usize) -> usize {
    let room = size.saturating_sub(1).min(text.len());
    if size > 0 && !buffer.is_null() {
        // SAFETY: the program passes the buffer.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, room);
            buffer.add(room).write(0);
        }
    }
    text.len()
}

/// Reads a C string. If the string is null or empty, returns the current setting.
fn text(text: *const c_char) -> String {
    if text.is_null() {
        return get();
    }
    // SAFETY: the program passes the string.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    if text.is_empty() { get() } else { text.into() }
}

export! {
    pub(super) fn omp_set_affinity_format(format: *const c_char) {
        // SAFETY: the program passes the string.
        set(unsafe { CStr::from_ptr(format) }.to_string_lossy().into());
    }

    pub(super) fn omp_get_affinity_format(buffer: *mut c_char, size: usize) -> usize {
        put(&get(), buffer, size)
    }

    pub(super) fn omp_display_affinity(format: *const c_char) {
        show(&text(format));
    }

    pub(super) fn omp_capture_affinity(buffer: *mut c_char, size: usize, wanted: *const c_char) -> usize {
        put(&format(&text(wanted)), buffer, size)
    }
}
