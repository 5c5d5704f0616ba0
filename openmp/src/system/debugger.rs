//! A script for gdb, in this library's file: the alarm's signal does not stop the program.
//!
//! gdb looks for scripts in a section of the library's file. It runs them only where the user lets it, by its setting
//! `auto-load safe-path`; otherwise it says so in a line. The script for Debian's package, which lies in a folder that
//! gdb trusts, is `openmp/packaging/libgomp-manycore.so-gdb.py`.

// One string, which begins with 4 (a text in Python) and the script's name, and ends with a zero.
#[cfg(all(not(miri), not(test)))]
std::arch::global_asm!(
    ".pushsection .debug_gdb_scripts, \"MS\", %progbits, 1",
    ".byte 4",
    ".ascii \"manycore-openmp\\n\"",
    ".ascii \"import gdb\\n\"",
    ".ascii \"gdb.execute('handle SIG64 SIG63 SIG62 nostop noprint pass', to_string=True)\\n\"",
    ".byte 0",
    ".popsection",
);
