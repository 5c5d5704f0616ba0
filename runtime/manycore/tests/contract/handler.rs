//! A panic handler panics with a payload whose destructor panics: nothing unwinds further.

use super::this_program::this_program;
use super::thrown::{Nasty, throw};
use manycore::Pool;
use std::os::unix::process::ExitStatusExt;
use std::panic::resume_unwind;

/// The environment variable that makes this test binary a child that aborts.
const CHILD: &str = "MANYCORE_TEST_NASTY_HANDLER";
const SIGABRT: i32 = 6;

/// Aborts if this process is a child of the test below; otherwise does nothing.
#[test]
fn child_that_aborts() {
    let Ok(threads) = std::env::var(CHILD) else {
        return;
    };
    let threads = threads.parse().unwrap();
    let builder = Pool::builder().threads(threads);
    let builder = builder.panic_handler(|_| resume_unwind(Box::new(Nasty)));
    let pool = builder.build().unwrap();
    // Inside a scope, through which nothing may unwind either.
    pool.scope(|scope| {
        scope.spawn(|_| manycore::spawn(|| throw("from a detached job")));
    });
    drop(pool);
}

#[test]
fn a_handler_s_payload_goes_nowhere() {
    for threads in ["1", "2", "4"] {
        let child = this_program()
            .args(["--exact", "handler::child_that_aborts", "--nocapture"])
            .env(CHILD, threads)
            .output()
            .unwrap();
        assert_eq!(child.status.signal(), Some(SIGABRT), "{child:?}");
        let said = String::from_utf8_lossy(&child.stderr).into_owned();
        assert!(said.contains("no handler took it; aborting"), "{said}");
    }
}
