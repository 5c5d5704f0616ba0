//! Sums over a binary tree: of all nodes, and of all nodes up to each.

use super::sum_below;
use crate::Program;

const DEPTH: u32 = 15;

struct Node {
    value: u64,
    children: Option<Box<[Node; 2]>>,
}

pub fn programs() -> Vec<Program> {
    let nodes = (1 << DEPTH) - 1;
    let tree = || build(DEPTH, 0).0;
    vec![
        Program::new(
            "tree_sum",
            tree,
            |tree| (sum(&tree), tree),
            move |(sum, _)| {
                assert_eq!(sum, sum_below(nodes));
            },
        ),
        Program::new(
            "tree_prefix_sums",
            tree,
            |mut tree| {
                let mut sums = sums_below(&tree);
                prefix(&mut tree, &mut sums, 0);
                tree
            },
            |tree| check(&tree, &mut 0, &mut 0),
        ),
    ]
}

/// A tree with the values `from` and the following numbers, in order; returns also the next number.
fn build(depth: u32, from: u64) -> (Node, u64) {
    if depth == 1 {
        let (value, children) = (from, None);
        return (Node { value, children }, from + 1);
    }
    let (left, value) = build(depth - 1, from);
    let (right, next) = build(depth - 1, value + 1);
    let children = Some(Box::new([left, right]));
    (Node { value, children }, next)
}

fn sum(node: &Node) -> u64 {
    let Some(children) = &node.children else {
        return node.value;
    };
    let (left, right) = rayon::join(|| sum(&children[0]), || sum(&children[1]));
    left + node.value + right
}

/// A tree of the same shape. Each value is the sum of a subtree.
fn sums_below(node: &Node) -> Node {
    let Some(children) = &node.children else {
        return Node {
            value: node.value,
            children: None,
        };
    };
    let (left, right) = rayon::join(|| sums_below(&children[0]), || sums_below(&children[1]));
    Node {
        value: left.value + node.value + right.value,
        children: Some(Box::new([left, right])),
    }
}

/// Each value becomes the sum of all values up to it. `before` is the sum of the values before this subtree.
fn prefix(node: &mut Node, sums: &mut Node, before: u64) {
    let (Some(children), Some(sums)) = (&mut node.children, &mut sums.children) else {
        node.value += before;
        return;
    };
    node.value += before + sums[0].value;
    let upto = node.value;
    let ([left, right], [sums_left, sums_right]) = (&mut **children, &mut **sums);
    rayon::join(
        || prefix(left, sums_left, before),
        || prefix(right, sums_right, upto),
    );
}

/// In order, the values are the sums of the numbers from 0 on.
fn check(node: &Node, number: &mut u64, sum: &mut u64) {
    if let Some(children) = &node.children {
        check(&children[0], number, sum);
    }
    *sum += *number;
    *number += 1;
    assert_eq!(node.value, *sum);
    if let Some(children) = &node.children {
        check(&children[1], number, sum);
    }
}
