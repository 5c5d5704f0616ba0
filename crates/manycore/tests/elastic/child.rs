//! A part of a test that runs in a process of its own: the same test again, with a
//! variable set.

use std::process::{Child, Command, Stdio};

const PART: &str = "MANYCORE_ELASTIC_CHILD";

/// Whether this process is the child of that name.
pub(crate) fn is(name: &str) -> bool {
    std::env::var(PART).is_ok_and(|part| part == name)
}

/// Starts `test` again as the child `name`; what it prints is for the caller.
pub(crate) fn start(test: &str, name: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(PART, name)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}
