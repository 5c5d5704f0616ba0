//! Recursions with two calls at every level, each pair a join, with their inputs and expected
//! results.

use crate::peer::Joins;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ptr;

/// A recursion, in a form that can be sent between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Recursion {
    /// A complete binary tree of joins with empty leaves.
    Empty { levels: u32 },
    /// The Fibonacci number `n`, by the recursive definition.
    Fib { n: u32 },
    /// The sum over a complete binary tree in memory.
    Sum { levels: u32, layout: Layout },
}

/// The order of a tree's nodes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layout {
    /// A node, its left subtree, its right subtree. A walk that goes left first ascends in memory.
    PreOrder,
    /// The left subtree, the right subtree, the node. A walk that goes right first descends in
    /// memory.
    PostOrder,
}

impl Recursion {
    /// The divisor of a time: the time of a tree of empty joins is for each join.
    pub fn parts(self) -> u32 {
        match self {
            Recursion::Empty { levels } => (1 << levels) - 1,
            Recursion::Fib { .. } | Recursion::Sum { .. } => 1,
        }
    }
}

impl fmt::Display for Recursion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Recursion::Empty { .. } => f.write_str("empty join"),
            Recursion::Fib { n } => write!(f, "fib({n})"),
            Recursion::Sum { levels, layout } => {
                let layout = match layout {
                    Layout::PreOrder => "pre-order",
                    Layout::PostOrder => "post-order",
                };
                write!(f, "{} nodes, {layout}", (1u64 << levels) - 1)
            }
        }
    }
}

/// A node in C's layout, at the distance from the next node that `malloc` would give.
#[repr(C, align(32))]
pub struct Node {
    value: u64,
    left: *const Node,
    right: *const Node,
}

// SAFETY: no thread writes a node once its tree is built.
unsafe impl Sync for Node {}

impl Node {
    const EMPTY: Node = Node {
        value: 0,
        left: ptr::null(),
        right: ptr::null(),
    };

    /// This node's value.
    #[inline]
    pub fn value(&self) -> u64 {
        self.value
    }

    /// Both children of an inner node.
    #[inline]
    pub fn children(&self) -> Option<(&Node, &Node)> {
        // SAFETY: `Tree::new` gives a node no child or two of its own tree. The tree is not freed
        // while a node is borrowed.
        unsafe { self.left.as_ref().zip(self.right.as_ref()) }
    }
}

/// A complete tree in one allocation.
struct Tree {
    nodes: Box<[Node]>,
    root: usize,
}

impl Tree {
    /// A tree of `levels` levels, at least one.
    fn new(levels: u32, layout: Layout) -> Self {
        let mut nodes: Box<[Node]> = (0..(1usize << levels) - 1).map(|_| Node::EMPTY).collect();
        let base = nodes.as_mut_ptr();
        let mut placed = 0;
        // SAFETY: a tree of `levels` levels has exactly as many nodes as `nodes`.
        let root = unsafe { place(base, &mut placed, levels, layout) };
        Self { nodes, root }
    }

    fn root(&self) -> &Node {
        &self.nodes[self.root]
    }

    /// The sum of the values, which are 1, 2, 3 and so on.
    fn sum(&self) -> u64 {
        let n = self.nodes.len() as u64;
        n * (n + 1) / 2
    }
}

/// Places a subtree from node `*placed` on. Returns the index of its root.
///
/// # Safety
///
/// All of the subtree's nodes must lie in the allocation of `base`.
unsafe fn place(base: *mut Node, placed: &mut usize, levels: u32, layout: Layout) -> usize {
    let take = |placed: &mut usize| {
        *placed += 1;
        *placed - 1
    };
    let early = (layout == Layout::PreOrder).then(|| take(placed));
    let mut children = [ptr::null(); 2];
    if levels > 1 {
        for child in &mut children {
            // SAFETY: by the caller's contract.
            *child = unsafe { base.add(place(base, placed, levels - 1, layout)) };
        }
    }
    let root = early.unwrap_or_else(|| take(placed));
    let [left, right] = children;
    let value = root as u64 + 1;
    // SAFETY: by the caller's contract.
    unsafe { base.add(root).write(Node { value, left, right }) };
    root
}

/// A recursion, the memory that it reads, and its result.
pub struct Prepared {
    recursion: Recursion,
    tree: Option<Tree>,
    expected: u64,
}

impl Prepared {
    pub fn new(recursion: Recursion) -> Self {
        let tree = match recursion {
            Recursion::Sum { levels, layout } => Some(Tree::new(levels, layout)),
            Recursion::Empty { .. } | Recursion::Fib { .. } => None,
        };
        let expected = match recursion {
            Recursion::Empty { .. } => 0,
            Recursion::Fib { n } => (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0,
            Recursion::Sum { .. } => tree.as_ref().map_or(0, Tree::sum),
        };
        Self {
            recursion,
            tree,
            expected,
        }
    }

    /// Runs the recursion once. Returns whether the result is right.
    #[inline]
    pub fn run(&self, joins: &mut dyn Joins) -> bool {
        let result = match (self.recursion, &self.tree) {
            (Recursion::Fib { n }, _) => joins.fib(n),
            (_, Some(tree)) => joins.sum(tree.root()),
            (Recursion::Empty { levels }, None) => {
                joins.empty(levels);
                0
            }
            (Recursion::Sum { .. }, None) => unreachable!("a sum has a tree"),
        };
        result == self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(node: &Node, right_first: bool, seen: &mut Vec<u64>) {
        seen.push(node.value());
        if let Some((left, right)) = node.children() {
            let (first, second) = if right_first {
                (right, left)
            } else {
                (left, right)
            };
            walk(first, right_first, seen);
            walk(second, right_first, seen);
        }
    }

    #[test]
    fn each_layout_is_monotonic_in_its_own_direction() {
        let order = |layout, right_first| {
            let mut seen = Vec::new();
            walk(Tree::new(5, layout).root(), right_first, &mut seen);
            seen
        };
        assert!(order(Layout::PreOrder, false).into_iter().eq(1..=31));
        assert!(
            order(Layout::PostOrder, true)
                .into_iter()
                .eq((1..=31).rev())
        );
        assert!(!order(Layout::PreOrder, true).is_sorted());
    }

    #[test]
    fn expected_results_are_right() {
        assert_eq!(Prepared::new(Recursion::Fib { n: 32 }).expected, 2_178_309);
        let layout = Layout::PostOrder;
        let sum = Prepared::new(Recursion::Sum { levels: 10, layout });
        assert_eq!(sum.expected, (1..=1023).sum::<u64>());
        assert_eq!(Recursion::Empty { levels: 14 }.parts(), 16_383);
    }
}
