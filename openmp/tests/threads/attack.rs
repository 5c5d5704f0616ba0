//! Random programs about signals and other thread state of the system: the output is that of GCC's library.
//!
//! `MANYCORE_SEED=7 cargo test -p manycore-openmp --test programs random_threads` runs the program of seed 7,
//! whose source stays in `target/tmp/openmp-attack`. A failure names the variables for a run by hand.

use super::super::{compile_by, has_compiler, number, random::system, run, tempfile, text};
use super::sizes;
use std::path::Path;

fn difference(ours: &str, theirs: &str) -> String {
    let lines = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
    let (ours, theirs) = (lines(ours), lines(theirs));
    let at = (0..)
        .find(|&at| ours.get(at) != theirs.get(at))
        .unwrap_or(0);
    let line = |lines: &[String]| lines.get(at).cloned().unwrap_or_default();
    format!(
        "line {}, of {} and {}:\n  ours:    {}\n  libgomp: {}",
        at + 1,
        ours.len(),
        theirs.len(),
        line(&ours),
        line(&theirs)
    )
}

/// If ranks are preempted, they also spin for each other, and are preempted all the time.
fn compare(program: &Path, ranks: usize, expected: &str, what: &str) {
    for (cuts, spins) in [("true", true), ("true", false), ("false", false)] {
        let mut variables = vec![("MANYCORE_OMP_HEED", "false"), ("MANYCORE_OMP_CUTS", cuts)];
        if spins {
            variables.push(("SPINS", "1"));
        }
        let ours = text(&run(program, ranks, &variables, true));
        assert!(
            ours == expected,
            "{what}, OMP_NUM_THREADS={ranks} {} {}\n{}",
            variables
                .iter()
                .map(|(name, value)| format!("{name}={value} "))
                .collect::<String>(),
            program.display(),
            difference(&ours, expected)
        );
    }
}

#[test]
fn random_threads() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let (first, count) = match number("MANYCORE_SEED") {
        Some(seed) => (seed, 1),
        None => (0, 12 * number("MANYCORE_SCHEDULES").unwrap_or(1)),
    };
    let folder = tempfile("attack");
    for seed in first..first + count {
        let made = system::program(seed);
        let source = folder.join(format!("{seed}.c"));
        std::fs::write(&source, made.text).expect("a folder of ours");
        let programs: Vec<_> = ["gcc", "clang"]
            .into_iter()
            .filter_map(|compiler| {
                let program = folder.join(format!("{seed}-{compiler}"));
                let made = compile_by(compiler, &["-pthread", "-latomic"], &source, &program);
                if made.is_none() {
                    assert_eq!(compiler, "clang", "generated programs can be compiled");
                    eprintln!("SKIPPED: no clang with OpenMP");
                }
                made.map(|()| (compiler, program))
            })
            .collect();
        for ranks in sizes() {
            // GCC compiled this program, which here uses GCC's library.
            let theirs = run(&programs[0].1, ranks, &[], false);
            assert!(theirs.status.success(), "GCC's library: {}", text(&theirs));
            for (compiler, program) in &programs {
                let what = format!(
                    "seed {seed} (set MANYCORE_SEED) about {:?}, {compiler}",
                    made.kinds
                );
                compare(program, ranks, &text(&theirs), &what);
            }
        }
    }
}
