//! ForkUnion: even slices (`for_n`) or tasks claimed one by one (`for_n_dynamic`). A loop needs the
//! pool as `&mut`, so several clients either share one pool behind a mutex or each own a pool.

use super::{Clients, ForEach, Peer, Session, from_threads};
use anyhow::{Result, anyhow, bail};
use forkunion::{ThreadPool, Topology};
use std::sync::{Mutex, PoisonError};

pub(super) struct ForkUnion {
    topology: Topology,
    threads: usize,
    /// Made at its first use: its workers never stop spinning.
    pool: Option<ThreadPool>,
}

impl ForkUnion {
    pub(super) fn new(threads: usize) -> Result<Self> {
        let topology = Topology::new().map_err(|error| anyhow!("unknown topology: {error:?}"))?;
        Ok(Self {
            topology,
            threads,
            pool: None,
        })
    }

    fn make(&self) -> Result<ThreadPool> {
        ThreadPool::try_spawn(&self.topology, self.threads)
            .map_err(|error| anyhow!("cannot make a pool of {} threads: {error:?}", self.threads))
    }

    fn pool(&mut self) -> Result<&mut ThreadPool> {
        let pool = match self.pool.take() {
            Some(pool) => pool,
            None => self.make()?,
        };
        Ok(self.pool.insert(pool))
    }
}

impl Peer for ForkUnion {
    fn enter(&mut self, policy: &str, session: Session<'_>) -> Result<()> {
        let pool = self.pool()?;
        match policy {
            "static" => session(&mut Static(pool)),
            "dynamic" => session(&mut Dynamic(pool)),
            _ => bail!("ForkUnion has no policy `{policy}`"),
        }
        Ok(())
    }

    fn serve(&mut self, policy: &str, clients: Clients<'_>) -> Result<()> {
        if policy == "own" {
            // The shared pool of an earlier visit would spin at the same time.
            self.pool = None;
            let mut pools = (0..clients.count)
                .map(|_| self.make())
                .collect::<Result<Vec<_>>>()?;
            from_threads(pools.iter_mut().map(Dynamic), clients);
            return Ok(());
        }
        if policy != "shared" {
            bail!("ForkUnion cannot serve clients as `{policy}`");
        }
        let pool = Mutex::new(self.pool()?);
        from_threads((0..clients.count).map(|_| Shared(&pool)), clients);
        Ok(())
    }
}

struct Static<'a>(&'a mut ThreadPool);

impl ForEach for Static<'_> {
    fn for_each(&mut self, n: usize, body: impl Fn(usize) + Send + Sync) {
        // The loop runs when the result of `for_n` is dropped.
        drop(self.0.for_n(n, |prong| body(prong.task_index)));
    }
}

struct Dynamic<'a>(&'a mut ThreadPool);

impl ForEach for Dynamic<'_> {
    fn for_each(&mut self, n: usize, body: impl Fn(usize) + Send + Sync) {
        drop(self.0.for_n_dynamic(n, |prong| body(prong.task_index)));
    }
}

struct Shared<'a, 'b>(&'a Mutex<&'b mut ThreadPool>);

impl ForEach for Shared<'_, '_> {
    fn for_each(&mut self, n: usize, body: impl Fn(usize) + Send + Sync) {
        let mut pool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Dynamic(&mut pool).for_each(n, body);
    }
}
