//! rayon: every loop entering the pool from outside, or all of them inside;
//! joins inside.

use super::fork::{Fork, Recursions};
use super::{Clients, ForEach, JoinSession, Peer, Session, from_threads};
use anyhow::{Result, bail};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

pub(super) struct Rayon {
    pool: ThreadPool,
}

impl Rayon {
    pub(super) fn new(threads: usize) -> Result<Self> {
        Ok(Self {
            pool: ThreadPoolBuilder::new().num_threads(threads).build()?,
        })
    }
}

impl Peer for Rayon {
    fn enter(&mut self, policy: &str, session: Session<'_>) -> Result<()> {
        match policy {
            "outside" => session(&mut Outside { pool: &self.pool }),
            "inside" => self.pool.install(|| session(&mut Inside)),
            _ => bail!("rayon has no policy `{policy}`"),
        }
        Ok(())
    }

    fn serve(&mut self, _policy: &str, clients: Clients<'_>) -> Result<()> {
        let loops = (0..clients.count).map(|_| Outside { pool: &self.pool });
        from_threads(loops, clients);
        Ok(())
    }

    fn enter_joins(&mut self, _policy: &str, session: JoinSession<'_>) -> Result<()> {
        self.pool.install(|| session(&mut Recursions::<Inside>(())));
        Ok(())
    }
}

struct Outside<'a> {
    pool: &'a ThreadPool,
}

impl ForEach for Outside<'_> {
    fn for_each(&mut self, n: usize, body: impl Fn(usize) + Send + Sync) {
        self.pool.install(|| (0..n).into_par_iter().for_each(body));
    }
}

struct Inside;

impl ForEach for Inside {
    fn for_each(&mut self, n: usize, body: impl Fn(usize) + Send + Sync) {
        (0..n).into_par_iter().for_each(body);
    }
}

impl Fork for Inside {
    type Context<'a> = ();

    fn join<A: Send, B: Send>(
        (): &mut (),
        a: impl FnOnce(&mut ()) -> A + Send,
        b: impl FnOnce(&mut ()) -> B + Send,
    ) -> (A, B) {
        rayon::join(|| a(&mut ()), || b(&mut ()))
    }
}
