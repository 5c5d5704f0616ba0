//! For events without a promised time: a worker takes part in some loop, or an ended thread leaves `/proc`.

use std::time::{Duration, Instant};

/// Far longer than any loaded machine needs; only a failure uses it up.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Repeats `attempt` until it returns a result.
pub(crate) fn eventually<R>(what: &str, mut attempt: impl FnMut() -> Option<R>) -> R {
    let started = Instant::now();
    loop {
        if let Some(result) = attempt() {
            return result;
        }
        assert!(started.elapsed() < LIMIT, "never: {what}");
        std::thread::yield_now();
    }
}
