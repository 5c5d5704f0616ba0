//! Runs a part of a test in its own process: the same test again, with an environment variable set.

use super::this_program::this_program;
use std::process::{Child, Stdio};

const PART: &str = "MANYCORE_ELASTIC_CHILD";

/// Returns whether this process is the child `name`. From then on a panic ends the child: its parent must not
/// wait for a line that is never printed.
pub(crate) fn is(name: &str) -> bool {
    let is = std::env::var(PART).is_ok_and(|part| part == name);
    if is {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            print(panic);
            std::process::abort();
        }));
    }
    is
}

/// Starts `test` again as the child `name`. The caller reads what the child prints.
pub(crate) fn start(test: &str, name: &str) -> Child {
    this_program()
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(PART, name)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}
