//! The addresses of the program's own code. Only there may a signal make a rank (a thread of a team) leave its worker
//! (*cut* it).
//!
//! In other code a rank may hold a lock for which others wait in the kernel: a lock of the C library's streams, of the
//! loader, of an allocator, or of this library.

use super::allocators;
use super::objects::{self, Object};
use std::ops::Range;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};

/// The beginnings of the names of libraries that lock, or that other threads would wait for. For most allocators in
/// this list, their functions show it too.
const LOCKING: [&str; 29] = [
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
    "libtbbmalloc",
    "libhoard",
    "libscudo",
    "libclang_rt",
    "libasan",
    "libhwasan",
    "libtsan",
    "liblsan",
];

/// The ranges of the program's code. Tables are never freed, since a signal handler may be reading them.
static TABLE: AtomicPtr<Vec<Range<usize>>> = AtomicPtr::new(ptr::null_mut());
/// Whether a rank was found in code that is not in the table.
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

/// Makes a new table, if the loaded code is unknown or may have changed.
pub(super) fn refresh(is_new_team: bool) {
    if !STRANGE.load(Relaxed) && !is_new_team {
        return;
    }
    static LAST: AtomicU64 = AtomicU64::new(0);
    STRANGE.store(false, Relaxed);
    // Relaxed: if two threads look at once, both make the same table.
    let changes = objects::changes();
    if LAST.swap(changes, Relaxed) == changes {
        return;
    }
    let objects = objects::loaded();
    let code: Vec<Range<usize>> = objects
        .iter()
        .zip(allocators::among(&objects))
        .filter(|(object, is_allocator)| !is_allocator && may_be_cut(object))
        .flat_map(|(object, _)| object.code.clone())
        .collect();
    TABLE.store(Box::into_raw(Box::new(code)), Release);
}

/// Whether ranks may be cut in the object: it is not in [`LOCKING`], and is not this library.
fn may_be_cut(object: &Object) -> bool {
    let name = object.name();
    let locks = LOCKING.iter().any(|locking| name.starts_with(locking));
    !locks && !object.contains(refresh as *const () as usize)
}
