//! chili: it has joins and no loops. A loop halves its range down to single indices, since chili's
//! join is cheap.

use super::fork::{Fork, Recursions};
use super::{ForEach, JoinSession, Peer, Session};
use anyhow::{Result, bail};
use chili::{Config, Scope, ThreadPool};
use std::num::NonZero;
use std::ops::Range;

pub(super) struct Chili {
    pool: ThreadPool,
}

impl Chili {
    pub(super) fn new(threads: usize) -> Self {
        // `thread_count` includes the caller.
        let config = Config {
            thread_count: NonZero::new(threads),
            ..Config::default()
        };
        Self {
            pool: ThreadPool::with_config(config),
        }
    }
}

impl Peer for Chili {
    fn enter(&mut self, policy: &str, session: Session<'_>) -> Result<()> {
        match policy {
            "new-scope" => session(&mut NewScope { pool: &self.pool }),
            "held-scope" => session(&mut HeldScope {
                scope: self.pool.scope(),
            }),
            _ => bail!("chili has no policy `{policy}`"),
        }
        Ok(())
    }

    fn enter_joins(&mut self, _policy: &str, session: JoinSession<'_>) -> Result<()> {
        session(&mut Recursions::<HeldScope<'_>>(self.pool.scope()));
        Ok(())
    }
}

struct NewScope<'a> {
    pool: &'a ThreadPool,
}

impl ForEach for NewScope<'_> {
    fn for_each(&mut self, n: usize, body: impl Fn(usize) + Send + Sync) {
        halve(&mut self.pool.scope(), 0..n, &body);
    }
}

struct HeldScope<'a> {
    scope: Scope<'a>,
}

impl ForEach for HeldScope<'_> {
    fn for_each(&mut self, n: usize, body: impl Fn(usize) + Send + Sync) {
        halve(&mut self.scope, 0..n, &body);
    }
}

impl Fork for HeldScope<'_> {
    type Context<'a> = Scope<'a>;

    fn join<A: Send, B: Send>(
        scope: &mut Scope<'_>,
        a: impl FnOnce(&mut Scope<'_>) -> A + Send,
        b: impl FnOnce(&mut Scope<'_>) -> B + Send,
    ) -> (A, B) {
        scope.join(a, b)
    }
}

fn halve(scope: &mut Scope<'_>, range: Range<usize>, body: &(impl Fn(usize) + Send + Sync)) {
    match range.len() {
        0 => (),
        1 => body(range.start),
        n => {
            let middle = range.start + n / 2;
            scope.join(
                |scope| halve(scope, range.start..middle, body),
                |scope| halve(scope, middle..range.end, body),
            );
        }
    }
}
