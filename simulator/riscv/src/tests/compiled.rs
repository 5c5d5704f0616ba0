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
