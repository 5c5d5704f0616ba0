//! The members of a region have the properties of POSIX threads: signal masks, alternate stacks, the kernel's
//! data for a thread, the program's own allocator, an end by `pthread_exit`.
//!
//! Each program has an argument. For each argument, the output depends neither on the number of members nor
//! on luck. It must be the output with GCC's library.

mod attack;

use super::{compile_with, has_compiler, number, run_with, source, tempfile, text};
use std::path::Path;

/// As many members as cores, which are threads, and more members, which are carried ranks.
fn sizes() -> [usize; 3] {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    [cores, cores + 1, 2 * cores + 1].map(|size| size.clamp(2, 64))
}

/// Runs the program with the argument repeatedly, with preemption and without. No worker leaves its core on a
/// busy machine: faults between two workers need both.
fn as_with_libgomp(name: &str, word: &str) {
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    let program = tempfile("threads").join(format!("{name}-{word}"));
    compile_with(&["-pthread"], &source(&format!("{name}.c")), &program)
        .expect("our programs can be compiled");
    let words = [Path::new(word)];
    let theirs = run_with(&program, &words, 3, &[], false);
    assert!(theirs.status.success(), "GCC's library: {}", text(&theirs));
    for _ in 0..2 * number("MANYCORE_SCHEDULES").unwrap_or(1) {
        for cuts in ["true", "false"] {
            for ranks in sizes() {
                let variables = [("MANYCORE_OMP_HEED", "false"), ("MANYCORE_OMP_CUTS", cuts)];
                let ours = run_with(&program, &words, ranks, &variables, true);
                assert_eq!(
                    text(&ours),
                    text(&theirs),
                    "{name} {word}, {ranks} ranks, cuts {cuts}"
                );
            }
        }
    }
}

#[test]
fn masks_are_each_ranks_own() {
    as_with_libgomp("signals", "masks");
}

#[test]
fn alternate_stacks_are_each_ranks_own() {
    as_with_libgomp("signals", "stacks");
}

/// The first thread keeps the mask and the alternate stack that it sets between regions.
#[test]
fn the_first_thread_keeps_its_signals() {
    as_with_libgomp("signals", "first");
}

/// A rank that continues on a spare worker does not take signals that all threads block.
#[test]
fn blocked_signals_stay_blocked() {
    as_with_libgomp("signals", "blocked");
}

/// The library does not treat the program's timers and values as its own.
#[test]
fn signals_of_the_program_reach_it() {
    as_with_libgomp("signals", "foreign");
}

#[test]
fn handlers_on_alternate_stacks() {
    as_with_libgomp("signals", "alternate");
}

#[test]
fn the_cpu_of_a_rank() {
    as_with_libgomp("kernel_thread", "cpu");
}

#[test]
fn segment_bases_are_each_ranks_own() {
    as_with_libgomp("kernel_thread", "segment");
}

#[test]
fn mutexes_of_all_kinds() {
    as_with_libgomp("kernel_thread", "mutexes");
}

/// The kernel gives such a mutex to the thread that the mutex's word names.
#[test]
fn mutexes_with_priority_inheritance() {
    as_with_libgomp("kernel_thread", "inheriting");
}

#[test]
fn identifiers_of_users_between_regions() {
    as_with_libgomp("kernel_thread", "user");
}

#[test]
fn identifiers_of_users_in_regions() {
    as_with_libgomp("kernel_thread", "user-inside");
}

#[test]
fn the_first_thread_ends_before_the_process() {
    as_with_libgomp("ending", "last");
    as_with_libgomp("ending", "regions");
}

#[test]
fn allocators_of_the_program() {
    for lock in ["mutex", "spin", "yield", "pthread_spin_lock"] {
        as_with_libgomp("allocator", lock);
    }
}

#[test]
fn ranks_that_yield_let_others_run() {
    for word in ["ring", "sleep", "locks"] {
        as_with_libgomp("yields", word);
    }
}
