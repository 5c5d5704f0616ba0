//! This test program, to be run once more.

use std::env::{current_exe, var};
use std::process::Command;

/// The command that starts programs of this kind, if the system does not by itself: an emulator
/// with its arguments, as `ci/platforms.sh` sets it.
const RUNNER: &str = "MANYCORE_TEST_RUNNER";

/// Starts the program that runs.
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
