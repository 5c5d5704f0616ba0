//! manycore and rayon behind one trait, with each call as users of the runtime write it. The trait
//! implies [`Peer`].

use crate::peer::fork::{Fork, Recursions};
use crate::peer::{Clients, ForEach, JoinSession, Peer, Session, from_threads};
use anyhow::Result;
use std::marker::PhantomData;

/// A pool with all calls of a runtime.
pub trait Runtime: Sync + Sized {
    /// A pool of `threads` threads.
    ///
    /// # Errors
    ///
    /// If the pool cannot be made.
    fn new(threads: usize) -> Result<Self>;

    /// Calls `session` with the loops of `policy`.
    ///
    /// # Errors
    ///
    /// If there is no such policy.
    fn loops(&self, policy: &str, session: Session<'_>) -> Result<()>;

    /// Runs `body` on `0..n`.
    fn parallel_for(&self, n: usize, body: impl Fn(usize) + Send + Sync);

    /// Runs both closures, perhaps at once. The caller is a thread outside the pool.
    fn join(&self, a: impl FnOnce() + Send, b: impl FnOnce() + Send);

    /// Runs both closures, perhaps at once. The caller is a thread of the pool.
    fn join_here<A: Send, B: Send>(
        a: impl FnOnce() -> A + Send,
        b: impl FnOnce() -> B + Send,
    ) -> (A, B);

    /// Runs `job` on `0..jobs`, each as a job of one scope.
    fn scope(&self, jobs: usize, job: impl Fn(usize) + Send + Sync);

    /// Runs `job` at a later time.
    fn spawn(&self, job: impl FnOnce() + Send + 'static);

    /// Runs `op` on every thread of the pool, with the thread's index.
    fn broadcast(&self, op: impl Fn(usize) + Send + Sync);

    /// Runs `op` inside the pool.
    fn install<R: Send>(&self, op: impl FnOnce() -> R + Send) -> R;
}

/// The calls that have the same names in manycore and rayon.
macro_rules! named_alike {
    ($runtime:ident) => {
        fn join(&self, a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
            self.pool.join(a, b);
        }

        fn join_here<A: Send, B: Send>(
            a: impl FnOnce() -> A + Send,
            b: impl FnOnce() -> B + Send,
        ) -> (A, B) {
            $runtime::join(a, b)
        }

        fn scope(&self, jobs: usize, job: impl Fn(usize) + Send + Sync) {
            let job = &job;
            self.pool.scope(|scope| {
                for i in 0..jobs {
                    scope.spawn(move |_| job(i));
                }
            });
        }

        fn spawn(&self, job: impl FnOnce() + Send + 'static) {
            self.pool.spawn(job);
        }

        fn broadcast(&self, op: impl Fn(usize) + Send + Sync) {
            self.pool.broadcast(|context| op(context.index()));
        }

        fn install<R: Send>(&self, op: impl FnOnce() -> R + Send) -> R {
            self.pool.install(op)
        }
    };
}

pub(crate) use named_alike;

impl<R: Runtime> Peer for R {
    fn enter(&mut self, policy: &str, session: Session<'_>) -> Result<()> {
        self.loops(policy, session)
    }

    fn serve(&mut self, _policy: &str, clients: Clients<'_>) -> Result<()> {
        from_threads((0..clients.count).map(|_| Outside(&*self)), clients);
        Ok(())
    }

    fn enter_joins(&mut self, _policy: &str, session: JoinSession<'_>) -> Result<()> {
        self.install(|| session(&mut Recursions::<Inside<R>>(())));
        Ok(())
    }
}

/// Loops that enter the pool from a thread outside it.
pub struct Outside<'a, R>(pub &'a R);

impl<R: Runtime> ForEach for Outside<'_, R> {
    fn for_each(&mut self, n: usize, body: impl Fn(usize) + Send + Sync) {
        self.0.parallel_for(n, body);
    }
}

/// Joins called on a thread of the pool.
struct Inside<R>(PhantomData<R>);

impl<R: Runtime> Fork for Inside<R> {
    type Context<'a> = ();

    fn join<A: Send, B: Send>(
        (): &mut (),
        a: impl FnOnce(&mut ()) -> A + Send,
        b: impl FnOnce(&mut ()) -> B + Send,
    ) -> (A, B) {
        R::join_here(|| a(&mut ()), || b(&mut ()))
    }
}
