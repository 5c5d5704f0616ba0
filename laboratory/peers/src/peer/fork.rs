//! Recursions over joins in Rust: the same source, compiled for each runtime, so that its join can
//! be inlined.

use super::Joins;
use crate::recursion::Node;
use crate::tasks::trivial_inline;

/// A runtime's join.
pub trait Fork {
    /// The value that a program passes from join to join; `()` in most runtimes.
    type Context<'a>;

    /// Runs both closures, perhaps at once.
    fn join<A: Send, B: Send>(
        context: &mut Self::Context<'_>,
        a: impl FnOnce(&mut Self::Context<'_>) -> A + Send,
        b: impl FnOnce(&mut Self::Context<'_>) -> B + Send,
    ) -> (A, B);
}

/// The recursions of a runtime, in one context.
pub struct Recursions<'a, F: Fork>(pub F::Context<'a>);

impl<F: Fork> Joins for Recursions<'_, F> {
    fn empty(&mut self, levels: u32) {
        empty::<F>(&mut self.0, levels);
    }

    fn fib(&mut self, n: u32) -> u64 {
        fib::<F>(&mut self.0, n)
    }

    fn sum(&mut self, node: &Node) -> u64 {
        sum::<F>(&mut self.0, node)
    }
}

fn empty<F: Fork>(context: &mut F::Context<'_>, levels: u32) {
    if levels == 0 {
        // Keeps the compiler from removing the serial recursion.
        return trivial_inline(0);
    }
    F::join(
        context,
        |context| empty::<F>(context, levels - 1),
        |context| empty::<F>(context, levels - 1),
    );
}

fn fib<F: Fork>(context: &mut F::Context<'_>, n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = F::join(
        context,
        |context| fib::<F>(context, n - 1),
        |context| fib::<F>(context, n - 2),
    );
    a + b
}

fn sum<F: Fork>(context: &mut F::Context<'_>, node: &Node) -> u64 {
    let Some((left, right)) = node.children() else {
        return node.value();
    };
    let (a, b) = F::join(
        context,
        |context| sum::<F>(context, left),
        |context| sum::<F>(context, right),
    );
    node.value() + a + b
}
