//! Compiled programs with this library and with GCC's own: the same output.
//!
//! Without a C compiler that knows OpenMP nothing can be tested; each test then says so.
#![cfg(target_os = "linux")]

mod random;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The library: beside this test's own program, where cargo has put it.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a program has a path");
    let folder = test.parent().expect("it is in a folder");
    let library = folder.join("libmanycore_gomp.so");
    if library.exists() {
        return library;
    }
    folder
        .parent()
        .expect("deps is in a folder")
        .join("libmanycore_gomp.so")
}

/// Whether there is a compiler with OpenMP, whose own library is libgomp.
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

fn compile(source: &Path, program: &Path) -> Option<()> {
    let mut compiler = Command::new("gcc");
    compiler
        .args(["-O1", "-w", "-fopenmp", "-o"])
        .arg(program)
        .arg(source);
    let output = compiler.output().ok()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    output.status.success().then_some(()).or_else(|| {
        eprintln!("{errors}");
        None
    })
}

/// Runs a program to its end; one that hangs is killed, and fails the test.
fn run(program: &Path, ranks: usize, variables: &[(&str, &str)], ours: bool) -> Output {
    let mut command = Command::new("timeout");
    command
        .arg("60")
        .arg(program)
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

/// The program of this name, with each number of ranks: as with GCC's library and two threads. What
/// these programs write does not depend on how many there are.
fn same(name: &str, ranks: &[usize]) {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let folder = tempfile(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.c"));
    let program = folder.join(name);
    compile(&source, &program).expect("our programs can be compiled");
    let variables = [("OMP_CANCELLATION", "true"), ("OMP_MAX_TASK_PRIORITY", "5")];
    let theirs = run(&program, 2, &variables, false);
    assert!(theirs.status.success(), "GCC's library: {}", text(&theirs));
    for &ranks in ranks {
        let ours = run(&program, ranks, &variables, true);
        assert_eq!(text(&ours), text(&theirs), "{name} with {ranks} ranks");
    }
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

#[test]
fn cancellation() {
    same("cancel", &[1, 2, 4]);
}

/// What programs do beside OpenMP: fork, exit in a region, threads of their own that call in,
/// libraries loaded late, signals.
#[test]
fn surroundings() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let folder = tempfile("surroundings");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/surroundings.c");
    let program = folder.join("surroundings");
    compile(&source, &program).expect("our programs can be compiled");
    for ranks in [1, 2, 5] {
        // A child of GCC's library would hang.
        let ours = run(&program, ranks, &[], true);
        let expected = "threads 40\nfork 7\nsignals 1\nexit";
        let text = text(&ours);
        assert!(text.starts_with(expected), "{ranks} ranks: {text}");
        assert_eq!(ours.status.code(), Some(3), "{text}");
    }
}

#[test]
fn random_mixtures() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let folder = tempfile("random");
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let (first, count) = match number("MANYCORE_SEED") {
        Some(seed) => (seed, 1),
        None => (0, 2 * number("MANYCORE_SCHEDULES").unwrap_or(1)),
    };
    for seed in first..first + count {
        let (source, program) = (folder.join("program.c"), folder.join("program"));
        std::fs::write(&source, random::program(seed)).expect("a folder of ours");
        compile(&source, &program).expect("generated programs can be compiled");
        for ranks in [1, 2, 3, 16] {
            let output = run(&program, ranks, &[], true);
            assert!(
                output.status.success(),
                "seed {seed} (set MANYCORE_SEED), {ranks} ranks: {}",
                text(&output)
            );
        }
    }
}

/// Every function that GCC's library has: were one missing here, its own would be called.
#[test]
fn nothing_is_missing() {
    let names = |library: &Path| -> Option<std::collections::BTreeSet<String>> {
        let output = Command::new("nm")
            .args(["-D", "--defined-only"])
            .arg(library)
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let symbols = text.lines().filter_map(|line| {
            let mut words = line.split_whitespace().skip(1);
            let kind = words.next()?;
            (kind != "A").then(|| words.next()?.split('@').next().map(String::from))?
        });
        output.status.success().then(|| symbols.collect())
    };
    let theirs = [
        "/usr/lib/x86_64-linux-gnu/libgomp.so.1",
        "/usr/lib/aarch64-linux-gnu/libgomp.so.1",
    ];
    let Some(theirs) = theirs.iter().find_map(|path| names(Path::new(path))) else {
        return eprintln!("SKIPPED: no libgomp, or no nm");
    };
    let ours = names(&library()).expect("our library was built with this test");
    let missing: Vec<_> = theirs.difference(&ours).collect();
    assert!(
        theirs.len() > 100 && missing.is_empty(),
        "missing: {missing:?}"
    );
}

/// Variables that cannot be read are named with what was expected, and ignored.
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
