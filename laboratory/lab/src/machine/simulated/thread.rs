//! Pinned threads of the simulated machine that return results.

use crate::threads::start;
use manycore_chip::Simulated;
use manycore_platform::Platform;
use std::sync::{Arc, OnceLock};

/// A thread that computes a result.
pub(super) struct CoreTask<T> {
    thread: <Simulated as Platform>::Thread,
    result: Arc<OnceLock<T>>,
}

/// Starts `body` on `core`, a core of the machine.
pub(super) fn spawn<T: Send + Sync + 'static>(
    core: usize,
    body: impl FnOnce() -> T + Send + 'static,
) -> CoreTask<T> {
    let result = Arc::new(OnceLock::new());
    let theirs = Arc::clone(&result);
    let body = move || _ = theirs.set(body());
    let thread = start::<Simulated>(format!("core {core}"), vec![core], body);
    CoreTask {
        thread: thread.expect("a core of the machine"),
        result,
    }
}

impl<T> CoreTask<T> {
    /// Waits for the thread and returns its result.
    pub(super) fn join(self) -> T {
        Simulated::join(self.thread);
        let result = Arc::into_inner(self.result).and_then(OnceLock::into_inner);
        result.expect("a thread that has ended has left its result")
    }
}
