//! Checks a program for functions of LLVM's library that this library does not define. The loader would find such a
//! function in LLVM's library, and the program would have two runtimes. So the imports of the program are checked when
//! it starts. Libraries that were linked to no OpenMP library are not checked, since most are of other kinds.

use crate::environment::effect::is_runtime;
use crate::system::report::fatal;
use libc::{Elf64_Phdr, dl_phdr_info};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;

/// Ends the program if it imports a function of LLVM's library that this library lacks, or if a library that was loaded
/// with the program imports one.
pub(crate) fn check() {
    // Miri has no loader.
    if cfg!(miri) {
        return;
    }
    let mut loaded = Loaded::default();
    let data = (&raw mut loaded).cast();
    // SAFETY: `note` takes what the loader passes, and `loaded`.
    unsafe { libc::dl_iterate_phdr(Some(note), data) };
    // If the loader finds these names elsewhere first, this check does not apply.
    let is_here = |name| loaded.ours.contains(&find(name));
    if !loaded.others.is_empty() && is_here(c"__kmpc_fork_call") && is_here(c"omp_get_num_threads")
    {
        // SAFETY: `look` takes what the loader passes, and `loaded`.
        unsafe { libc::dl_iterate_phdr(Some(look), data) };
    }
}

/// The addresses of this library, and of the other OpenMP libraries.
#[derive(Default)]
struct Loaded {
    ours: Range<usize>,
    others: Vec<Range<usize>>,
}

/// The address at which the loader finds the name, or 0.
fn find(name: &CStr) -> usize {
    // SAFETY: the name ends with a zero.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.addr()
}

/// The headers of a program or library.
fn headers(info: &dl_phdr_info) -> &[Elf64_Phdr] {
    // SAFETY: the description from the loader has `dlpi_phnum` headers.
    unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) }
}

/// The addresses of a program or library.
fn range(info: &dl_phdr_info) -> Range<usize> {
    let parts = headers(info).iter().filter(|it| it.p_type == libc::PT_LOAD);
    let ends = parts.map(|it| (it.p_vaddr, it.p_vaddr + it.p_memsz));
    let all = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let (first, end) = all.unwrap_or_default();
    (info.dlpi_addr + first) as usize..(info.dlpi_addr + end) as usize
}

/// Notes the addresses of an OpenMP library.
unsafe extern "C" fn note(info: *mut dl_phdr_info, _: usize, loaded: *mut c_void) -> c_int {
    // SAFETY: the loader passes a description with a name, and `check` a value of this type.
    let (info, loaded, name) = unsafe {
        let info = &*info;
        let name = CStr::from_ptr(info.dlpi_name).to_bytes();
        (info, &mut *loaded.cast::<Loaded>(), name)
    };
    let range = range(info);
    if range.contains(&(check as *const c_void).addr()) {
        loaded.ours = range;
    } else if is_runtime(name) {
        loaded.others.push(range);
    }
    0
}

/// Tags of the dynamic section, by the ELF standard.
const NEEDED: i64 = 1;
const STRINGS: i64 = 5;
const SYMBOLS: i64 = 6;
const RELOCATIONS: i64 = 7;
const RELOCATIONS_BYTES: i64 = 8;
const CALLS_BYTES: i64 = 2;
const CALLS: i64 = 23;

/// An entry of the dynamic section.
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: usize,
}

/// Checks the relocations of the program or of a library, if an OpenMP library was named when it was linked.
unsafe extern "C" fn look(info: *mut dl_phdr_info, _: usize, loaded: *mut c_void) -> c_int {
    // SAFETY: the loader passes a description, and `check` a value of this type.
    let (info, loaded) = unsafe { (&*info, &*loaded.cast::<Loaded>()) };
    let dynamic = headers(info)
        .iter()
        .find(|header| header.p_type == libc::PT_DYNAMIC);
    let Some(dynamic) = dynamic else {
        return 0;
    };
    let first = (info.dlpi_addr + dynamic.p_vaddr) as *const Dynamic;
    // SAFETY: the section ends with an entry of tag 0.
    let entries = (0..).map(|at| unsafe { &*first.add(at) });
    let entries = entries.take_while(|entry| entry.tag != 0);
    let values = |tag: i64| {
        let tagged = entries.clone().filter(move |entry| entry.tag == tag);
        tagged.map(|entry| entry.value)
    };
    let value = |tag: i64| values(tag).next();
    let (Some(strings), Some(symbols)) = (value(STRINGS), value(SYMBOLS)) else {
        return 0;
    };
    // The vDSO, the kernel's library, has offsets instead of addresses.
    if (strings as u64) < info.dlpi_addr {
        return 0;
    }
    // SAFETY: names are in the table of names of the object.
    let name = |at: usize| unsafe { CStr::from_ptr((strings + at) as *const c_char) };
    if !values(NEEDED).any(|at| is_runtime(name(at).to_bytes())) {
        return 0;
    }
    for (table, bytes) in [(RELOCATIONS, RELOCATIONS_BYTES), (CALLS, CALLS_BYTES)] {
        if let (Some(table), Some(bytes)) = (value(table), value(bytes)) {
            for at in (table..table + bytes).step_by(size_of::<libc::Elf64_Rela>()) {
                // SAFETY: the table has the size that the section states, and symbols are in the object's table.
                let symbol = unsafe {
                    let symbol = (*(at as *const libc::Elf64_Rela)).r_info >> 32;
                    &*(symbols as *const libc::Elf64_Sym).add(symbol as usize)
                };
                if symbol.st_shndx == 0 {
                    demand(name(symbol.st_name as usize), &loaded.others);
                }
            }
        }
    }
    0
}

/// Ends the program if the loader finds the imported name in an OpenMP library other than this one. Programs may have names of
/// their own with the same prefixes.
fn demand(name: &CStr, others: &[Range<usize>]) {
    let text = name.to_bytes();
    let prefixes: [&[u8]; 3] = [b"__kmpc_", b"kmp_", b"omp_"];
    let is_runtimes = prefixes.iter().any(|prefix| text.starts_with(prefix));
    if is_runtimes && others.iter().any(|other| other.contains(&find(name))) {
        fatal(format_args!(
            "{} is not implemented: run this program without this library",
            name.to_string_lossy()
        ));
    }
}
