//! paralight in its work-stealing mode. The caller waits and runs no iterations.

use super::{ForEach, Peer, Session};
use anyhow::Result;
use paralight::prelude::*;

pub(super) struct Paralight {
    pool: ThreadPool,
}

impl Paralight {
    pub(super) fn new(threads: usize) -> Result<Self> {
        let builder = ThreadPoolBuilder {
            num_threads: ThreadCount::try_from(threads)?,
            range_strategy: RangeStrategy::WorkStealing,
            cpu_pinning: CpuPinningPolicy::No,
        };
        Ok(Self {
            pool: builder.build(),
        })
    }
}

impl Peer for Paralight {
    fn enter(&mut self, _policy: &str, session: Session<'_>) -> Result<()> {
        session(self);
        Ok(())
    }
}

impl ForEach for Paralight {
    fn for_each(&mut self, n: usize, body: impl Fn(usize) + Send + Sync) {
        (0..n)
            .into_par_iter()
            .with_thread_pool(&mut self.pool)
            .for_each(body);
    }
}
