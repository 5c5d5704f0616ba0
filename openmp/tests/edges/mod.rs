//! Uses of the interface that are legal and seldom: each case of `edges.c` prints `ok`.

use super::{compile_with, has_compiler, run_with, source, tempfile, text};
use std::path::Path;

/// A case, the number of ranks (0: one more than there are cores), and a variable of the environment.
const CASES: [(&str, usize, (&str, &str)); 10] = [
    ("cancelled loops", 1, ("OMP_CANCELLATION", "true")),
    ("forked", 3, ("OMP_THREAD_LIMIT", "8")),
    ("forked by rank", 0, ("OMP_DYNAMIC", "false")),
    ("detached at once", 3, ("OMP_DYNAMIC", "false")),
    ("detached and dropped", 3, ("OMP_CANCELLATION", "true")),
    // The C library fills freed memory.
    ("paused", 3, ("MALLOC_PERTURB_", "165")),
    ("stolen", 2, ("OMP_DYNAMIC", "false")),
    ("awaited", 1, ("OMP_DYNAMIC", "false")),
    ("jumped", 0, ("OMP_DYNAMIC", "false")),
    ("cancelled", 1, ("OMP_DYNAMIC", "false")),
];

#[test]
fn edges() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let program = tempfile("edges").join("edges");
    compile_with(&["-ldl", "-pthread"], &source("edges.c"), &program)
        .expect("our programs can be compiled");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for (case, ranks, variable) in CASES {
        if case.starts_with("detached") && !cfg!(target_arch = "x86_64") {
            eprintln!("SKIPPED: no functions of LLVM's here");
            continue;
        }
        let ranks = if ranks == 0 { cores + 1 } else { ranks };
        let ours = text(&run_with(
            &program,
            &[Path::new(case)],
            ranks,
            &[variable],
            true,
        ));
        assert_eq!(ours, "ok\nexit status: 0", "{case}");
    }
}
