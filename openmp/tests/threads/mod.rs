//! The members of a region have the properties of POSIX threads: signal masks, alternate stacks,
//! the kernel's data for a thread, the program's own allocator, an end by `pthread_exit`.
//!
//! Each program has words. Its output for a word depends neither on how many members there are nor
//! on luck: with GCC's library it is the expected one.

mod attack;

use super::{compile_with, has_compiler, number, run_with, source, tempfile, text};
use std::path::Path;

/// As many members as cores, which are threads, and more, which are carried.
fn sizes() -> [usize; 3] {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    [cores, cores + 1, 2 * cores + 1].map(|size| size.clamp(2, 64))
}

/// Runs the program with the word again and again, with cuts and without. A busy machine takes no worker
/// away: what goes wrong between two workers needs both.
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

/// The mask and the alternate stack of the first thread stay as it sets them between regions.
#[test]
fn the_first_thread_keeps_its_signals() {
    as_with_libgomp("signals", "first");
}

/// Ranks that go on with a spare worker do not take signals that all threads block.
#[test]
fn blocked_signals_stay_blocked() {
    as_with_libgomp("signals", "blocked");
}

/// The program's own timers and values are not taken for the library's.
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

/// The kernel hands such a mutex to the thread that its word names.
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
