//! All of the runtime's operations, mixed by several callers in two pools: loops, joins, scopes, spawned
//! jobs, broadcasts, installed calls, barriers, channels, panics. Only the runtime orders their accesses to
//! plain memory. ThreadSanitizer (`ci/tsan.sh`) reports each unordered access; without it the test sees wrong
//! values. A failure names its seed.

#[path = "../../manycore/tests/support/partitioners.rs"]
mod partitioners;
#[path = "../../manycore/tests/support/pools.rs"]
mod pools;

use fastrand::Rng;
use manycore::Pool;
use manycore_team::barrier::TeamBarrier;
use manycore_team::channel::Channel;
use partitioners::all;
use pools::pool;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// A plain value that several threads use in turn.
#[derive(Default)]
struct Plain(UnsafeCell<u64>);

// SAFETY: the tests access a value only where the tested operation orders the access after the last one by
// another thread. The tests check exactly this order.
unsafe impl Sync for Plain {}

impl Plain {
    fn get(&self) -> u64 {
        // SAFETY: see `Sync`.
        unsafe { *self.0.get() }
    }

    fn set(&self, value: u64) {
        // SAFETY: see `Sync`.
        unsafe { *self.0.get() = value };
    }
}

/// Adds 1 to each item, by recursive halving.
fn tree(pool: &Pool, items: &mut [u64]) {
    if let [item] = items {
        *item += 1;
        return;
    }
    let (left, right) = items.split_at_mut(items.len() / 2);
    pool.join(|| tree(pool, left), || tree(pool, right));
}

/// The depth of steps outside every pool.
const OUTSIDE: usize = 2;

/// Runs a random operation that increases each of `items` by 1.
fn step(pools: &[Pool; 2], rng: &mut Rng, items: &mut Vec<u64>, depth: usize) {
    let (here, there) = match rng.bool() {
        true => (&pools[0], &pools[1]),
        false => (&pools[1], &pools[0]),
    };
    match rng.u8(..9) {
        0 => {
            let all = all();
            let partitioner = *rng.choice(&all).expect("there are some");
            (here.with(partitioner)).for_each_mut(items, |item| *item += 1);
        }
        1 => tree(here, items),
        2 => here.scope(|scope| {
            for item in items.iter_mut() {
                scope.spawn(move |scope| scope.spawn(move |_| *item += 1));
            }
        }),
        // Outside pools only: the waiting jobs would occupy a pool's threads.
        3 if depth == OUTSIDE => {
            let (tell, told) = mpsc::channel();
            let mut taken = std::mem::take(items);
            let job = move || {
                taken.iter_mut().for_each(|item| *item += 1);
                let _ = tell.send(taken);
            };
            match rng.bool() {
                true => here.spawn(job),
                false => here.spawn_fifo(job),
            }
            *items = told.recv().expect("the job runs");
        }
        4 => {
            // All threads read the caller's writes, and the caller reads theirs.
            let seen: &[u64] = items;
            let sums = here.broadcast(|_| Box::new(seen.iter().sum::<u64>()));
            let sum = seen.iter().sum();
            assert!(sums.into_iter().all(|each| *each == sum));
            items.iter_mut().for_each(|item| *item += 1);
        }
        5 if depth > 0 => {
            let mut rng = rng.fork();
            here.install(|| step(pools, &mut rng, items, depth - 1));
        }
        6 if depth > 0 => {
            let mut rng = rng.fork();
            here.install(|| there.install(|| step(pools, &mut rng, items, depth - 1)));
        }
        7 => {
            let bad = rng.usize(..items.len());
            let caught = catch_unwind(AssertUnwindSafe(|| {
                here.scope(|scope| {
                    for (i, item) in items.iter_mut().enumerate() {
                        scope.spawn(move |_| {
                            *item += 1;
                            if i == bad {
                                resume_unwind(Box::new(i));
                            }
                        });
                    }
                });
            }));
            let payload = caught.expect_err("a job panics");
            assert_eq!(payload.downcast_ref(), Some(&bad));
        }
        _ => {
            let plus = |item: &mut u64| *item += 1;
            here.chunks_mut(items, 3, |_, chunk| chunk.iter_mut().for_each(plus));
        }
    }
}

/// Runs `steps` steps on each of `callers` threads.
fn mix(pools: &[Pool; 2], seed: u64, callers: u64, steps: u64) {
    thread::scope(|scope| {
        for caller in 0..callers {
            scope.spawn(move || {
                let seed = seed * 1_000 + caller;
                let mut rng = Rng::with_seed(seed);
                let mut items = vec![0; rng.usize(1..40)];
                for done in 0..steps {
                    step(pools, &mut rng, &mut items, OUTSIDE);
                    assert!(items.iter().all(|&item| item == done + 1), "seed {seed}");
                    if rng.u8(..10) == 0 {
                        thread::sleep(Duration::from_micros(rng.u64(..500)));
                    }
                }
            });
        }
    });
}

#[test]
fn several_callers_of_two_pools() {
    mix(&[pool(2), pool(3)], 1, 3, 300);
    mix(&[pool(1), pool(4)], 2, 2, 300);
}

#[test]
fn pools_that_come_and_go() {
    for seed in 10..40 {
        mix(&[pool(2), pool(2)], seed, 2, 8);
    }
}

/// Each member writes its value before the barrier, and reads all others' after it.
#[test]
fn members_of_a_barrier() {
    const MEMBERS: usize = 3;
    let barrier = TeamBarrier::new(MEMBERS);
    let values: [Plain; MEMBERS] = Default::default();
    thread::scope(|scope| {
        for rank in 0..MEMBERS {
            let (mut member, values) = (barrier.member(), &values);
            scope.spawn(move || {
                for episode in 1..=300 {
                    values[rank].set(episode);
                    member.wait();
                    assert!(values.iter().all(|value| value.get() == episode));
                    member.wait();
                    if episode % 50 == rank as u64 {
                        thread::sleep(Duration::from_micros(300));
                    }
                }
            });
        }
    });
}

/// In jobs of a pool, a receiver sees the sender's earlier writes.
#[test]
fn a_message_carries_what_was_written_before() {
    const MESSAGES: usize = 2_000;
    let pool = pool(3);
    let channel = Channel::new();
    let mut sender = channel.open();
    let values: Arc<Vec<Plain>> = Arc::new((0..MESSAGES).map(|_| Plain::default()).collect());
    let (tell, told) = mpsc::channel();
    for _ in 0..2 {
        let (mut port, values, tell) = (channel.open(), Arc::clone(&values), tell.clone());
        pool.spawn(move || {
            let mut sum = 0;
            let mut text = Vec::new();
            for _ in 0..MESSAGES {
                let message = port.receive_long(&mut text).expect("one more is sent");
                sum += values[message.payload as usize].get();
            }
            tell.send(sum).expect("the test waits");
        });
    }
    for (i, value) in values.iter().enumerate() {
        value.set(i as u64);
        sender.send(i as u64);
    }
    let sum = (0..MESSAGES as u64).sum();
    assert_eq!([told.recv(), told.recv()], [Ok(sum), Ok(sum)]);
}
