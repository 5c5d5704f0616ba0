//! A program's work before, beside and between its regions.

use super::{built, compile_with, run, run_with, source, text};

/// Numbers of ranks: one for threads, one for carried ranks.
fn sizes() -> [usize; 2] {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    [cores.clamp(2, 64), (2 * cores + 1).min(64)]
}

#[test]
fn a_region_while_a_library_is_loaded() {
    let Some(program) = built(&["-ldl"], "around", "constructor.c") else {
        return;
    };
    let library = program.with_file_name("constructor_library.so");
    compile_with(
        &["-shared", "-fPIC"],
        &source("constructor_library.c"),
        &library,
    )
    .expect("our libraries can be compiled");
    for ranks in sizes() {
        let ours = text(&run_with(&program, &[&library], ranks, &[], true));
        assert_eq!(
            ours,
            "all members\n".repeat(3) + "exit status: 0",
            "{ranks} ranks"
        );
    }
}

#[test]
fn handlers_have_a_megabyte() {
    let Some(program) = built(&["-ldl"], "around", "deep_handler.c") else {
        return;
    };
    for ranks in sizes() {
        let ours = text(&run(&program, ranks, &[], true));
        assert_eq!(ours, "handled\nexit status: 0", "{ranks} ranks");
    }
}

#[test]
fn a_process_rests() {
    let Some(program) = built(&[], "around", "rest.c") else {
        return;
    };
    for ranks in sizes() {
        let ours = text(&run(&program, ranks, &[], true));
        let expected = "members: all\nwake-ups: few\nmembers: all\nexit status: 0";
        assert_eq!(ours, expected, "{ranks} ranks");
    }
}

/// The library reads the system's files when the program first needs them.
#[test]
fn a_process_without_regions_reads_nothing() {
    let Some(program) = built(&["-ldl"], "around", "idle.c") else {
        return;
    };
    let reads = |ours| {
        let output = run(&program, 1, &[("OMP_NUM_THREADS", "")], ours);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.trim().parse::<i64>().expect("a number")
    };
    let theirs = reads(false);
    if theirs < 0 {
        return eprintln!("SKIPPED: the system does not count reads");
    }
    // The loader reads the heads of the libraries that this library needs.
    let ours = reads(true);
    assert!(ours < theirs + 10, "{ours} {theirs}");
}
