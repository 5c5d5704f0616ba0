//! Checks a program for functions of LLVM's library that this library does not define. The loader would find such a
//! function in LLVM's library, and the program would have two runtimes. So the imports of the program are checked when
//! it starts.

use crate::environment::effect::is_in_runtime;
use crate::system::report::fatal;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// Ends the program if it imports a function of LLVM's library that this library lacks, or if a library that was loaded
/// with the program imports one.
pub(crate) fn check() {
    // If the loader finds these names elsewhere first, this check does not apply. Miri has no loader.
    let is_here = |name| base(find(name)) == base(check as *const c_void);
    if !cfg!(miri) && is_here(c"__kmpc_fork_call") && is_here(c"omp_get_num_threads") {
        // SAFETY: `look` takes what the loader passes.
        unsafe { libc::dl_iterate_phdr(Some(look), ptr::null_mut()) };
    }
}

/// The base address of the library that contains an address.
fn base(address: *const c_void) -> *mut c_void {
    // SAFETY: the structure has only pointers, which may be null.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the call writes `info`.
    unsafe { libc::dladdr(address, &raw mut info) };
    info.dli_fbase
}

/// The address at which the loader finds the name, or null.
fn find(name: &CStr) -> *mut c_void {
    // SAFETY: the name ends with a zero.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

/// Tags of the dynamic section, by the ELF standard.
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

/// Checks the relocations of the program or of a library.
unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the description from the loader has `dlpi_phnum` headers.
    let (info, headers) = unsafe {
        let info = &*info;
        (
            info,
            std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)),
        )
    };
    let dynamic = headers
        .iter()
        .find(|header| header.p_type == libc::PT_DYNAMIC);
    let Some(dynamic) = dynamic else {
        return 0;
    };
    let entries = (info.dlpi_addr + dynamic.p_vaddr) as *const Dynamic;
    let value = |tag: i64| {
        // SAFETY: the section ends with an entry of tag 0.
        unsafe {
            let tagged = (0..)
                .map(|at| &*entries.add(at))
                .take_while(|entry| entry.tag != 0);
            tagged
                .into_iter()
                .find(|entry| entry.tag == tag)
                .map(|entry| entry.value)
        }
    };
    let (Some(strings), Some(symbols)) = (value(STRINGS), value(SYMBOLS)) else {
        return 0;
    };
    // The vDSO, the kernel's library, has offsets instead of addresses.
    if (strings as u64) < info.dlpi_addr {
        return 0;
    }
    for (table, bytes) in [(RELOCATIONS, RELOCATIONS_BYTES), (CALLS, CALLS_BYTES)] {
        if let (Some(table), Some(bytes)) = (value(table), value(bytes)) {
            for at in (table..table + bytes).step_by(size_of::<libc::Elf64_Rela>()) {
                // SAFETY: the table has the size that the section states. Symbols and their names are in the tables of
                // the object.
                unsafe {
                    let symbol = (*(at as *const libc::Elf64_Rela)).r_info >> 32;
                    let symbol = &*(symbols as *const libc::Elf64_Sym).add(symbol as usize);
                    let name = CStr::from_ptr((strings + symbol.st_name as usize) as *const c_char);
                    demand(name, symbol.st_shndx == 0);
                }
            }
        }
    }
    0
}

/// Ends the program if it imports the name and the loader finds the name in LLVM's library. Programs may have names of
/// their own with the same prefixes.
fn demand(name: &CStr, is_imported: bool) {
    let text = name.to_bytes();
    let prefixes: [&[u8]; 3] = [b"__kmpc_", b"kmp_", b"omp_"];
    let is_runtimes = prefixes.iter().any(|prefix| text.starts_with(prefix));
    if is_imported && is_runtimes && is_in_runtime(find(name)) {
        fatal(format_args!(
            "{} is not implemented: run this program without this library",
            name.to_string_lossy()
        ));
    }
}
