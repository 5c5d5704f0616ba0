//! Where the program's own code lies: a rank is cut only there.
//!
//! Elsewhere it may hold a lock that others wait for in the kernel: the C library's allocator and
//! streams, the loader's, and those of this library.

use crate::lock::Guarded;
use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr};

/// Libraries that lock, or that other threads would wait for; by how their names begin.
const LOCKING: [&str; 24] = [
    "ld-",
    "ld.",
    "ld64",
    "linux-vdso",
    "linux-gate",
    "libc.",
    "libc-",
    "libpthread",
    "libdl",
    "librt",
    "libgomp",
    "libomp",
    "libiomp",
    "libstdc++",
    "libc++",
    "libgcc_s",
    "libunwind",
    "libgfortran",
    "libjemalloc",
    "libtcmalloc",
    "libmimalloc",
    "libasan",
    "libtsan",
    "liblsan",
];

/// What is known; never freed, since a signal handler may be reading it.
static TABLE: AtomicPtr<Vec<Range<usize>>> = AtomicPtr::new(ptr::null_mut());
/// A rank was found in code that is not in the table.
static STRANGE: AtomicBool = AtomicBool::new(false);

/// Whether the address is in the program's own code. For signal handlers.
pub(super) fn is_programs(address: usize) -> bool {
    // SAFETY: tables are never freed.
    let table = unsafe { TABLE.load(Acquire).as_ref() };
    let found = table.is_some_and(|table| table.iter().any(|range| range.contains(&address)));
    if !found {
        STRANGE.store(true, Relaxed);
    }
    found
}

/// Looks where code lies, if that is not known or may have changed.
pub(super) fn refresh(is_new_team: bool) {
    if !STRANGE.load(Relaxed) && !is_new_team {
        return;
    }
    static LAST: Guarded<Vec<Range<usize>>> = Guarded::new(vec![]);
    STRANGE.store(false, Relaxed);
    let mut found: Vec<Range<usize>> = vec![];
    // SAFETY: the function is called with a pointer to `found` while this call lasts.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut found).cast()) };
    LAST.with(|last| {
        if *last != found {
            last.clone_from(&found);
            TABLE.store(Box::into_raw(Box::new(found)), Release);
        }
    });
}

/// Adds what is executable of one library, or of the program, which has no name.
unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: the loader's description, and the vector given above.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<Range<usize>>>()) };
    let path = if info.dlpi_name.is_null() {
        c""
    } else {
        // SAFETY: the loader's string.
        unsafe { CStr::from_ptr(info.dlpi_name) }
    };
    let path = path.to_string_lossy();
    let name = path.rsplit('/').next().unwrap_or_default();
    if LOCKING.iter().any(|locking| name.starts_with(locking)) {
        return 0;
    }
    // SAFETY: as many headers as it says.
    let headers =
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let code = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0)
        .map(|header| {
            let begin = (info.dlpi_addr + header.p_vaddr) as usize;
            begin..begin + header.p_memsz as usize
        });
    // This library, whatever its name.
    let here = refresh as *const () as usize;
    found.extend(code.filter(|range| !range.contains(&here)));
    0
}
