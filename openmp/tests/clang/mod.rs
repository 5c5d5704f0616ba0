//! Programs that clang compiles; these call LLVM's functions.

use super::{VARIABLES, always, compile, compile_by, has_compiler, run, source, tempfile, text};

/// Programs that clang compiles as well as GCC.
const CLANG: [&str; 4] = ["loops", "constructs", "tasks", "cancel"];

/// The output is that of GCC's library for the same source.
#[test]
fn programs_of_clang() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let folder = tempfile("clang");
    for name in CLANG {
        let (gcc, clang) = (folder.join(format!("{name}-gcc")), folder.join(name));
        let source = source(&format!("{name}.c"));
        compile(&source, &gcc).expect("our programs can be compiled");
        if compile_by("clang", &["-latomic"], &source, &clang).is_none() {
            return eprintln!("SKIPPED: no clang with OpenMP");
        }
        let theirs = run(&gcc, 2, &VARIABLES, false);
        always(&clang, &[1, 2, 3, 8], &text(&theirs));
    }
}

/// LLVM's functions that clang calls only with flags, or that only other compilers call. The output is that
/// of LLVM's library for the same program.
#[test]
fn functions_of_llvm() {
    let folder = tempfile("llvm");
    for (name, flags) in [
        ("kmp.c", &["-latomic"][..]),
        ("private.cpp", &["-fnoopenmp-use-tls", "-pthread"]),
    ] {
        let program = folder.join(name);
        let compiler = if name.ends_with("pp") {
            "clang++"
        } else {
            "clang"
        };
        if compile_by(compiler, flags, &source(name), &program).is_none() {
            return eprintln!("SKIPPED: no {compiler} with OpenMP");
        }
        let theirs = run(&program, 2, &[], false);
        for ranks in [1, 2, 3, 8] {
            let ours = run(&program, ranks, &[], true);
            assert_eq!(text(&ours), text(&theirs), "{name} with {ranks} ranks");
        }
    }
}
