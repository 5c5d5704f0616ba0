//! A script for gdb in the file of this library. With the script, gdb does not stop at the signals of the library's
//! timers.
//!
//! gdb looks for scripts in a section of a library's file. It runs them only if the user's setting `auto-load
//! safe-path` allows that. Otherwise it prints a line about the script. Debian's package has the script
//! `openmp/packaging/libgomp-manycore.so-gdb.py` in a folder that gdb trusts.

// The entry begins with the byte 4 (a script in Python as text) and the script's name, and ends with a zero. Cargo has the
// linker remove sections for debugging, which its name makes it, unless the loader maps them (`a`). `R`: a section that
// nothing refers to would be removed too.
#[cfg(all(not(miri), not(test)))]
std::arch::global_asm!(
    ".pushsection .debug_gdb_scripts, \"aR\", %progbits",
    ".byte 4",
    ".ascii \"manycore-openmp\\n\"",
    ".ascii \"import gdb\\n\"",
    ".ascii \"gdb.execute('handle SIG64 SIG63 SIG62 nostop noprint pass', to_string=True)\\n\"",
    ".byte 0",
    ".popsection",
);
