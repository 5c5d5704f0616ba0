//! Programs under sanitizers and in a debugger.

use super::{built, compile_by, has_compiler, library, run_with, source, tempfile, text};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The script for gdb. In a folder that gdb trusts, it makes gdb ignore the signals of the library's timers.
const SCRIPT: &str = "packaging/libgomp-manycore.so-gdb.py";

/// Numbers of ranks: one for threads, two for carried ranks.
fn sizes() -> [usize; 3] {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    [
        cores.clamp(2, 64),
        (cores + 1).min(64),
        (2 * cores + 3).min(64),
    ]
}

/// A compiler, its flags for a sanitizer, and whether that reports memory that is lost. The library is preloaded before a
/// sanitizer's; a static AddressSanitizer allows that.
const SANITIZERS: [(&str, &str, bool); 5] = [
    ("gcc", "-fsanitize=address,leak -static-libasan", true),
    ("gcc", "-fsanitize=address,undefined -static-libasan", true),
    ("gcc", "-fsanitize=leak", true),
    ("gcc", "-fsanitize=undefined", false),
    ("clang", "-fsanitize=address,undefined", true),
];

/// A program without a fault ends without a report, and memory that a rank loses is reported.
#[test]
fn sanitizers() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    for (compiler, flags, finds_leaks) in SANITIZERS {
        let name = format!("{compiler} {flags}");
        let program = tempfile("sanitizers").join(name.replace(' ', ""));
        let flags: Vec<&str> = flags
            .split(' ')
            .chain(["-g", "-fno-sanitize-recover=all"])
            .collect();
        if compile_by(compiler, &flags, &source("tools.c"), &program).is_none() {
            eprintln!("SKIPPED: {name}: not installed");
            continue;
        }
        let is_clean = |ranks, ours| {
            let text = text(&run_with(&program, &[], ranks, &[], ours));
            (text == "right\nexit status: 0", text)
        };
        let is_found = |ranks, ours| {
            let output = run_with(&program, &[Path::new("leak")], ranks, &[], ours);
            // LeakSanitizer may miss a block, since an old pointer to it may be left on a stack. There are a hundred.
            let is_reported = text(&output).contains("byte(s) leaked in ");
            (is_reported && !output.status.success(), text(&output))
        };
        // LeakSanitizer needs `ptrace`.
        if !is_clean(2, false).0 || finds_leaks && !is_found(2, false).0 {
            eprintln!("SKIPPED: {name}: does not work here");
            continue;
        }
        for ranks in sizes() {
            let (is_right, text) = is_clean(ranks, true);
            assert!(is_right, "{name}, {ranks} ranks: {text}");
            if finds_leaks {
                let (is_right, text) = is_found(ranks, true);
                assert!(is_right, "{name}, {ranks} ranks: {text}");
            }
        }
    }
}

/// gdb stops at a breakpoint in a region, prints a backtrace, and continues to the end. The library's timers do not stop
/// the program: a script tells gdb to ignore their signals. The script is in the library's file, and also beside it.
#[test]
fn debugger() {
    let Some(program) = built(&["-g"], "debugger", "tools.c") else {
        return;
    };
    if !is_debuggable(&program) {
        return eprintln!("SKIPPED: no gdb that can run programs");
    }
    let mut libraries = vec![library()];
    match with_script_beside() {
        Some(library) => libraries.push(library),
        None => eprintln!("SKIPPED: no objcopy, for the script beside the library"),
    }
    for library in libraries {
        for ranks in sizes() {
            let case = format!("{}, {ranks} ranks", library.display());
            let shown = debug(&library, &program, ranks);
            for part in [
                "#0  halfway (leaks=",
                "#1  ",
                " in main._omp_fn",
                "SIG64         No\tNo\tYes",
                "right",
                "exited normally",
            ] {
                assert!(shown.contains(part), "{case}: {part}: {shown}");
            }
            assert!(!shown.contains("received signal"), "{case}: {shown}");
        }
    }
}

/// Whether gdb is there and can run this program.
fn is_debuggable(program: &Path) -> bool {
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch", "-ex", "run"]).arg(program);
    gdb.output()
        .is_ok_and(|output| text(&output).contains("exited normally"))
}

/// Returns a copy of the library without its own script, with the one beside it that Debian's package installs.
fn with_script_beside() -> Option<PathBuf> {
    let folder = tempfile("debugger-script");
    let copy = folder.join("libgomp-manycore.so");
    let mut objcopy = Command::new("objcopy");
    objcopy.arg("--remove-section=.debug_gdb_scripts");
    let status = objcopy.arg(library()).arg(&copy).status().ok()?;
    assert!(status.success(), "objcopy copies our library");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(SCRIPT);
    let beside = folder.join(script.file_name().expect("it has a name"));
    std::fs::copy(script, beside).expect("a folder of ours");
    Some(copy)
}

/// Runs the program in gdb to a breakpoint in a region, and then to its end. Returns what gdb printed.
fn debug(library: &Path, program: &Path, ranks: usize) -> String {
    let folder = library.parent().expect("a library is in a folder");
    let mut gdb = Command::new("timeout");
    gdb.args(["60", "gdb", "-nx", "-batch", "-iex"])
        .arg(format!("add-auto-load-safe-path {}", folder.display()));
    for command in [
        &format!("set environment LD_PRELOAD {}", library.display()),
        &format!("set environment OMP_NUM_THREADS {ranks}"),
        // A shell would be preloaded too.
        "set startup-with-shell off",
        "break halfway",
        "run",
        "backtrace",
        "info signals SIG64",
        "delete",
        "continue",
    ] {
        gdb.args(["-ex", command]);
    }
    text(&gdb.arg(program).output().expect("`timeout` is there"))
}
