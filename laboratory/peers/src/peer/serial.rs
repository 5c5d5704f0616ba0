//! No runtime: the plain loop and the plain recursions, for comparison.

use super::fork::{Fork, Recursions};
use super::{Clients, ForEach, JoinSession, Peer, Session, from_threads};
use anyhow::{Result, bail};

pub(super) struct Serial;

impl Peer for Serial {
    fn enter(&mut self, _policy: &str, session: Session<'_>) -> Result<()> {
        session(self);
        Ok(())
    }

    fn serve(&mut self, _policy: &str, clients: Clients<'_>) -> Result<()> {
        from_threads((0..clients.count).map(|_| Serial), clients);
        Ok(())
    }

    fn enter_joins(&mut self, policy: &str, session: JoinSession<'_>) -> Result<()> {
        match policy {
            "left-first" => session(&mut Recursions::<Serially<true>>(())),
            "right-first" => session(&mut Recursions::<Serially<false>>(())),
            _ => bail!("the serial recursion has no order `{policy}`"),
        }
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

struct Serially<const LEFT_FIRST: bool>;

impl<const LEFT_FIRST: bool> Fork for Serially<LEFT_FIRST> {
    type Context<'a> = ();

    fn join<A: Send, B: Send>(
        (): &mut (),
        a: impl FnOnce(&mut ()) -> A + Send,
        b: impl FnOnce(&mut ()) -> B + Send,
    ) -> (A, B) {
        if LEFT_FIRST {
            (a(&mut ()), b(&mut ()))
        } else {
            let b = b(&mut ());
            (a(&mut ()), b)
        }
    }
}
