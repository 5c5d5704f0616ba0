//! For programs that must come to an end: a deadlock fails, and does not hang.

use super::eventually::LIMIT;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

/// Runs `program` on a thread of its own, and fails if it does not end within [`LIMIT`].
pub(crate) fn ends(what: &str, program: impl FnOnce() + Send + 'static) {
    // Dropped, and so closed, when the program is over.
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
