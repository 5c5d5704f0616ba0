//! manycore: loops under any of its partitioners, joins inside its pool.

use super::fork::{Fork, Recursions};
use super::{Clients, ForEach, JoinSession, Peer, Session, from_threads};
use anyhow::{Context, Result};
use manycore::Pool;
use manycore_programs::partition::{Loops, Partitioner};

pub(super) struct Manycore {
    pool: Pool,
}

impl Manycore {
    pub(super) fn new(threads: usize) -> Result<Self> {
        Ok(Self {
            pool: Pool::builder().threads(threads).build()?,
        })
    }
}

impl Peer for Manycore {
    fn enter(&mut self, policy: &str, session: Session<'_>) -> Result<()> {
        let partitioner: Partitioner = policy.parse().context("manycore")?;
        match partitioner {
            // As its users call it, naming no partitioner.
            Partitioner::Adaptive => session(&mut Default { pool: &self.pool }),
            _ => session(&mut Chosen {
                pool: &self.pool,
                partitioner,
            }),
        }
        Ok(())
    }

    fn serve(&mut self, _policy: &str, clients: Clients<'_>) -> Result<()> {
        let loops = (0..clients.count).map(|_| Default { pool: &self.pool });
        from_threads(loops, clients);
        Ok(())
    }

    fn enter_joins(&mut self, _policy: &str, session: JoinSession<'_>) -> Result<()> {
        self.pool.install(|| session(&mut Recursions::<Inside>(())));
        Ok(())
    }
}

struct Default<'a> {
    pool: &'a Pool,
}

impl ForEach for Default<'_> {
    fn for_each(&mut self, n: usize, body: impl Fn(usize) + Send + Sync) {
        self.pool.parallel_for(0..n, body);
    }
}

struct Chosen<'a> {
    pool: &'a Pool,
    partitioner: Partitioner,
}

impl ForEach for Chosen<'_> {
    fn for_each(&mut self, n: usize, body: impl Fn(usize) + Send + Sync) {
        Loops::new(self.pool, self.partitioner).parallel_for(0..n, body);
    }
}

struct Inside;

impl Fork for Inside {
    type Context<'a> = ();

    fn join<A: Send, B: Send>(
        (): &mut (),
        a: impl FnOnce(&mut ()) -> A + Send,
        b: impl FnOnce(&mut ()) -> B + Send,
    ) -> (A, B) {
        manycore::join(|| a(&mut ()), || b(&mut ()))
    }
}
