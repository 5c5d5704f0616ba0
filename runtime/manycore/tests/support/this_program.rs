//! Starts this test program again.

use std::env::{current_exe, var};
use std::process::Command;

/// The command that runs such a program, if the system needs one: an emulator with its arguments.
/// `ci/platforms.sh` sets it.
const RUNNER: &str = "MANYCORE_TEST_RUNNER";

/// Returns a command that starts this program.
pub(crate) fn this_program() -> Command {
    let this = current_exe().expect("this program");
    let runner = var(RUNNER).unwrap_or_default();
    let mut words = runner.split_whitespace();
    match words.next() {
        Some(emulator) => {
            let mut command = Command::new(emulator);
            command.args(words).arg(this);
            command
        }
        None => Command::new(this),
    }
}
