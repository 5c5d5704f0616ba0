//! Where threads are, in words.

use crate::context::{Context, context};
use crate::environment::settings;
use std::ffi::{CStr, c_char, c_int};
use std::sync::{Mutex, PoisonError};

static FORMAT: Mutex<Option<String>> = Mutex::new(None);

pub(super) fn get() -> String {
    let format = FORMAT.lock().unwrap_or_else(PoisonError::into_inner);
    format
        .clone()
        .unwrap_or_else(|| settings().affinity_format.clone())
}

pub(super) fn set(text: String) {
    *FORMAT.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
}

/// A string of Fortran's, without the blanks behind it.
pub(super) fn padded(text: *const c_char, length: usize) -> String {
    // SAFETY: the program's string.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).trim_end_matches(' ').into()
}

/// Into a string of Fortran's. Returns how long the text is.
pub(super) fn put_padded(text: &str, buffer: *mut c_char, length: usize) -> c_int {
    for at in 0..length {
        let byte = text.as_bytes().get(at).copied().unwrap_or(b' ');
        // SAFETY: the program's string.
        unsafe { buffer.add(at).write(byte as c_char) };
    }
    text.len() as c_int
}

/// Into a string of C's, with an end. Returns how long the text is.
fn put(text: &str, buffer: *mut c_char, size: usize) -> usize {
    let room = size.saturating_sub(1).min(text.len());
    if size > 0 && !buffer.is_null() {
        // SAFETY: the program's buffer.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, room);
            buffer.add(room).write(0);
        }
    }
    text.len()
}

/// A string of C's; null or empty: the one that is set.
fn text(text: *const c_char) -> String {
    if text.is_null() {
        return get();
    }
    // SAFETY: the program's string.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    if text.is_empty() { get() } else { text.into() }
}

/// One field's value.
fn field(context: &Context, name: &str) -> Option<String> {
    let team = context.team();
    let region = team.region();
    Some(match name {
        "t" | "team_num" => context.league.get().0.to_string(),
        "T" | "num_teams" => context.league.get().1.to_string(),
        "L" | "nesting_level" => region.level.to_string(),
        "n" | "thread_num" => context.id().to_string(),
        "N" | "num_threads" => team.size.to_string(),
        "a" | "ancestor_tnum" if region.level == 0 => "-1".into(),
        "a" | "ancestor_tnum" => region.parent_id.to_string(),
        "H" | "host" => host(),
        "P" | "process_id" => std::process::id().to_string(),
        // SAFETY: always succeeds.
        "i" | "native_thread_id" => unsafe { libc::gettid() }.to_string(),
        "A" | "thread_affinity" => ranges(&crate::places::mask()),
        _ => return None,
    })
}

fn host() -> String {
    let mut name = [0 as c_char; 256];
    // SAFETY: writes within its size, and the last byte stays 0.
    unsafe {
        libc::gethostname(name.as_mut_ptr(), name.len() - 1);
        CStr::from_ptr(name.as_ptr()).to_string_lossy().into()
    }
}

/// `0-3,5`.
fn ranges(cpus: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = vec![];
    for &cpu in cpus {
        match parts.last_mut() {
            Some(last) if last.1 + 1 == cpu => last.1 = cpu,
            _ => parts.push((cpu, cpu)),
        }
    }
    let part = |&(first, last): &(usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(",")
}

/// The format with its fields: `%n`, `%0.8n`, `%{thread_num}`, `%%`.
pub(super) fn format(format: &str) -> String {
    let context = context();
    let mut to = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        to.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            to.push('%');
            rest = after;
            continue;
        }
        let zeros = rest.starts_with("0.");
        let right = zeros || rest.starts_with('.');
        rest = rest.trim_start_matches("0.").trim_start_matches('.');
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let width: usize = rest[..digits].parse().unwrap_or(0);
        rest = &rest[digits..];
        let (name, after) = match rest.strip_prefix('{').and_then(|it| it.split_once('}')) {
            Some(parts) => parts,
            None => rest.split_at(rest.chars().next().map_or(0, char::len_utf8)),
        };
        let value = field(context, name).unwrap_or_else(|| "undefined".into());
        to.push_str(&match (zeros, right) {
            (true, _) => zeros_before(&value, width),
            (_, true) => format!("{value:>width$}"),
            _ => format!("{value:<width$}"),
        });
        rest = after;
    }
    to + rest
}

/// With zeros in front, behind the sign.
fn zeros_before(value: &str, width: usize) -> String {
    match value.strip_prefix('-') {
        Some(digits) => format!("-{digits:0>width$}", width = width.saturating_sub(1)),
        None => format!("{value:0>width$}"),
    }
}

pub(super) fn show(text: &str) {
    let text = if text.is_empty() { &get() } else { text };
    crate::report::raw((format(text) + "\n").as_bytes());
}

/// Says where the calling thread is.
pub(crate) fn display(_context: &Context) {
    show("");
}

super::export! {
    pub(super) fn omp_set_affinity_format(format: *const c_char) {
        // SAFETY: the program's string.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_filled_in() {
        assert_eq!(
            format("%n of %N at %{nesting_level}, 100%%"),
            "0 of 1 at 0, 100%"
        );
        assert_eq!(format("[%4n|%.4n|%0.4n]"), "[0   |   0|0000]");
        assert_eq!(
            format("[%a|%4a|%.4a|%0.4{ancestor_tnum}]"),
            "[-1|-1  |  -1|-001]"
        );
        assert_eq!(format("%?"), "undefined");
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
    }
}
