//! The peers: one file for each runtime, with loops as the runtime's users call them.

mod chili;
mod foreign;
pub mod fork;
#[cfg(feature = "forkunion")]
mod forkunion;
mod list;
mod manycore;
mod paralight;
mod rayon;
mod serial;
mod thread_scope;
mod variant;

pub use list::open;
pub use manycore::Manycore;
pub use rayon::Rayon;
pub use variant::{Variant, compared, serving};

use crate::recursion::Node;
use crate::runtime::Runtime;
use crate::tasks::{Task, tiny_inline, trivial_inline};
use anyhow::{Result, bail};

/// A runtime in this process, and its threads.
pub trait Peer {
    /// Calls `session` once where users of `policy` call loops: outside the pool, inside it, or in
    /// a scope.
    ///
    /// # Errors
    ///
    /// If the peer has no such policy.
    fn enter(&mut self, policy: &str, session: Session<'_>) -> Result<()>;

    /// Calls `session` once where users of `policy` call joins.
    ///
    /// # Errors
    ///
    /// If the peer has no such policy, or no joins.
    fn enter_joins(&mut self, policy: &str, _session: JoinSession<'_>) -> Result<()> {
        bail!("this peer has no join `{policy}`");
    }

    /// Calls each client's session, on its own thread outside the runtime. Returns after all
    /// sessions.
    ///
    /// # Errors
    ///
    /// If the peer has no such policy, or cannot be called from several threads.
    fn serve(&mut self, policy: &str, _clients: Clients<'_>) -> Result<()> {
        bail!("this peer cannot serve clients as `{policy}`");
    }

    /// The version, if `Cargo.lock` does not name it.
    fn version(&self) -> Option<&str> {
        None
    }
}

/// The argument of [`Peer::enter`].
pub type Session<'a> = &'a mut (dyn FnMut(&mut dyn Loops) + Send);

/// The clients of [`Peer::serve`].
#[derive(Clone, Copy)]
pub struct Clients<'a> {
    pub count: usize,
    /// A client's session. It receives the client's number, below `count`, and its loops.
    pub session: &'a (dyn Fn(usize, &mut dyn Loops) + Sync),
}

/// Runs each client's session on its own thread, each with its own `loops`.
pub fn from_threads<L: Loops + Send>(loops: impl IntoIterator<Item = L>, clients: Clients<'_>) {
    std::thread::scope(|scope| {
        for (client, mut loops) in loops.into_iter().enumerate().take(clients.count) {
            scope.spawn(move || (clients.session)(client, &mut loops));
        }
    });
}

/// The argument of [`Peer::enter_joins`].
pub type JoinSession<'a> = &'a mut (dyn FnMut(&mut dyn Joins) + Send);

/// The recursions of a peer under one policy. Each pair of calls is a join.
pub trait Joins {
    /// A complete binary tree of `2^levels - 1` joins with empty leaves.
    fn empty(&mut self, levels: u32);
    /// The Fibonacci number `n`.
    fn fib(&mut self, n: u32) -> u64;
    /// The sum over the tree below `node`.
    fn sum(&mut self, node: &Node) -> u64;
}

/// The loops of a peer under one policy.
pub trait Loops {
    /// Runs `task` on `0..n`.
    fn call(&mut self, n: usize, task: Task<'_>);
    /// Runs the inlined trivial body on `0..n`.
    fn trivial(&mut self, n: usize);
    /// Runs the inlined 5 ns body on `0..n`.
    fn tiny(&mut self, n: usize);
}

/// A parallel loop in Rust, which implies [`Loops`].
pub trait ForEach {
    fn for_each(&mut self, n: usize, body: impl Fn(usize) + Send + Sync);
}

impl<F: ForEach> Loops for F {
    fn call(&mut self, n: usize, task: Task<'_>) {
        self.for_each(n, |i| task.run(i));
    }

    fn trivial(&mut self, n: usize) {
        self.for_each(n, trivial_inline);
    }

    fn tiny(&mut self, n: usize) {
        self.for_each(n, tiny_inline);
    }
}
