//! Carried ranks: they wait for each other, are cut at any instruction, and keep their registers and their time.

use super::{
    VARIABLES, built, compile, compile_with, has_compiler, run, run_with, source, tempfile, text,
};
use std::path::Path;

/// Ranks wait for each other in each way that the system offers.
#[test]
fn waits() {
    let Some(program) = built(&[], "waits", "waits.cpp") else {
        return;
    };
    let ways = [
        "barrier",
        "clock",
        "condition",
        "deadline",
        "futex",
        "loop",
        "mixed",
        "mutex",
        "pause",
        "pipe",
        "poll",
        "semaphore",
        "sleep",
        "sleep0",
        "spinlock",
        "testandset",
        "testlock",
        "thread",
        "timed",
        "yield",
    ];
    for way in ways {
        for ranks in [2, 3, 5] {
            let arguments = [way, "24", "3000"].map(Path::new);
            let ours = text(&run_with(&program, &arguments, ranks, &VARIABLES, true));
            let expected = format!("{way}: all turns in order\nexit status: 0");
            assert_eq!(ours, expected, "{ranks} ranks");
        }
    }
}

/// Ranks that sleep or wait with a time limit do so to the end, even if signals preempt them.
#[test]
fn sleeping() {
    let Some(program) = built(&[], "sleeping", "sleeping.c") else {
        return;
    };
    let kinds = 0..6;
    let lines: String = kinds
        .map(|kind| format!("{kind}: 0 early, 0 broken off\n"))
        .collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for ranks in [1, cores, cores + 1, 3 * cores] {
        let ours = text(&run(&program, ranks.min(64), &[], true));
        assert_eq!(ours, format!("{lines}exit status: 0"), "{ranks} ranks");
    }
}

/// The library's signals end no call of a rank early: with a mask or a time limit, called by the C library,
/// by `syscall` or by an instruction.
#[test]
fn interrupted() {
    let Some(program) = built(&[], "interrupted", "interrupted.c") else {
        return;
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for ranks in [cores, cores + 1, 2 * cores + 1] {
        let rounds = [Path::new("2")];
        let ours = text(&run_with(&program, &rounds, ranks.min(64), &[], true));
        let expected = "all calls lasted for their time\nexit status: 0";
        assert_eq!(ours, expected, "{ranks} ranks");
    }
}

/// Ranks are preempted at any instruction and keep their own data. `ci/openmp.sh stress` runs this for ten
/// minutes.
#[test]
fn cut_anywhere() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let program = tempfile("stress").join("stress");
    if compile(&source("stress.cpp"), &program).is_none() {
        return eprintln!("SKIPPED: no g++");
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for (ranks, cuts) in [
        (2, "true"),
        (cores + 1, "true"),
        (9, "true"),
        (cores + 1, "false"),
    ] {
        let output = run(&program, ranks, &[("MANYCORE_OMP_CUTS", cuts)], true);
        let text = text(&output);
        assert!(
            text.starts_with("ok\n"),
            "{ranks} ranks, cuts {cuts}: {text}"
        );
    }
}

/// Ranks that spin, in loops compiled with much optimisation and with none.
#[test]
fn spinning() {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for level in ["-O0", "-O3"] {
        let program = tempfile("spin").join(format!("spin{level}"));
        compile_with(&[level], &source("spin.c"), &program).expect("our programs can be compiled");
        // If there are at most as many ranks as cores, they are system threads, which are slow on a busy
        // machine.
        for ranks in [1, cores + 1, 4 * cores].map(|ranks| ranks.min(64)) {
            let ours = text(&run(&program, ranks, &[], true));
            let expected = "rings 0 0 0 0 0 0\nlocks 0 0\nbarrier 0\nexit status: 0";
            assert_eq!(ours, expected, "{level}, {ranks} ranks");
        }
    }
}

/// A worker loses its core in the middle of a long interval: its rank does not end there.
#[test]
fn a_rank_leaves_a_core_that_is_taken_away() {
    let Some(program) = built(&[], "leave", "leave.c") else {
        return;
    };
    let ours = text(&run(&program, 3, &[("MANYCORE_OMP_HEED", "false")], true));
    if ours.starts_with("never tried") {
        return eprintln!("SKIPPED: no second core");
    }
    assert_eq!(ours, "left\nexit status: 0");
}

/// Ranks keep their matrix registers (AMX) and their vector registers.
#[test]
fn matrices() {
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if !has_compiler() || !processor.contains(" amx_tile") {
        return eprintln!("SKIPPED: no gcc with OpenMP, or no matrix registers");
    }
    let program = tempfile("matrices").join("matrices");
    let flags = ["-mamx-tile", "-mavx512f"];
    if compile_with(&flags, &source("matrices.c"), &program).is_none() {
        return eprintln!("SKIPPED: this gcc knows no matrix registers");
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for ranks in [1, cores, cores + 1, 3 * cores] {
        let ours = text(&run(&program, ranks.min(64), &[], true));
        if ours.starts_with("refused") {
            return eprintln!("SKIPPED: the system grants no matrix registers");
        }
        assert_eq!(ours, "0 wrong\nexit status: 0", "{ranks} ranks");
    }
}

/// A rank has read a kernel thread's number. A signal to that thread is handled even between regions.
#[test]
fn known_number() {
    let Some(program) = built(&[], "known-number", "known_number.c") else {
        return;
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for ranks in [cores, cores + 1, 2 * cores + 1] {
        let ours = text(&run(&program, ranks.min(64), &[], true));
        let expected = "0 handlers have not run\nexit status: 0";
        assert_eq!(ours, expected, "{ranks} ranks");
    }
}
