//! Runs a program in qemu-user and in the simulator, and returns what both write.

use super::Kept;
use crate::{Outcome, Program};
use manycore_chip::config::Config;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const KILL: i32 = 9;
/// The exit status of qemu after a failed assertion.
const ASSERTION: i32 = 127;

/// Whether qemu is installed. Prints a message if it is not.
pub(super) fn has_qemu() -> bool {
    let answer = Command::new("qemu-riscv64").arg("--version").output();
    if answer.is_err() {
        eprintln!("SKIPPED: qemu-riscv64 is not installed (apt-get install qemu-user)");
    }
    answer.is_ok()
}

/// The folder of programs that run both in qemu and in the simulator.
pub(super) struct Beside {
    folder: tempfile::TempDir,
}

impl Beside {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder }
    }

    fn file(&self, program: &[u8]) -> PathBuf {
        let file = self.folder.path().join("program");
        std::fs::write(&file, program).expect("room for a program");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).expect("it is ours");
        file
    }

    /// Returns the program's output in the simulator, without a machine, and in qemu. `None` means that qemu does not
    /// end.
    pub(super) fn run(&self, program: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let theirs = self.qemu_ends(program)?;
        let (_, ours) = self.ours(program, None);
        Some((ours, theirs))
    }

    pub(super) fn qemu(&self, program: &[u8]) -> Vec<u8> {
        self.qemu_ends(program).expect("qemu ends")
    }

    fn qemu_ends(&self, program: &[u8]) -> Option<Vec<u8>> {
        let file = self.file(program);
        let [output, messages] = ["output", "messages"].map(|name| self.folder.path().join(name));
        // The output goes to a file, because a write to a pipe is cut short if the process is stopped meanwhile.
        let status = Command::new("timeout")
            .args(["-s", "KILL", "10", "qemu-riscv64"])
            .arg(file)
            .stdin(Stdio::null())
            .stdout(File::create(&output).expect("room for its output"))
            .stderr(File::create(&messages).expect("room for its messages"))
            .status()
            .expect("qemu is there");
        // After the time limit, `timeout` kills itself too. qemu also ends by an assertion of its own about its threads.
        let messages = std::fs::read(messages).expect("its messages");
        let messages = String::from_utf8_lossy(&messages);
        let has_failed = status.code() == Some(ASSERTION) && messages.contains("ssertion");
        if status.signal() == Some(KILL) || has_failed {
            return None;
        }
        assert!(status.success(), "qemu: {status:?} {messages}");
        Some(std::fs::read(output).expect("its output"))
    }

    pub(super) fn ours(&self, program: &[u8], machine: Option<&Config>) -> (Outcome, Vec<u8>) {
        let kept = Kept::default();
        let program = Program::new(self.file(program)).streams(kept.clone(), kept.clone());
        let outcome = match machine {
            None => program.run_functionally(1),
            Some(machine) => program.run(machine),
        };
        let outcome = outcome.expect("it runs");
        assert_eq!(outcome.status, 0, "{:?}", outcome.message);
        (outcome, kept.take())
    }
}
