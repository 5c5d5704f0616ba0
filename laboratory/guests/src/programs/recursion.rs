//! Programs that divide their work by joins.

use super::{Failure, expect};
use crate::calls::Calls;
use crate::runtime::Runtime;
use crate::work::mix;

/// A Fibonacci number, with a join at every call.
pub(super) fn fib<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    const INDEX: u64 = 22;
    let mut found = 0;
    calls.make(|_| found = R::fork(context, |context| fibonacci::<R>(context, INDEX)));
    expect("fib", found, 17_711)
}

pub(super) fn fibonacci<R: Runtime>(context: &mut R::Context<'_>, index: u64) -> u64 {
    if index < 2 {
        return index;
    }
    let (a, b) = R::join(
        context,
        |context| fibonacci::<R>(context, index - 1),
        |context| fibonacci::<R>(context, index - 2),
    );
    a + b
}

/// A node, and its children.
struct Node {
    value: u64,
    below: [Option<u32>; 2],
}

/// Whether the first child's subtree is larger or smaller than the second's.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Balanced,
    HeavyFirst,
    LightFirst,
}

/// The sum over a binary tree, with a join at every node with two children.
pub(super) fn tree<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
    nodes: usize,
    shape: Shape,
) -> Result<(), Failure> {
    let mut all = Vec::with_capacity(nodes);
    grow(&mut all, nodes, shape);
    let mut found = 0;
    calls.make(|_| found = R::fork(context, |context| total::<R>(context, &all, 0)));
    let right = (0..nodes as u64).fold(0, |sum: u64, at| sum.wrapping_add(mix(at)));
    expect("the sum", found, right)
}

/// Appends a tree of `nodes` nodes, and returns its root.
fn grow(all: &mut Vec<Node>, nodes: usize, shape: Shape) -> Option<u32> {
    if nodes == 0 {
        return None;
    }
    let root = all.len();
    all.push(Node {
        value: mix(root as u64),
        below: [None; 2],
    });
    let rest = nodes - 1;
    let first = match shape {
        Shape::Balanced => rest / 2,
        Shape::HeavyFirst => rest * 2 / 3,
        Shape::LightFirst => rest - rest * 2 / 3,
    };
    let below = [first, rest - first].map(|nodes| grow(all, nodes, shape));
    all[root].below = below;
    Some(root as u32)
}

fn total<R: Runtime>(context: &mut R::Context<'_>, all: &[Node], at: u32) -> u64 {
    let Node { value, below } = &all[at as usize];
    let below = match *below {
        [None, None] => 0,
        [Some(one), None] | [None, Some(one)] => total::<R>(context, all, one),
        [Some(a), Some(b)] => {
            let (a, b) = R::join(
                context,
                |context| total::<R>(context, all, a),
                |context| total::<R>(context, all, b),
            );
            a.wrapping_add(b)
        }
    };
    value.wrapping_add(below)
}
