//! `manycore new-program`.

use crate::Bench;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The folder of this build. It has all dependencies, so another build there requires no network, and CI has compiled
/// the procedural macros.
fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("cargo makes this folder in the target folder")
}

#[test]
fn the_program_builds_and_prints_what_the_guide_says() {
    let bench = Bench::new();
    bench.run("new-program my-lock").ok();
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
    fs::copy(lock, bench.path("my-lock/Cargo.lock")).unwrap();
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .args(["run", "--quiet", "--offline", "--"])
            .args(args)
            .env("CARGO_TARGET_DIR", target())
            .current_dir(bench.path("my-lock"))
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    };
    let native = run(&[]);
    assert!(native.starts_with("natively, "), "{native}");
    let simulated = run(&["atac-64", "cores=16"]);
    assert!(simulated.contains("16 threads: 2048 rounds"), "{simulated}");
    assert!(simulated.contains("cycle stack of 16 cores"), "{simulated}");
    assert!(simulated.contains("cycles waited  lock"), "{simulated}");
    // A second run prints the same.
    assert_eq!(run(&["atac-64", "cores=16"]), simulated);
    assert!(bench.path("my-lock/timeline.json").exists());

    // The guide prints the first lines for this lock and for its ticket lock.
    let mut lines = GUIDE
        .lines()
        .filter(|line| line.starts_with("simulated: atac-64, 64 "));
    assert_eq!(run(&["atac-64"]).lines().next(), lines.next());
    let main = bench.path("my-lock/src/main.rs");
    let edited = with_ticket_lock(&fs::read_to_string(&main).unwrap());
    fs::write(&main, edited).unwrap();
    assert_eq!(run(&["atac-64"]).lines().next(), lines.next());
    assert_eq!(lines.next(), None);
}

/// The guide's page about this program.
const GUIDE: &str = include_str!("../../../../docs/guide/simulated-lock.md");

/// The program after the edits that the guide describes.
fn with_ticket_lock(program: &str) -> String {
    let blocks = |fence| {
        let rests = GUIDE.split(fence).skip(1);
        rests.map(|rest| rest.split_once("```").unwrap().0)
    };
    let hidden_line_and_lock = blocks("```rust\n").next().unwrap();
    let lock = hidden_line_and_lock.split_once('\n').unwrap().1;
    let mut small_edits = blocks("```rust,ignore\n");
    let (making, name) = (small_edits.next().unwrap(), small_edits.next().unwrap());

    let begin = program.find("/// A lock on its own").unwrap();
    let end = program.find("/// A barrier").unwrap();
    let (before, after) = (&program[..begin], &program[end..]);
    let mut edited = format!("{before}{lock}\n");
    for line in after.lines() {
        match line.trim_start() {
            made if made.starts_with("lock: Lock(") => edited.push_str(making),
            "// Statistics show these names." => edited.push_str(&format!("{line}\n{name}")),
            _ => edited.push_str(&format!("{line}\n")),
        }
    }
    edited
}

#[test]
fn clippy_reports_an_atomic_that_the_machine_does_not_see() {
    let bench = Bench::new();
    bench.run("new-program my-lock").ok();
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
    fs::copy(lock, bench.path("my-lock/Cargo.lock")).unwrap();
    let clippy = |args: &[&str]| {
        Command::new(env!("CARGO"))
            .arg("clippy")
            .args(args)
            .env("CARGO_TARGET_DIR", target())
            .current_dir(bench.path("my-lock"))
            .output()
            .unwrap()
    };
    if !clippy(&["--version"]).status.success() {
        eprintln!("skipped: no clippy here");
        return;
    }
    let told = || String::from_utf8(clippy(&["--offline"]).stderr).unwrap();
    let before = told();
    assert!(!before.contains("warning"), "{before}");
    let main = bench.path("my-lock/src/main.rs");
    let text = fs::read_to_string(&main).unwrap();
    fs::write(
        &main,
        text + "\npub static COUNT: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(0);\n",
    )
    .unwrap();
    let after = told();
    assert!(
        after.contains("disallowed type") && after.contains("P::AtomicU32"),
        "{after}"
    );
}

#[test]
fn existing_files_stay_as_they_are() {
    let bench = Bench::new();
    fs::create_dir(bench.path("mine")).unwrap();
    fs::write(bench.path("mine/notes"), "keep").unwrap();
    fs::write(bench.path("file"), "keep").unwrap();
    for name in ["mine", "file"] {
        let run = bench.run(&format!("new-program {name}"));
        run.refused(&format!("{name} | exists already"));
    }
    assert_eq!(bench.names("mine"), ["notes"]);
    bench
        .run("new-program new --manycore mine")
        .refused("--manycore mine | simulator/chip");
    bench
        .run("new-program ../up")
        .refused("../up | expected the name of a crate");
    assert_eq!(bench.names("."), ["file", "mine"]);
}
