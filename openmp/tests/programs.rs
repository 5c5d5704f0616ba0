//! Compiled programs have the same output with this library and with GCC's.
//!
//! Without a C compiler that supports OpenMP, each test prints that it is skipped.
#![cfg(target_os = "linux")]

mod around;
mod clang;
mod edges;
mod limits;
mod places;
mod random;
mod ranks;
mod symbols;
mod threads;
mod tools;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const VARIABLES: [(&str, &str); 2] = [("OMP_CANCELLATION", "true"), ("OMP_MAX_TASK_PRIORITY", "5")];

/// Returns the library's path. Cargo puts it beside this test program.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a program has a path");
    let folder = test.parent().expect("the test is in a folder");
    let library = folder.join("libmanycore_gomp.so");
    if library.exists() {
        return library;
    }
    folder
        .parent()
        .expect("deps is in a folder")
        .join("libmanycore_gomp.so")
}

/// Returns whether there is a compiler with OpenMP that uses libgomp.
fn has_compiler() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        let folder = tempfile("compiler");
        let source = folder.join("empty.c");
        std::fs::write(
            &source,
            "#include <omp.h>\nint main(void) { return omp_get_level(); }\n",
        )
        .expect("a folder of ours");
        compile(&source, &folder.join("empty")).is_some()
    })
}

fn tempfile(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("openmp-{name}"));
    std::fs::create_dir_all(&folder).expect("cargo's folder for tests is writable");
    folder
}

/// Returns the path of a file in `tests/programs`.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}"))
}

/// Compiles `file` of `tests/programs` with these flags, to a program in `folder`. Returns `None` and says so if there
/// is no compiler.
fn built(flags: &[&str], folder: &str, file: &str) -> Option<PathBuf> {
    if !has_compiler() {
        eprintln!("SKIPPED: no gcc with OpenMP");
        return None;
    }
    let program = tempfile(folder).join(Path::new(file).with_extension(""));
    compile_with(flags, &source(file), &program).expect("our programs can be compiled");
    Some(program)
}

fn compile(source: &Path, program: &Path) -> Option<()> {
    compile_with(&[], source, program)
}

fn compile_with(flags: &[&str], source: &Path, program: &Path) -> Option<()> {
    let is_cpp = source.extension().is_some_and(|end| end == "cpp");
    compile_by(if is_cpp { "g++" } else { "gcc" }, flags, source, program)
}

fn compile_by(compiler: &str, flags: &[&str], source: &Path, program: &Path) -> Option<()> {
    let mut compiler = Command::new(compiler);
    compiler
        .args(["-O1", "-w", "-fopenmp", "-o"])
        .arg(program)
        .arg(source)
        .args(flags);
    let output = compiler.output().ok()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    output.status.success().then_some(()).or_else(|| {
        eprintln!("{errors}");
        None
    })
}

/// Runs a program to its end. A program that hangs is killed, and fails the test.
fn run(program: &Path, ranks: usize, variables: &[(&str, &str)], ours: bool) -> Output {
    run_with(program, &[], ranks, variables, ours)
}

fn run_with(
    program: &Path,
    arguments: &[&Path],
    ranks: usize,
    variables: &[(&str, &str)],
    ours: bool,
) -> Output {
    let mut command = Command::new("timeout");
    command
        .arg("60")
        .arg(program)
        .args(arguments)
        .env("OMP_NUM_THREADS", ranks.to_string());
    command.envs(variables.iter().copied());
    if ours {
        command.env("LD_PRELOAD", library());
    }
    let began = Instant::now();
    let output = command.output().expect("`timeout` is there");
    assert!(
        began.elapsed() < Duration::from_secs(59),
        "{} with {ranks} ranks hangs (ours: {ours})",
        program.display()
    );
    output
}

fn text(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    format!(
        "{}{errors}{}",
        String::from_utf8_lossy(&output.stdout),
        output.status
    )
}

/// The number of runs of one program: a single run may be right by luck.
fn repetitions() -> u64 {
    4 * number("MANYCORE_SCHEDULES").unwrap_or(1)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Runs the program repeatedly with each number of ranks. The output is always the same.
fn always(program: &Path, ranks: &[usize], expected: &str) {
    for _ in 0..repetitions() {
        for &ranks in ranks {
            let ours = text(&run(program, ranks, &VARIABLES, true));
            assert_eq!(ours, expected, "{} with {ranks} ranks", program.display());
        }
    }
}

/// Runs the program with each number of ranks. The output is that of GCC's library with two threads: it does
/// not depend on the number of threads.
fn same(name: &str, ranks: &[usize]) {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let folder = tempfile(name);
    let program = folder.join(name);
    compile(&source(&format!("{name}.c")), &program).expect("our programs can be compiled");
    let theirs = run(&program, 2, &VARIABLES, false);
    assert!(theirs.status.success(), "GCC's library: {}", text(&theirs));
    always(&program, ranks, &text(&theirs));
}

#[test]
fn loops() {
    same("loops", &[1, 2, 5]);
}

#[test]
fn constructs() {
    same("constructs", &[1, 2, 3, 8]);
}

#[test]
fn tasks() {
    same("tasks", &[1, 2, 3, 8]);
}

/// Seldom used parts of the interface. The program controls the allotment of threads.
#[test]
fn surfaces() {
    same("surfaces", &[2]);
}

/// Objects that C++ constructs and destroys, with both compilers.
#[test]
fn objects() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let program = tempfile("objects").join("objects");
    for compiler in ["g++", "clang++"] {
        if compile_by(compiler, &["-latomic"], &source("objects.cpp"), &program).is_none() {
            eprintln!("SKIPPED: no {compiler} with OpenMP");
            continue;
        }
        let expected = "wrong 0 living 0 sum 7239 product 1\nexit status: 0";
        always(&program, &[1, 2, 3, 8], expected);
    }
}

#[test]
fn cancellation() {
    same("cancel", &[1, 2, 4]);
}

/// A program's actions outside OpenMP: fork, exit in a region, regions of its own threads, signals, children.
#[test]
fn surroundings() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let folder = tempfile("surroundings");
    let program = folder.join("surroundings");
    compile(&source("surroundings.c"), &program).expect("our programs can be compiled");
    for ranks in [1, 2, 5] {
        // A child would hang with GCC's library.
        let ours = run(&program, ranks, &[], true);
        let expected = "threads 40\nfork 7\nsignals 1\ntimer 0\nexit";
        let text = text(&ours);
        assert!(text.starts_with(expected), "{ranks} ranks: {text}");
        assert_eq!(ours.status.code(), Some(3), "{text}");
    }
}

/// The same at random, with nested regions, changing masks, exceptions and a rank that blocks in the kernel.
#[test]
fn random_surroundings() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let folder = tempfile("mixtures");
    let (program, library) = (folder.join("mixtures"), folder.join("late_library.so"));
    if compile_with(&["-ldl", "-pthread"], &source("mixtures.cpp"), &program).is_none() {
        return eprintln!("SKIPPED: no g++");
    }
    compile_with(&["-shared", "-fPIC"], &source("late_library.c"), &library)
        .expect("our libraries can be compiled");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for seed in 0..2 * number("MANYCORE_SCHEDULES").unwrap_or(1) {
        for ranks in [1, cores, cores + 1, 2 * cores + 5] {
            let seed = seed.to_string();
            let ours = run_with(&program, &[Path::new(&seed), &library], ranks, &[], true);
            let text = text(&ours);
            assert_eq!(text, "ok\nexit status: 3", "seed {seed}, {ranks} ranks");
        }
    }
}

/// A library with regions is loaded late, closed and loaded again.
#[test]
fn loaded_late() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let folder = tempfile("late");
    let (program, library) = (folder.join("late"), folder.join("late_library.so"));
    compile_with(&["-ldl"], &source("late.c"), &program).expect("our programs can be compiled");
    compile_with(&["-shared", "-fPIC"], &source("late_library.c"), &library)
        .expect("our libraries can be compiled");
    let ours = text(&run_with(&program, &[&library], 2, &[], true));
    assert_eq!(ours, "late 0\nlate 0\nlate 0\naround 5 5\nexit status: 0");
}

#[test]
fn exceptions() {
    let program = tempfile("exceptions").join("exceptions");
    if !has_compiler() || compile(&source("exceptions.cpp"), &program).is_none() {
        return eprintln!("SKIPPED: no g++ with OpenMP");
    }
    for ranks in [1, 2, 5] {
        let ours = text(&run(&program, ranks, &[], true));
        let expected = "caught 1 wrong 0\ntasks 200\nexit status: 0";
        assert_eq!(ours, expected, "{ranks} ranks");
        // An exception that leaves a region ends the program, as with GCC's library.
        let ours = run_with(&program, &[Path::new("out")], ranks, &[], true);
        assert_eq!(
            ours.status.code(),
            Some(4),
            "{ranks} ranks: {}",
            text(&ours)
        );
    }
}

/// Random constructs, nested and in sequence, with both compilers.
#[test]
fn random_mixtures() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let folder = tempfile("random");
    let (first, count) = match number("MANYCORE_SEED") {
        Some(seed) => (seed, 1),
        None => (0, 6 * number("MANYCORE_SCHEDULES").unwrap_or(1)),
    };
    for seed in first..first + count {
        let (source, program) = (folder.join("program.c"), folder.join("program"));
        std::fs::write(&source, random::program(seed)).expect("a folder of ours");
        for compiler in ["gcc", "clang"] {
            if compile_by(compiler, &["-latomic", "-lm"], &source, &program).is_none() {
                assert_eq!(compiler, "clang", "generated programs can be compiled");
                eprintln!("SKIPPED: no clang with OpenMP");
                continue;
            }
            for ranks in [1, 2, 3, 16] {
                for cancellation in ["true", "false"] {
                    let variables = [("OMP_CANCELLATION", cancellation)];
                    let output = run(&program, ranks, &variables, true);
                    assert!(
                        output.status.success(),
                        "{compiler}, seed {seed} (set MANYCORE_SEED), {ranks} ranks, cancellation {cancellation}: {}",
                        text(&output)
                    );
                }
            }
        }
    }
}

/// The library names each variable that it cannot parse, with the expected form, and ignores it.
#[test]
fn bad_variables_are_named() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let program = tempfile("compiler").join("empty");
    for (name, value) in [
        ("OMP_NUM_THREADS", "0"),
        ("OMP_SCHEDULE", "dynamic,0"),
        ("OMP_PROC_BIND", "near"),
        ("OMP_PLACES", "{0:"),
        ("OMP_STACKSIZE", "1"),
        ("OMP_WAIT_POLICY", "lazy"),
        ("OMP_DISPLAY_ENV", "loud"),
        ("OMP_THREAD_LIMIT", "-1"),
    ] {
        let errors = text(&run(&program, 2, &[(name, value)], true));
        let expected = format!("manycore-openmp: {name}={value}: expected ");
        assert!(errors.contains(&expected), "{name}: {errors}");
    }
    let shown = text(&run(&program, 3, &[("OMP_DISPLAY_ENV", "verbose")], true));
    assert!(shown.contains("OMP_NUM_THREADS = '3'") && shown.contains("MANYCORE_VERSION"));
}
