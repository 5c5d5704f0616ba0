//! `std::thread::scope`, without a pool. Each loop starts threads. Each thread runs an equal share;
//! the caller runs the last.

use super::{ForEach, Peer, Session};
use anyhow::Result;

pub(super) struct ThreadScope {
    threads: usize,
}

impl ThreadScope {
    pub(super) fn new(threads: usize) -> Self {
        Self { threads }
    }
}

impl Peer for ThreadScope {
    fn enter(&mut self, _policy: &str, session: Session<'_>) -> Result<()> {
        session(self);
        Ok(())
    }
}

impl ForEach for ThreadScope {
    fn for_each(&mut self, n: usize, body: impl Fn(usize) + Send + Sync) {
        let share = |k: usize| n * k / self.threads..n * (k + 1) / self.threads;
        let body = &body;
        std::thread::scope(|scope| {
            for k in 0..self.threads - 1 {
                scope.spawn(move || share(k).for_each(body));
            }
            share(self.threads - 1).for_each(body);
        });
    }
}
