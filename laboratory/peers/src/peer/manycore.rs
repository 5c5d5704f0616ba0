//! manycore: loops with each of its partitioners, joins inside its pool.

use super::{ForEach, Session};
use crate::runtime::{Outside, Runtime, named_alike};
use anyhow::{Context, Result};
use manycore::Pool;
use manycore_programs::partition::{Loops, Partitioner};

pub struct Manycore {
    pub pool: Pool,
}

impl Runtime for Manycore {
    fn new(threads: usize) -> Result<Self> {
        Ok(Self {
            pool: Pool::builder().threads(threads).build()?,
        })
    }

    fn loops(&self, policy: &str, session: Session<'_>) -> Result<()> {
        let partitioner: Partitioner = policy.parse().context("manycore")?;
        match partitioner {
            // The default, which users call without naming a partitioner.
            Partitioner::Adaptive => session(&mut Outside(self)),
            _ => session(&mut Chosen {
                pool: &self.pool,
                partitioner,
            }),
        }
        Ok(())
    }

    fn parallel_for(&self, n: usize, body: impl Fn(usize) + Send + Sync) {
        self.pool.parallel_for(0..n, body);
    }

    named_alike!(manycore);
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
