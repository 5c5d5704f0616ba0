//! Stacks grow no deeper than the program's own recursion.

use super::pools::pool;
use manycore::Pool;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Joins nest a million deep: the stack holds their frames and nothing else.
#[test]
fn a_million_joins_deep() {
    const DEPTH: u32 = 1_000_000;
    // Address space. Without optimisation each level has some hundred bytes.
    const STACK: usize = 4 << 30;
    fn first(left: u32) -> u32 {
        match left {
            0 => 0,
            _ => 1 + manycore::join(|| first(left - 1), || ()).0,
        }
    }
    fn second(left: u32) -> u32 {
        match left {
            0 => 0,
            _ => 1 + manycore::join(|| (), || second(left - 1)).1,
        }
    }
    let big = || thread::Builder::new().stack_size(STACK);
    for threads in [1, 2] {
        let pool = Pool::builder().threads(threads).stack_size(STACK);
        let pool = pool.build().unwrap();
        thread::scope(|scope| {
            let visit = || {
                assert_eq!(pool.install(|| first(DEPTH)), DEPTH);
                assert_eq!(pool.install(|| second(DEPTH)), DEPTH);
            };
            big().spawn_scoped(scope, visit).unwrap();
        });
    }
    let adopted = || {
        let builder = Pool::builder().threads(2).adopt_current_thread(true);
        let _pool = builder.stack_size(STACK).build().unwrap();
        assert_eq!(first(DEPTH), DEPTH);
    };
    big().spawn(adopted).unwrap().join().unwrap();
}

/// A node of a tree of joins: the path from the root, one bit for each level, after a leading 1.
type Node = u64;

fn is_within(node: Node, ancestor: Node) -> bool {
    let levels = ancestor.leading_zeros() - node.leading_zeros().min(ancestor.leading_zeros());
    node >> levels == ancestor
}

thread_local! {
    /// The nodes that this thread has begun and not yet ended.
    static INSIDE: RefCell<Vec<Node>> = const { RefCell::new(vec![]) };
}

/// A waiting thread runs only descendants of the call for which it waits.
#[test]
fn a_waiting_stack_holds_descendants_only() {
    fn visit(pool: &Pool, node: Node, depth: u32, deepest: &AtomicUsize) {
        let outer = INSIDE.with_borrow(|inside| inside.last().copied());
        if let Some(outer) = outer {
            assert!(is_within(node, outer), "{node:b} below {outer:b}");
        }
        let nested = INSIDE.with_borrow_mut(|inside| {
            inside.push(node);
            inside.len()
        });
        deepest.fetch_max(nested, Relaxed);
        if depth > 0 {
            // The tree is uneven, so that some thread always waits for another.
            let (a, b) = match node % 3 {
                0 => (depth - 1, depth.saturating_sub(4)),
                1 => (depth.saturating_sub(4), depth - 1),
                _ => (depth - 1, depth - 1),
            };
            pool.join(
                || visit(pool, node * 2, a, deepest),
                || visit(pool, node * 2 + 1, b, deepest),
            );
        } else {
            (0..node % 300).for_each(|_| std::hint::spin_loop());
        }
        INSIDE.with_borrow_mut(|inside| inside.pop());
    }
    for threads in [2, 4] {
        let pool = pool(threads);
        for _ in 0..30 {
            let deepest = AtomicUsize::new(0);
            pool.install(|| visit(&pool, 1, 16, &deepest));
            assert!(deepest.into_inner() <= 17, "one node of each level");
        }
    }
}

/// A thread that waits in scopes runs unrelated jobs, but only to a bounded depth.
#[test]
fn scopes_nest_strangers_to_a_bound() {
    thread_local! {
        static NESTED: Cell<usize> = const { Cell::new(0) };
    }
    // A waiting thread runs unrelated jobs eight scopes deep. Before that and below, it runs its own.
    const BOUND: usize = 8 + 2;
    for threads in [2, 4] {
        let pool = pool(threads);
        let deepest = AtomicUsize::new(0);
        let job = || {
            let nested = NESTED.get() + 1;
            NESTED.set(nested);
            deepest.fetch_max(nested, Relaxed);
            manycore::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|_| (0..100).for_each(|_| std::hint::spin_loop()));
                }
            });
            NESTED.set(nested - 1);
        };
        pool.scope(|scope| {
            scope.spawn_broadcast(|scope, _| {
                for _ in 0..5_000 {
                    scope.spawn(|_| job());
                }
            });
        });
        let deepest = deepest.into_inner();
        assert!(deepest <= BOUND, "{deepest} jobs on one stack");
    }
}
