//! Uses of the interface that are legal and seldom: each case of `edges.c`, `corners.c` and `blocking.c` prints `ok`.

use super::{built, compile_with, has_compiler, library, run, run_with, source, tempfile, text};
use std::path::Path;

/// A case, the number of ranks (0: one more than there are cores), and a variable of the environment.
const CASES: [(&str, usize, (&str, &str)); 17] = [
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
    ("initial device", 1, ("OMP_DYNAMIC", "false")),
    ("reallocated", 1, ("OMP_DYNAMIC", "false")),
    ("without main", 3, ("OMP_DYNAMIC", "false")),
    ("signalled", 0, ("OMP_DYNAMIC", "false")),
    ("two groups", 1, ("OMP_THREAD_LIMIT", "8")),
    ("crowded", 2, ("OMP_THREAD_LIMIT", "8")),
    ("many ranks", 2, ("OMP_STACKSIZE", "256K")),
];

const CORNERS: [(&str, usize, (&str, &str)); 12] = [
    ("balanced", 3, ("OMP_DYNAMIC", "false")),
    ("limited", 3, ("OMP_DYNAMIC", "false")),
    ("unposted", 1, ("OMP_DYNAMIC", "false")),
    ("doacross", 2, ("OMP_DYNAMIC", "false")),
    ("doacross", 5, ("OMP_DYNAMIC", "false")),
    ("doacross of LLVM", 2, ("OMP_DYNAMIC", "false")),
    ("doacross of LLVM", 5, ("OMP_DYNAMIC", "false")),
    ("chain", 1, ("OMP_DYNAMIC", "false")),
    ("long chains", 1, ("OMP_MAX_TASK_PRIORITY", "1")),
    ("long chains", 3, ("OMP_MAX_TASK_PRIORITY", "1")),
    ("reserved", 1, ("OMP_DYNAMIC", "false")),
    ("reduced", 4, ("MANYCORE_OMP_HEED", "false")),
];

const BLOCKING: [(&str, usize, (&str, &str)); 3] = [
    ("polling", 0, ("OMP_DYNAMIC", "false")),
    ("names", 1, ("OMP_DYNAMIC", "false")),
    ("results", 0, ("OMP_DYNAMIC", "false")),
];

/// The cases that call functions of LLVM's.
const OF_LLVM: [&str; 6] = [
    "detached at once",
    "detached and dropped",
    "balanced",
    "limited",
    "unposted",
    "doacross of LLVM",
];

#[test]
fn edges() {
    each("edges", &CASES);
}

#[test]
fn blocking() {
    each("blocking", &BLOCKING);
}

#[test]
fn corners() {
    each("corners", &CORNERS);
}

/// Runs each case of a program.
fn each(name: &str, cases: &[(&str, usize, (&str, &str))]) {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let program = tempfile(name).join(name);
    compile_with(
        &["-ldl", "-pthread"],
        &source(&format!("{name}.c")),
        &program,
    )
    .expect("our programs can be compiled");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for &(case, ranks, variable) in cases {
        if OF_LLVM.contains(&case) && !cfg!(target_arch = "x86_64") {
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

/// Without a preload: the program loads the library, and a thread that has used it closes it before it ends.
#[test]
fn closed() {
    let Some(program) = built(&["-ldl", "-pthread"], "closed", "edges.c") else {
        return;
    };
    let arguments = [Path::new("closed"), &library()];
    let ours = text(&run_with(&program, &arguments, 2, &[], false));
    assert_eq!(ours, "ok\nexit status: 0");
}

/// A program has functions whose names begin like the runtime's, in a library of its own.
#[test]
fn own_names() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let folder = tempfile("own-names");
    let (program, library) = (folder.join("program"), folder.join("libsolver.so"));
    let [main, solver] = ["main.c", "solver.c"].map(|name| folder.join(name));
    let declared = "int omp_solve(void), kmp_search(void);";
    std::fs::write(
        &main,
        format!("{declared} int main(void) {{ return omp_solve() + kmp_search(); }}"),
    )
    .expect("a folder of ours");
    std::fs::write(
        &solver,
        "int omp_solve(void) { return 40; } int kmp_search(void) { return 2; }",
    )
    .expect("a folder of ours");
    compile_with(&["-shared", "-fPIC"], &solver, &library).expect("our libraries can be compiled");
    let (linked, path) = (
        library.display().to_string(),
        format!("-Wl,-rpath,{}", folder.display()),
    );
    compile_with(&[&linked, &path], &main, &program).expect("our programs can be compiled");
    let ours = run(&program, 2, &[], true);
    assert_eq!(ours.status.code(), Some(42), "{}", text(&ours));
}

/// `OMP_DISPLAY_ENV` shows some variables as GCC's library does.
#[test]
fn shown_settings() {
    let Some(program) = built(&["-ldl", "-pthread"], "shown", "blocking.c") else {
        return;
    };
    let show_as = |shown, variable, value, ours| {
        let variables = [("OMP_DISPLAY_ENV", "true"), (variable, value)];
        let text = text(&run_with(
            &program,
            &[Path::new("names")],
            1,
            &variables,
            ours,
        ));
        let name = format!("{shown} = ");
        let line = text.lines().find_map(|line| line.split_once(&name));
        line.map(|(_, value)| value.to_owned())
    };
    let show = |variable, value, ours| show_as(variable, variable, value, ours);
    // GCC 12's library does not know these.
    for (shown, variable, value, expected) in [
        ("OMP_SCHEDULE", "OMP_SCHEDULE_ALL", "guided,3", "'GUIDED,3'"),
        ("OMP_NUM_THREADS", "OMP_NUM_THREADS_ALL", "7", "'1'"),
        (
            "OMP_CANCELLATION",
            "OMP_CANCELLATION_ALL",
            "true",
            "'FALSE'",
        ),
        ("OMP_STACKSIZE", "KMP_STACKSIZE", "4m", "'4194304'"),
        ("OMP_STACKSIZE", "KMP_STACKSIZE", "200000", "'200000'"),
        ("OMP_STACKSIZE", "KMP_STACKSIZE", "1t", "'1099511627776'"),
        ("OMP_STACKSIZE", "OMP_STACKSIZE", "200", "'204800'"),
    ] {
        let ours = show_as(shown, variable, value, true);
        assert_eq!(ours.as_deref(), Some(expected), "{variable}={value}");
    }
    for (variable, value) in [
        ("OMP_SCHEDULE", "static"),
        ("OMP_SCHEDULE", "static,1"),
        ("OMP_SCHEDULE", "nonmonotonic:static,2"),
        ("OMP_SCHEDULE", "dynamic"),
        ("OMP_SCHEDULE", "monotonic:dynamic,1"),
        ("OMP_SCHEDULE", "guided,7"),
        ("OMP_SCHEDULE", "auto"),
        ("OMP_ALLOCATOR", "omp_null"),
        ("OMP_ALLOCATOR", "omp_thread_mem_alloc"),
    ] {
        let theirs = show(variable, value, false);
        assert!(theirs.is_some(), "{variable}={value}");
        assert_eq!(show(variable, value, true), theirs, "{variable}={value}");
    }
}

/// A complaint about a value names the variable that has it, and an example that is valid there.
#[test]
fn complaints() {
    let Some(program) = built(&["-ldl", "-pthread"], "complaints", "blocking.c") else {
        return;
    };
    let names = [Path::new("names")];
    for (variable, value, part) in [
        ("OMP_DYNAMIC_ALL", "2", "OMP_DYNAMIC_ALL=2: "),
        ("OMP_SCHEDULE_ALL", "fast", "OMP_SCHEDULE_ALL=fast: "),
        ("OMP_DYNAMIC", "2", "OMP_DYNAMIC=2: "),
        ("KMP_STACKSIZE", "512", "524288 (in bytes)"),
        ("OMP_STACKSIZE", "1", "512 (in KiB)"),
    ] {
        let ours = text(&run_with(&program, &names, 1, &[(variable, value)], true));
        assert!(ours.contains(part), "{variable}={value}: {ours}");
    }
    let variables = [
        ("OMP_DISPLAY_ENV", "true"),
        ("OMP_STACKSIZE", "1m"),
        ("KMP_STACKSIZE", "64m"),
    ];
    let ours = text(&run_with(&program, &names, 1, &variables, true));
    assert!(ours.contains("OMP_STACKSIZE = '67108864'"), "{ours}");
}
