//! The sum over a binary tree, with a `join` at every node.
//!
//! The sequential time depends on memory: a traversal in the order of the nodes in memory is several times as fast as
//! in another order. So a tree can have one of two orders, and there are two sequential sums.

use super::{Fork, Kernel, Wrong};
use manycore_platform::Platform;
use std::slice;

/// Instructions for each node in the sequential sum.
const NODE: u64 = 28;

/// The order of a tree's nodes in memory.
///
/// ```
/// use manycore_programs::fork::Placement;
/// assert_ne!(Placement::Preorder, Placement::Postorder);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// A node, its left subtree, its right subtree.
    Preorder,
    /// The left subtree, the right subtree, the node.
    Postorder,
}

/// A balanced tree of numbers. The program adds them up.
///
/// ```
/// use manycore_programs::fork::{Kernel, Placement, Serial, TreeSum};
/// use manycore_platform::Native;
///
/// let mut kernel = TreeSum::new(1023, Placement::Preorder, 42);
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// ```
#[derive(Debug)]
pub struct TreeSum {
    root: BinaryTree,
    /// The correct sum, computed when the values were drawn.
    right: u64,
    answer: Option<u64>,
}

type BinaryTree = Option<Box<BinaryNode>>;

#[derive(Debug)]
struct BinaryNode {
    value: u64,
    left: BinaryTree,
    right: BinaryTree,
}

impl TreeSum {
    /// A tree with values from `seed`. A node takes 32 bytes, with the allocator's overhead.
    ///
    /// ```
    /// use manycore_programs::fork::{Kernel, Placement, TreeSum, Wrong};
    /// let kernel = TreeSum::new(7, Placement::Postorder, 1);
    /// assert_eq!(kernel.verify(), Err(Wrong::NotRun));
    /// ```
    #[must_use]
    pub fn new(nodes: usize, placement: Placement, seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut right = 0_u64;
        let mut value = || {
            let value = random.u64(..);
            right = right.wrapping_add(value);
            value
        };
        let root = match placement {
            Placement::Preorder => preorder(nodes, &mut value),
            Placement::Postorder => postorder(nodes, &mut value),
        };
        Self {
            root,
            right,
            answer: None,
        }
    }

    /// The sequential sum with right subtrees first. On a tree in [`Placement::Postorder`] this is the faster of the
    /// two sums.
    ///
    /// ```
    /// use manycore_programs::fork::{Kernel, Placement, TreeSum};
    /// use manycore_platform::Native;
    ///
    /// let mut kernel = TreeSum::new(1000, Placement::Postorder, 42);
    /// kernel.sequential_right_first::<Native>();
    /// kernel.verify().unwrap();
    /// ```
    pub fn sequential_right_first<P: Platform>(&mut self) {
        self.answer = Some(right_first::<P>(&self.root));
    }
}

impl Kernel for TreeSum {
    fn reset(&mut self) {
        self.answer = None;
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        self.answer = Some(sum(fork, &self.root));
    }

    fn sequential<P: Platform>(&mut self) {
        self.answer = Some(left_first::<P>(&self.root));
    }

    fn verify(&self) -> Result<(), Wrong> {
        let found = self.answer.ok_or(Wrong::NotRun)?;
        Wrong::unless_equal("the sum", found, self.right)
    }
}

fn preorder(nodes: usize, value: &mut impl FnMut() -> u64) -> BinaryTree {
    let children = nodes.checked_sub(1)?;
    let mut node = Box::new(BinaryNode {
        value: value(),
        left: None,
        right: None,
    });
    node.left = preorder(children.div_ceil(2), value);
    node.right = preorder(children / 2, value);
    Some(node)
}

fn postorder(nodes: usize, value: &mut impl FnMut() -> u64) -> BinaryTree {
    let children = nodes.checked_sub(1)?;
    let left = postorder(children.div_ceil(2), value);
    let right = postorder(children / 2, value);
    let value = value();
    Some(Box::new(BinaryNode { value, left, right }))
}

#[inline]
fn touch<P: Platform>(node: &BinaryNode) {
    P::read(slice::from_ref(node));
    P::compute(NODE);
}

fn sum<F: Fork>(fork: &F, tree: &BinaryTree) -> u64 {
    let Some(node) = tree else { return 0 };
    touch::<F::Platform>(node);
    let (left, right) = fork.join(|| sum(fork, &node.left), || sum(fork, &node.right));
    node.value.wrapping_add(left).wrapping_add(right)
}

fn left_first<P: Platform>(tree: &BinaryTree) -> u64 {
    let Some(node) = tree else { return 0 };
    touch::<P>(node);
    let left = left_first::<P>(&node.left);
    let right = left_first::<P>(&node.right);
    node.value.wrapping_add(left).wrapping_add(right)
}

fn right_first<P: Platform>(tree: &BinaryTree) -> u64 {
    let Some(node) = tree else { return 0 };
    touch::<P>(node);
    let right = right_first::<P>(&node.right);
    let left = right_first::<P>(&node.left);
    node.value.wrapping_add(left).wrapping_add(right)
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use manycore_platform::Native;

    fn count(tree: &BinaryTree) -> usize {
        let children = |node: &BinaryNode| count(&node.left) + count(&node.right);
        tree.as_ref().map_or(0, |node| 1 + children(node))
    }

    fn depth(tree: &BinaryTree) -> usize {
        let below = |node: &BinaryNode| depth(&node.left).max(depth(&node.right));
        tree.as_ref().map_or(0, |node| 1 + below(node))
    }

    #[test]
    fn every_schedule_adds_all_nodes() {
        for placement in [Placement::Preorder, Placement::Postorder] {
            for nodes in [0, 1, 2, 3, 1000, 1023] {
                let mut kernel = TreeSum::new(nodes, placement, nodes as u64);
                assert_eq!(count(&kernel.root), nodes);
                assert_eq!(
                    depth(&kernel.root),
                    (nodes + 1).next_power_of_two().ilog2() as usize
                );
                check(&mut kernel);
                kernel.reset();
                kernel.sequential_right_first::<Native>();
                kernel.verify().unwrap();
            }
        }
    }

    #[test]
    fn a_node_left_out_is_caught() {
        let mut kernel = TreeSum::new(100, Placement::Preorder, 1);
        kernel.root.as_mut().unwrap().left = None;
        kernel.sequential::<Native>();
        assert!(kernel.verify().is_err());
    }
}
