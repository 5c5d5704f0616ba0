//! Finds the libraries that are allocators. Ranks (the threads of a team) are not *cut* in their code: no signal makes
//! a rank leave its worker (a kernel thread) there.
//!
//! An allocator is known by its functions, not by its name. It defines `malloc`, `operator new` or similar functions,
//! or functions with a prefix such as `je_malloc`, so that a program can use them beside the `malloc` of another
//! library. A library that such an allocator depends on counts as well: some libraries that define `malloc` are thin,
//! and call another library. The program itself never counts as an allocator: even if it defines `malloc`, ranks are
//! cut in its code.

use super::objects::Object;
use std::ffi::CStr;

/// The functions for memory in C.
const C: [&CStr; 8] = [
    c"malloc",
    c"free",
    c"calloc",
    c"realloc",
    c"memalign",
    c"posix_memalign",
    c"aligned_alloc",
    c"reallocarray",
];

/// The mangled names of `operator new` and `delete` in C++, for one object and for arrays, with and without an
/// alignment.
const CPP: [&CStr; 8] = [
    c"_Znwm",
    c"_Znam",
    c"_ZdlPv",
    c"_ZdaPv",
    c"_ZdlPvm",
    c"_ZdaPvm",
    c"_ZnwmSt11align_val_t",
    c"_ZdlPvSt11align_val_t",
];

/// Prefixes of allocators that a program may use in addition to another: jemalloc, mimalloc, tcmalloc, Intel's scalable
/// allocator, rpmalloc, Hoard, snmalloc, sanitizers.
const PREFIXED: [&CStr; 8] = [
    c"je_malloc",
    c"mi_malloc",
    c"tc_malloc",
    c"scalable_malloc",
    c"rpmalloc",
    c"xxmalloc",
    c"sn_malloc",
    c"__interceptor_malloc",
];

/// Whether each of the objects is an allocator.
pub(super) fn among(objects: &[Object]) -> Vec<bool> {
    let defines = |object: &Object, names: &[&CStr]| defines(object, names);
    let in_c: Vec<bool> = objects
        .iter()
        .map(|object| defines(object, &C) || defines(object, &PREFIXED))
        .collect();
    let is_asked_for = |name: &str| {
        let askers = objects.iter().zip(&in_c).filter(|(_, is)| **is);
        { askers }.any(|(asker, _)| asker.needed.iter().any(|needed| needed == name))
    };
    objects
        .iter()
        .zip(&in_c)
        .map(|(object, &is)| is || is_asked_for(&object.name()) || defines(object, &CPP))
        .collect()
}

/// Whether a library defines any of the names.
fn defines(object: &Object, names: &[&CStr]) -> bool {
    if object.path.is_empty() {
        return false;
    }
    let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
    // SAFETY: the strings end with a zero. The call loads nothing.
    let handle = unsafe { libc::dlopen(object.path.as_ptr(), flags) };
    if handle.is_null() {
        return false;
    }
    // The loader searches the library first, and then the libraries that it depends on.
    let is_here = |name: &&CStr| {
        // SAFETY: the handle is still open, and the string ends with a zero.
        object.contains(unsafe { libc::dlsym(handle, name.as_ptr()) } as usize)
    };
    let found = names.iter().any(is_here);
    // SAFETY: the handle was opened above, and has no later use.
    unsafe { libc::dlclose(handle) };
    found
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn allocators_are_known_by_what_they_define() {
        let objects = super::super::objects::loaded();
        for (object, is_allocator) in objects.iter().zip(among(&objects)) {
            let name = object.name();
            if name.starts_with("libc.") {
                assert!(is_allocator);
            }
            if name.starts_with("libm.") || name.is_empty() {
                assert!(!is_allocator, "{name}");
            }
        }
    }
}
