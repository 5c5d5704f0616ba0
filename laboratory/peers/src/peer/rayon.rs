//! rayon: each loop enters the pool from outside, or all run inside it. Joins run inside.

use super::{ForEach, Session};
use crate::runtime::{Outside, Runtime, named_alike};
use anyhow::{Result, bail};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

pub struct Rayon {
    pub pool: ThreadPool,
}

impl Runtime for Rayon {
    fn new(threads: usize) -> Result<Self> {
        Ok(Self {
            pool: ThreadPoolBuilder::new().num_threads(threads).build()?,
        })
    }

    fn loops(&self, policy: &str, session: Session<'_>) -> Result<()> {
        match policy {
            "outside" => session(&mut Outside(self)),
            "inside" => self.pool.install(|| session(&mut Inside)),
            _ => bail!("rayon has no policy `{policy}`"),
        }
        Ok(())
    }

    fn parallel_for(&self, n: usize, body: impl Fn(usize) + Send + Sync) {
        self.pool.install(|| (0..n).into_par_iter().for_each(body));
    }

    named_alike!(rayon);
}

struct Inside;

impl ForEach for Inside {
    fn for_each(&mut self, n: usize, body: impl Fn(usize) + Send + Sync) {
        (0..n).into_par_iter().for_each(body);
    }
}
