//! The loaded objects: the program, and its libraries.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ops::Range;

/// Tags of the dynamic section, by the ELF standard.
const NEEDED: i64 = 1;
const STRINGS: i64 = 5;

/// An entry of the dynamic section.
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: usize,
}

/// The program, or a library.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Object {
    /// The loader's name of the object. For the program it is empty.
    pub(super) path: CString,
    /// The addresses of its code.
    pub(super) code: Vec<Range<usize>>,
    /// File names of the libraries that it depends on.
    pub(super) needed: Vec<String>,
}

impl Object {
    /// The name of its file.
    pub(super) fn name(&self) -> String {
        let path = self.path.to_string_lossy();
        path.rsplit('/').next().unwrap_or_default().into()
    }

    pub(super) fn contains(&self, address: usize) -> bool {
        self.code.iter().any(|range| range.contains(&address))
    }
}

/// All objects that are loaded now.
pub(super) fn loaded() -> Vec<Object> {
    let mut found: Vec<Object> = vec![];
    // SAFETY: the loader calls the function with this pointer, and only during this call.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut found).cast()) };
    found
}

/// How often objects were loaded or unloaded. Never 0.
pub(super) fn changes() -> u64 {
    unsafe extern "C" fn read(
        info: *mut libc::dl_phdr_info,
        _: usize,
        changes: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes its description, and the address of the number below.
        unsafe { *changes.cast::<u64>() = (*info).dlpi_adds + (*info).dlpi_subs };
        // 1 ends the calls: each object has the same counts.
        1
    }
    let mut changes = 0_u64;
    // SAFETY: the loader calls the function with this pointer, and only during this call.
    unsafe { libc::dl_iterate_phdr(Some(read), (&raw mut changes).cast()) };
    changes
}

unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: the loader passes its description, and the address of the vector above.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<Object>>()) };
    let path = if info.dlpi_name.is_null() {
        c""
    } else {
        // SAFETY: the string belongs to the loader.
        unsafe { CStr::from_ptr(info.dlpi_name) }
    };
    // SAFETY: the object has this number of headers.
    let headers =
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let code = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0)
        .map(|header| {
            let begin = (info.dlpi_addr + header.p_vaddr) as usize;
            begin..begin + header.p_memsz as usize
        });
    let dynamic = headers
        .iter()
        .find(|header| header.p_type == libc::PT_DYNAMIC);
    found.push(Object {
        path: path.into(),
        code: code.collect(),
        needed: dynamic.map_or_else(Vec::new, |header| {
            // SAFETY: the section is the object's own.
            unsafe { needed(info.dlpi_addr as usize, header.p_vaddr as usize) }
        }),
    });
    0
}

/// File names of the libraries that a dynamic section lists.
///
/// # Safety
///
/// `section` is the offset of a dynamic section, in an object that is loaded at `base`.
unsafe fn needed(base: usize, section: usize) -> Vec<String> {
    let first = (base + section) as *const Dynamic;
    // SAFETY: the section ends with an entry of tag 0.
    let entries = || unsafe { (0..).map(|at| &*first.add(at)).take_while(|it| it.tag != 0) };
    let Some(strings) = entries().find(|entry| entry.tag == STRINGS) else {
        return vec![];
    };
    // The loader has replaced the offset by an address, unless the section is read-only.
    let strings = if strings.value < base {
        base + strings.value
    } else {
        strings.value
    };
    let names = entries().filter(|entry| entry.tag == NEEDED);
    // SAFETY: the values are offsets of strings in the object's own table.
    let name = |entry: &Dynamic| unsafe {
        CStr::from_ptr((strings + entry.value) as *const c_char).to_string_lossy()
    };
    names.map(|entry| name(entry).into_owned()).collect()
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn the_program_and_its_libraries_are_found() {
        let found = loaded();
        let here = loaded as *const () as usize;
        let program = found.iter().find(|object| object.contains(here));
        let program = program.expect("this test");
        assert!(program.needed.iter().any(|name| name.starts_with("libc.")));
        assert!(
            found
                .iter()
                .any(|object| object.name().starts_with("libc."))
        );
    }
}
