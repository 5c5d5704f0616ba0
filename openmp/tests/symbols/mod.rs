//! The exported functions: all of GCC's and LLVM's libraries, with their versions.

use super::{compile_with, has_compiler, library, run, source, tempfile, text};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Symbols have the same versions as in GCC's library, and programs find this library by LD_LIBRARY_PATH.
#[test]
fn versions_of_symbols() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let archive = library().with_extension("a");
    let folder = tempfile("versions");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("link.sh");
    let linked = Command::new(script).arg(&archive).arg(&folder).output();
    let linked = linked.expect("bash is there");
    assert!(linked.status.success(), "{}", text(&linked));
    let ours = folder.join("libgomp.so.1");
    // Functions of the C library by which ranks wait.
    let front = symbols(&ours, &["--with-symbol-versions"]).expect("just linked");
    for name in [
        "clock_gettime",
        "gettimeofday",
        "sched_yield",
        "time",
        "timespec_get",
    ] {
        let of_libc = format!("{name}@GLIBC_");
        let is_there = front.iter().any(|symbol| symbol.starts_with(&of_libc));
        assert!(is_there, "{name}: {front:?}");
    }
    if let Some(theirs) = theirs() {
        let ours = symbols(&ours, &["--with-symbol-versions"]).expect("just linked");
        let missing: Vec<_> = symbols(&theirs, &["--with-symbol-versions"])
            .expect("there are symbols")
            .into_iter()
            // These locks have another size; they are from GCC 4.3 and before.
            .filter(|name| !name.ends_with("@OMP_1.0") || name.contains("@@"))
            .filter(|name| !ours.contains(name))
            .collect();
        assert!(missing.is_empty(), "missing: {missing:?}");
    }
    let program = folder.join("program");
    let flags = [
        "-L",
        folder.to_str().expect("our folders are UTF-8"),
        "-lgomp",
    ];
    compile_with(&flags, &source("constructs.c"), &program)
        .expect("the program links against the library");
    let theirs = run(&program, 2, &[], false);
    let path = [("LD_LIBRARY_PATH", flags[1])];
    for ranks in [2, 3] {
        let ours = run(&program, ranks, &path, false);
        assert_eq!(text(&ours), text(&theirs), "{ranks} ranks");
    }
    let later = folder.join("later");
    compile_with(&flags, &source("later.c"), &later)
        .expect("the program links against the library");
    for ranks in [1, 2, 3, 8] {
        let ours = text(&run(&later, ranks, &path, false));
        assert!(
            ours.starts_with("explicit 0 2\nbad 0 0\n"),
            "{ranks} ranks: {ours}"
        );
    }
    let shown = [path[0], ("OMP_DISPLAY_ENV", "verbose")];
    let shown = text(&run(&program, 2, &shown, false));
    assert!(shown.contains("MANYCORE_VERSION"), "{shown}");
}

fn theirs() -> Option<PathBuf> {
    ["x86_64", "aarch64"]
        .map(|machine| PathBuf::from(format!("/usr/lib/{machine}-linux-gnu/libgomp.so.1")))
        .into_iter()
        .find(|path| path.exists())
}

/// Returns the functions that a library exports, or `None` without `nm`.
fn symbols(library: &Path, flags: &[&str]) -> Option<BTreeSet<String>> {
    let mut command = Command::new("nm");
    command
        .args(["-D", "--defined-only"])
        .args(flags)
        .arg(library);
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        // The names of the versions themselves are absolute.
        (words.next()? != "A").then(|| words.next().map(String::from))?
    });
    output.status.success().then(|| names.collect())
}

/// Every function of GCC's library: if one were missing here, a program would call GCC's.
#[test]
fn nothing_is_missing() {
    let names = |path: &Path| -> Option<BTreeSet<String>> {
        let names = symbols(path, &[])?.into_iter();
        Some(
            names
                .filter_map(|name| name.split('@').next().map(String::from))
                .collect(),
        )
    };
    let Some(theirs) = theirs().and_then(|path| names(&path)) else {
        return eprintln!("SKIPPED: no libgomp, or no nm");
    };
    let ours = names(&library()).expect("our library was built with this test");
    let missing: Vec<_> = theirs.difference(&ours).collect();
    assert!(
        theirs.len() > 100 && missing.is_empty(),
        "missing: {missing:?}"
    );
}

/// The same for LLVM's library: if a function were missing, a program would call LLVM's, and so contain two
/// runtimes.
#[test]
#[cfg(target_arch = "x86_64")]
fn nothing_of_llvms_is_missing() {
    let theirs = (11..30).rev().find_map(|version| {
        let path = format!("/usr/lib/llvm-{version}/lib/libomp.so.5");
        symbols(Path::new(&path), &[])
    });
    let Some(theirs) = theirs else {
        return eprintln!("SKIPPED: no libomp, or no nm");
    };
    let ours = symbols(&library(), &[]).expect("our library was built with this test");
    let missing: Vec<_> = theirs
        .iter()
        .filter_map(|name| name.split('@').next())
        .filter(|name| {
            ["__kmpc_", "kmp_", "kmpc_", "omp_", "ompc_"]
                .iter()
                .any(|of| name.starts_with(of))
        })
        // Data: constants, and the data of its own debugging.
        .filter(|name| {
            let data = [
                "_mem_alloc",
                "_mem_space",
                "_null_allocator",
                "_debug",
                "kmp_diag",
            ];
            !data.iter().any(|end| name.ends_with(end))
        })
        .filter(|name| !ours.contains(*name))
        .collect();
    assert!(
        theirs.len() > 500 && missing.is_empty(),
        "missing: {missing:?}"
    );
}
