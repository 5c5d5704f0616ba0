//! C programs of `ci/riscv`, compiled here, in the simulator and in qemu-user.
//!
//! Without `riscv64-linux-gnu-gcc`, these tests are skipped with a message. Without `qemu-riscv64`, only the output
//! that a test expects is compared.

use super::Kept;
use crate::Program;
use manycore_chip::config::Config;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const COMPILER: &str = "riscv64-linux-gnu-gcc";

/// A compiled program, in a folder of its own.
struct Compiled {
    name: &'static str,
    file: PathBuf,
    _folder: tempfile::TempDir,
}

/// Compiles a program. Returns `None` if there is no compiler.
fn compile(name: &'static str) -> Option<Compiled> {
    let folder = tempfile::tempdir().expect("a folder");
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci/riscv");
    let file = folder.path().join("program");
    let done = Command::new(COMPILER)
        .args(["-O2", "-pthread", "-static", "-w"])
        .arg(programs.join(name))
        .arg("-o")
        .arg(&file)
        .status();
    let Ok(status) = done else {
        eprintln!("SKIPPED: {COMPILER} is not installed (apt-get install gcc-riscv64-linux-gnu)");
        return None;
    };
    assert!(status.success(), "{name} does not compile");
    Some(Compiled {
        name,
        file,
        _folder: folder,
    })
}

impl Compiled {
    /// The program's output in the simulator, without a machine and on one.
    fn ours(&self) -> [String; 2] {
        let machine = Config::preset("dahu").expect("the preset is there");
        [None, Some(&machine)].map(|machine| {
            let kept = Kept::default();
            let program = Program::new(&self.file)
                .streams(kept.clone(), kept.clone())
                .memory(64 << 20);
            let outcome = match machine {
                None => program.run_functionally(4),
                Some(machine) => program.run(machine),
            };
            let text = || String::from_utf8(kept.take()).expect("it is text");
            let name = self.name;
            let outcome = outcome.unwrap_or_else(|error| panic!("{name}: {error}, {}", text()));
            assert_eq!(outcome.status, 0, "{name}: {:?}", outcome.message);
            text()
        })
    }

    /// The program's output in qemu, or `None` without qemu.
    fn qemu(&self) -> Option<String> {
        let output = Command::new("timeout")
            .args(["-s", "KILL", "60", "qemu-riscv64"])
            .arg(&self.file)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output();
        let output = output
            .ok()
            .filter(|output| output.status.code() != Some(127))?;
        assert!(output.status.success(), "{}: {output:?}", self.name);
        Some(String::from_utf8(output.stdout).expect("it is text"))
    }
}

/// Compares a program's output with qemu's.
fn compare(name: &'static str) {
    let Some(program) = compile(name) else {
        return;
    };
    let ours = program.ours();
    assert_eq!(ours[0], ours[1], "{name} without a machine, and on one");
    if let Some(theirs) = program.qemu() {
        assert_eq!(ours[0], theirs, "{name} here, and in qemu");
    }
}

/// Compares the output of a program that qemu does not run with a text.
fn expect(name: &'static str, text: &str) {
    for ours in compile(name).iter().flat_map(Compiled::ours) {
        assert_eq!(ours, text, "{name}");
    }
}

#[test]
fn processes_that_map_read_and_write_one_file_see_the_same_bytes() {
    compare("programs/sharing.c");
}

#[test]
fn files_are_emptied_and_written_at_their_ends() {
    compare("programs/appending.c");
}

#[test]
fn a_call_that_cannot_go_on_returns_what_it_has_moved() {
    compare("programs/partial.c");
}

#[test]
fn sockets_wait_for_their_limits_and_for_all_bytes() {
    compare("programs/limited.c");
}

#[test]
fn an_alarm_goes_to_a_thread_that_takes_it() {
    compare("programs/alarms.c");
}

#[test]
fn what_a_handler_blocks_goes_to_another_thread_or_keeps_its_order() {
    let lines = ["by a spinner: 1", "by a sleeper: 1", "alarms: 1"];
    let queued = [1, 2, 3, 4].map(|value| format!("queued: {value}\n"));
    let text = lines.map(|line| line.to_owned() + "\n").concat() + &queued.concat();
    expect("handed.c", &(text + "pending: 11\n"));
}

#[test]
fn a_file_reports_the_signals_of_timers_that_no_thread_takes() {
    compare("programs/rung.c");
}

#[test]
fn masks_of_waits_and_short_options_and_what_a_mapping_wrote_are_as_under_linux() {
    let waits = ["ppoll", "pselect", "epoll"].map(|wait| format!("{wait}: 0 1\n"));
    let text = "again\n".to_owned() + &waits.concat();
    expect(
        "unlike.c",
        &(text + "0, 7 500000, 12\n-1 22\nbeside: 0 1\n"),
    );
}

#[test]
fn an_empty_range_of_shared_memory_is_mapped_a_second_time() {
    let one = |what| {
        let seen = "by the old address, by the new address, by a child, 1";
        format!("{what}: {seen}\nby the old address\n")
    };
    let mut text: String = ["file", "shared", "fixed"].map(one).concat();
    text += "private: error 22\nprivate file: error 22\nmay not move: error 12\n";
    text += "to itself: error 14\n";
    expect("twice.c", &text);
}

#[test]
fn a_conditional_store_fails_after_a_change_that_was_undone() {
    let one = |attempts, cpu| format!("{attempts} {cpu}: failed 1, word 5\n");
    let text = [0, 100].map(|attempts| [1, 2, 3].map(|cpu| one(attempts, cpu)).concat());
    expect("reservation.c", &text.concat());
}

#[test]
fn a_receive_moves_whole_writes_into_a_partly_mapped_buffer() {
    let lines = [
        "unix: half -1/14, left 8; after a write 8/0, left 8; enough 8/0, left -1; parts -1/14, left 8;",
        "unix peek: half -1/14, left 8; after a write 8/0, left 16; enough 8/0, left 8; parts -1/14, left 8;",
        "tcp: half -1/14, left 8; after a write 8/0, left -1; enough 8/0, left -1; parts -1/14, left 8;",
        "tcp peek: half -1/14, left 8; after a write 8/0, left 8; enough 8/0, left 8; parts -1/14, left 8;",
    ];
    expect("received.c", &(lines.join("\n") + "\n"));
}

#[test]
fn processes_wait_for_each_others_mutexes_with_inheritance() {
    compare("programs/inherited.c");
}

#[test]
fn connections_that_do_not_wait_are_made_refused_or_pending() {
    compare("programs/connecting.c");
}

#[test]
fn waits_for_children_check_their_options_and_report_times() {
    compare("programs/children.c");
}

#[test]
fn paths_lead_through_the_systems_links_and_places_are_not_files() {
    compare("programs/paths.c");
}

#[test]
fn fifos_wait_for_both_sides_and_keep_their_numbers() {
    compare("programs/fifos.c");
}

#[test]
fn orphans_go_to_the_ancestor_that_takes_them() {
    let lines = [
        "sum 10",
        "killed by 9",
        "by the orphan: 1",
        "sum 6",
        "no child: -1",
    ];
    expect("orphans.c", &(lines.join("\n") + "\n"));
}

/// After a barrier, threads begin the region in the order and at the times of a whole run, on warm caches.
#[test]
fn a_region_after_a_barrier_lasts_as_long_as_in_the_whole_run() {
    let Some(program) = compile("sweeps.c") else {
        return;
    };
    for (preset, threads) in [("atac-64", "16"), ("e5-2640x2", "16"), ("e5-2640x2", "5")] {
        let machine = Config::preset(preset).expect("the preset is there");
        let [whole, forwarded] = [false, true].map(|forwards| {
            let kept = Kept::default();
            let arguments = [threads, "40", "32768"];
            let mut run = Program::new(&program.file).streams(kept.clone(), kept.clone());
            run = arguments.into_iter().fold(run, Program::argument);
            if forwards {
                run = run.fast_forward(u64::MAX);
            }
            let timing = run.run(&machine).expect("it ends").timing;
            let regions = timing.expect("it is timed").regions;
            assert_eq!(regions.len(), 1, "{preset}: {regions:?}");
            regions[0].to - regions[0].from
        });
        let difference = whole.abs_diff(forwarded);
        assert!(
            100 * difference <= 3 * whole,
            "{preset}, {threads} threads: {whole}, {forwarded}"
        );
    }
}

#[test]
fn timers_continue_stopped_processes_and_stops_end_some_calls() {
    compare("programs/continued.c");
}

#[test]
fn stopped_threads_end_their_loads() {
    compare("programs/halted.c");
}

#[test]
fn groups_are_orphaned_by_the_end_of_a_parent() {
    compare("programs/orphaned.c");
}

#[test]
fn private_pages_show_what_other_processes_write_to_their_file() {
    compare("programs/shown.c");
}

#[test]
fn flags_that_linux_does_not_know_are_refused() {
    let lines = [
        "eventfd: -1 22",
        "timerfd: -1 22",
        "signalfd: -1 22",
        "epoll: -1 22",
        "pipe2: -1 22",
        "getrandom: -1 22",
        "access: -1 22",
        "mount: -1 1",
        "clock_settime: -1 1",
        "pread of a timer: -1 29",
        "change of an exclusive file: -1 22",
        "full count: 1",
        "write to a full count: 8 0",
        "count 7",
        "write of the largest count: 8 0",
        "read of a timer: 8 0",
        "count 1, ready 0",
        "ppoll: -1 4",
        "pselect: -1 4",
        "epoll_pwait: 0 0",
        "handled 2",
        "poll of a pipe: 1",
        "no time: 0 0",
        "waited 0",
        "write: 10 0",
        "append: 10 0",
        "append at the position: 10 0",
        "position: 30 0",
        "read: 10 0",
        "unknown: -1 95",
        "no wait: -1 11",
        "write without a wait: -1 11",
        "fsync: -1 22",
        "sync_file_range: -1 29",
        "fallocate: -1 22",
        "of nothing: -1 22",
        "too far: -1 27",
        "position after no bytes: 0 0",
        "from behind the end: 5 0",
        "nice: 5 0",
        "nice value: 5 0",
        "less: -1 13",
        "kind: -1 22",
        "batch: 0 0",
        "policy: 3 0",
        "of -1: -1 22",
        "unknown policy: -1 22",
        "no parameter: -1 22",
        "slice: 0 0",
        "slice of -1: -1 22",
        "fifo: -1 1",
        "with priority: -1 22",
        "limit 100 200",
        "rename of a link: 0 0",
        "in /folder",
        "rename that breaks a link: 0 0",
        "rename of the folder: 0 0",
        "in /other",
        "empty: 0 0",
        "users: -1 2",
        "users by a link: -1 2",
        "users by the folder: -1 2",
        "new file: -1 2",
        "host's devices: -1 2",
        "host's version: -1 2",
        "host's first process: -1 2",
        "own: 1 1 1",
        "random: /dev/urandom 10600",
        "random: /dev/urandom 10600",
        "mode of the program: 0 0",
        "link of the program: 0 0",
        "run: 0 0",
        "memory: -1 22",
        "memory without a name: -1 14",
        "run or not: -1 22",
        "empty: 0 0",
        "run by its file, /memfd:copy (deleted), /memfd:copy (deleted)",
    ];
    expect("checked.c", &(lines.join("\n") + "\n"));
}
