//! `MANYCORE_OMP_CHECK`: whether the library took effect.
//!
//! The variable names a file. When a process that has loaded this library ends, it adds a line to the file. The
//! commands `manycore-omp --check` and `python -m manycore_openmp --check` read the file. A process that ends by
//! `_exit` or a signal adds no line.

use super::cores::has_watched;
use std::collections::BTreeSet;
use std::ffi::{CStr, OsString, c_void};
use std::fs::{File, read_link, read_to_string};
use std::io::{self, Write};
use std::mem;
use std::sync::OnceLock;

/// The beginnings of the file names of the OpenMP libraries of GCC, LLVM and Intel.
const RUNTIMES: [&str; 3] = ["libgomp", "libomp", "libiomp"];

/// Whether the address is in an OpenMP library other than this one. The name of the file shows which library it is.
#[allow(dead_code, reason = "only `carry` and LLVM's functions call this")]
pub(crate) fn is_in_runtime(address: *const c_void) -> bool {
    // SAFETY: the structure has only pointers, which may be null. `dladdr` takes any address. The loader owns the name,
    // which lives while the object is loaded.
    unsafe {
        let find = |address| {
            let mut found: libc::Dl_info = mem::zeroed();
            libc::dladdr(address, &raw mut found);
            found
        };
        let found = find(address);
        if found.dli_fname.is_null()
            || found.dli_fbase == find(is_in_runtime as *const c_void).dli_fbase
        {
            return false;
        }
        is_runtime(CStr::from_ptr(found.dli_fname).to_bytes())
    }
}

/// Whether a file of this path is an OpenMP library, by its name.
pub(crate) fn is_runtime(path: &[u8]) -> bool {
    let file = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    (RUNTIMES.iter()).any(|name| file.starts_with(name.as_bytes()))
}

static FILE: OnceLock<OsString> = OnceLock::new();

/// Reads the variable, before the program changes its environment.
pub(crate) fn read() {
    if let Some(file) = std::env::var_os("MANYCORE_OMP_CHECK").filter(|file| !file.is_empty()) {
        FILE.get_or_init(|| file);
    }
}

/// Called when the process ends. Adds a line for the process to the file.
pub(crate) fn tell() {
    if let Some(file) = FILE.get() {
        let text = line();
        let added = File::options().append(true).create(true).open(file);
        if let Err(error) = added.and_then(|mut file| file.write_all(text.as_bytes())) {
            complain(file, &error);
        }
    }
}

#[cold]
fn complain(file: &OsString, error: &io::Error) {
    crate::system::report::line(format_args!(
        "MANYCORE_OMP_CHECK={}: {error}; expected a file that can be written",
        file.display()
    ));
}

/// Four fields with tabs between them: the number of the process, its program, `teams` or `idle`, and the files of
/// other OpenMP libraries in the process. `teams` means that a team of more than one thread has begun.
fn line() -> String {
    let program = read_link("/proc/self/exe").unwrap_or_default();
    let did = if has_watched() { "teams" } else { "idle" };
    let maps = read_to_string("/proc/self/maps").unwrap_or_default();
    let others: Vec<_> = others(&maps, line as fn() -> String as usize)
        .into_iter()
        .collect();
    format!(
        "{}\t{}\t{did}\t{}\n",
        std::process::id(),
        program.display(),
        others.join(" ")
    )
}

/// The paths of other OpenMP libraries in the text of `/proc/self/maps`. `own` is an address in this library.
fn others(maps: &str, own: usize) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut ours = None;
    for line in maps.lines() {
        let mut fields = line.splitn(6, ' ').map(str::trim);
        let (Some(range), Some(path)) = (fields.next(), fields.nth(4)) else {
            continue;
        };
        let file = path.rsplit('/').next().unwrap_or(path);
        if RUNTIMES.iter().any(|name| file.starts_with(name)) {
            found.insert(path);
        }
        if holds(range, own) {
            ours = Some(path);
        }
    }
    ours.inspect(|path| _ = found.remove(path));
    found
}

/// Whether the range, such as `7f00-7f80`, contains the address.
fn holds(range: &str, address: usize) -> bool {
    let number = |text| usize::from_str_radix(text, 16).ok();
    range
        .split_once('-')
        .and_then(|(first, end)| Some((number(first)?..number(end)?).contains(&address)))
        .unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_libraries_are_found() {
        let maps = "1000-2000 r-xp 00000000 fe:01 12     /usr/lib/libgomp-manycore.so\n\
                    3000-4000 r-xp 00000000 fe:01 13     /w/a b.libs/libgomp-4f.so.1.0.0\n\
                    4000-5000 rw-p 00001000 fe:01 13     /w/a b.libs/libgomp-4f.so.1.0.0\n\
                    5000-6000 rw-p 00000000 00:00 0 \n\
                    6000-7000 r-xp 00000000 fe:01 14     /usr/lib/libc.so.6\n";
        let expected = BTreeSet::from(["/w/a b.libs/libgomp-4f.so.1.0.0"]);
        assert_eq!(others(maps, 0x1800), expected);
        assert_eq!(others("", 0), BTreeSet::new());
        assert_eq!(others("x\n1-2 3\n", 1), BTreeSet::new());
    }
}
