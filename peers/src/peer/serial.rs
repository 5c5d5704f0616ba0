//! No runtime at all: the plain loop that the others are compared with.

use super::{ForEach, Peer, Session};
use anyhow::Result;

pub(super) struct Serial;

impl Peer for Serial {
    fn enter(&mut self, _policy: &str, session: Session<'_>) -> Result<()> {
        session(self);
        Ok(())
    }
}

impl ForEach for Serial {
    fn for_each(&mut self, n: usize, body: impl Fn(usize) + Send + Sync) {
        for i in 0..n {
            body(i);
        }
    }
}
