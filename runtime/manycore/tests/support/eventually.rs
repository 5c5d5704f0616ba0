//! For events that happen in the end, without a promised time: a worker takes part in some loop, an
//! ended thread leaves `/proc`.

use std::time::{Duration, Instant};

/// Far beyond what any loaded machine needs; only a failure takes this long.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Repeats `attempt` until it gives a result.
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
