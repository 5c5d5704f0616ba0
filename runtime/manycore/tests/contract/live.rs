//! Runs programs that must end: a deadlock fails the test instead of hanging it.

use super::eventually::LIMIT;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

/// Runs `program` on a thread of its own, and fails if it does not end within [`LIMIT`].
pub(crate) fn ends(what: &str, program: impl FnOnce() + Send + 'static) {
    // The channel closes when the program has ended.
    let (running, over) = mpsc::channel::<()>();
    let thread = thread::spawn(move || {
        let _running = running;
        program();
    });
    let waited = over.recv_timeout(LIMIT);
    assert_eq!(waited, Err(RecvTimeoutError::Disconnected), "stuck: {what}");
    if let Err(panic) = thread.join() {
        resume_unwind(panic);
    }
}
