//! A pool with a set stack size runs all its work on stacks of that size, even if the caller's stack is
//! small.

use manycore::Pool;
use std::hint::black_box;
use std::thread;

const SMALL: usize = 256 << 10;
const LARGE: usize = 64 << 20;
/// Each frame has a kilobyte, or more without optimisation.
const DEPTH: u64 = 10_000;

#[inline(never)]
fn deep(left: u64) -> u64 {
    let frame = black_box([left; 128]);
    match left {
        0 => frame[0],
        _ => 1 + deep(left - 1) + frame[7] - left,
    }
}

fn dive() {
    assert_eq!(deep(black_box(DEPTH)), DEPTH);
}

#[test]
fn for_a_caller_with_a_small_one() {
    for threads in [1, 2] {
        let builder = Pool::builder().threads(threads).stack_size(LARGE);
        let pool = builder.build().unwrap();
        let visit = || {
            pool.install(dive);
            pool.join(dive, dive);
            pool.scope(|scope| {
                scope.spawn(|_| dive());
                dive();
            });
            pool.scope_fifo(|scope| {
                scope.spawn_fifo(|_| dive());
                dive();
            });
            pool.parallel_for(0..4, |_| dive());
            pool.broadcast(|_| dive());
            let (sender, receiver) = std::sync::mpsc::channel();
            pool.spawn(move || {
                dive();
                sender.send(()).unwrap();
            });
            receiver.recv().unwrap();
        };
        thread::scope(|scope| {
            let small = || thread::Builder::new().stack_size(SMALL);
            // Two callers at once: one finds the other in the pool.
            small().spawn_scoped(scope, visit).unwrap();
            small().spawn_scoped(scope, visit).unwrap();
        });
    }
}

/// Threads that take over a waiting thread's permit have such stacks as well.
#[test]
fn on_a_thread_of_the_reserve() {
    let builder = Pool::builder().threads(1).stack_size(LARGE);
    let pools = [builder.build().unwrap(), builder.build().unwrap()];
    let visit = || {
        pools[0].install(|| pools[1].install(|| pools[0].install(dive)));
    };
    let small = thread::Builder::new().stack_size(SMALL);
    thread::scope(|scope| _ = small.spawn_scoped(scope, visit).unwrap());
}
