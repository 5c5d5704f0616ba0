//! The text that describes a thread and its CPUs, in the form of `OMP_AFFINITY_FORMAT`.

use crate::environment::places::mask;
use crate::environment::settings;
use crate::system::report::raw;
use crate::team::context::{Context, context};
use std::ffi::{CStr, c_char};
use std::sync::{Mutex, PoisonError};

static FORMAT: Mutex<Option<String>> = Mutex::new(None);

pub(crate) fn get() -> String {
    let format = FORMAT.lock().unwrap_or_else(PoisonError::into_inner);
    format
        .clone()
        .unwrap_or_else(|| settings().affinity_format.clone())
}

pub(crate) fn set(text: String) {
    *FORMAT.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
}

/// The value of a field, or `None` if the field is unknown.
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
        "i" | "native_thread_id" => crate::system::threads::number().to_string(),
        "A" | "thread_affinity" => ranges(&mask()),
        _ => return None,
    })
}

fn host() -> String {
    let mut name = [0 as c_char; 256];
    // SAFETY: the call writes within the array, and the last byte stays 0.
    unsafe {
        libc::gethostname(name.as_mut_ptr(), name.len() - 1);
        CStr::from_ptr(name.as_ptr()).to_string_lossy().into()
    }
}

/// Ranges of CPUs, such as `0-3,5`.
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

/// The largest width of a field. A larger width is taken for a mistake.
const MOST: usize = 4096;

/// Fills in the fields of the format, such as `%n`, `%0.8n`, `%{thread_num}` and `%%`.
pub(crate) fn format(format: &str) -> String {
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
        let width = rest[..digits].parse().unwrap_or(0).min(MOST);
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

/// Pads the value with zeros after its sign.
fn zeros_before(value: &str, width: usize) -> String {
    match value.strip_prefix('-') {
        Some(digits) => format!("-{digits:0>width$}", width = width.saturating_sub(1)),
        None => format!("{value:0>width$}"),
    }
}

/// Prints the text of the calling thread, with the format `text`. If `text` is empty, the format that was set is used.
pub(crate) fn show(text: &str) {
    let text = if text.is_empty() { &get() } else { text };
    raw((format(text) + "\n").as_bytes());
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
        assert_eq!(format("%.70000n").len(), MOST);
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
    }
}
