//! Destructors of thread-locals on a pool's threads. They run after the thread has left the pool, while another thread
//! may wait for the thread's end.

use super::eventually::eventually;
use super::live::ends;
use manycore::Pool;
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::Duration;

/// A value of a thread-local variable. Its destructor calls a closure.
struct AtEnd(Box<dyn FnMut()>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        (self.0)();
    }
}

thread_local! {
    static AT_END: RefCell<Vec<AtEnd>> = const { RefCell::new(vec![]) };
}

fn at_end(action: impl FnMut() + 'static) {
    AT_END.with(|all| all.borrow_mut().push(AtEnd(Box::new(action))));
}

/// A pool that runs no call on the caller's thread, so that callers wait.
fn elsewhere() -> Pool {
    let builder = Pool::builder().threads(1).dedicated(true);
    builder.build().unwrap()
}

/// Uses the pool in a random way, and counts to `count` what it has run.
fn use_pool(pool: &Arc<Pool>, random: &mut fastrand::Rng, count: &Arc<AtomicUsize>) -> usize {
    let add = || _ = count.fetch_add(1, SeqCst);
    match random.usize(0..9) {
        0 => drop(pool.join(add, add)),
        1 => pool.parallel_for(0..2, |_| add()),
        2 => pool.scope(|scope| (0..2).for_each(|_| scope.spawn(|_| add()))),
        3 => pool.in_place_scope(|scope| (0..2).for_each(|_| scope.spawn(|_| add()))),
        4 => (0..2).for_each(|_| {
            let count = Arc::clone(count);
            pool.spawn(move || _ = count.fetch_add(1, SeqCst));
        }),
        5 => {
            _ = pool.broadcast(|_| add());
            return pool.threads();
        }
        6 => pool.install(|| {
            add();
            add();
        }),
        7 => {
            // It may be so that the pool's end waits for this thread, or that this thread is as good as any other.
            _ = pool.end_threads();
            return 0;
        }
        _ => {
            let count = Arc::clone(count);
            pool.spawn_broadcast(move |_| _ = count.fetch_add(1, SeqCst));
            return pool.threads();
        }
    }
    2
}

/// The destructors call the pool whose threads end, in pools of several kinds.
#[test]
fn call_the_pool_whose_threads_end() {
    for seed in 0..if cfg!(miri) { 4 } else { 300 } {
        ends(&format!("seed {seed}"), move || {
            let mut random = fastrand::Rng::with_seed(seed);
            let builder = Pool::builder().threads(random.usize(1..4));
            let pool = builder.dedicated(random.bool()).build().unwrap();
            let (pool, other) = (Arc::new(pool), elsewhere());
            let (ran, expected) = (Arc::default(), Arc::<AtomicUsize>::default());
            for _ in 0..random.usize(1..4) {
                let here = thread::current().id();
                let (weak, first) = (Arc::downgrade(&pool), random.u32(..));
                let (runs, expects) = (Arc::clone(&ran), Arc::clone(&expected));
                pool.spawn_broadcast(move |context| {
                    if thread::current().id() == here {
                        return;
                    }
                    let mut random =
                        fastrand::Rng::with_seed(u64::from(first) + context.index() as u64);
                    let (weak, ran) = (Weak::clone(&weak), Arc::clone(&runs));
                    let expects = Arc::clone(&expects);
                    at_end(move || {
                        let pool = weak.upgrade().expect("the pool goes on");
                        for _ in 0..random.usize(1..3) {
                            expects.fetch_add(use_pool(&pool, &mut random, &ran), SeqCst);
                        }
                    });
                });
                if random.bool() {
                    // Threads of the reserve start.
                    pool.scope(|scope| {
                        for _ in 0..random.usize(1..4) {
                            scope.spawn(|_| {
                                other.install(|| thread::sleep(Duration::from_micros(300)))
                            });
                        }
                    });
                }
                // A destructor may have spawned jobs: then there are threads again.
                for _ in 0..3 {
                    assert!(pool.end_threads());
                }
                assert_eq!(ran.load(SeqCst), expected.load(SeqCst), "seed {seed}");
            }
        });
    }
}

/// A thread that the pool needs no more ends, and is the pool's last owner.
#[test]
#[cfg_attr(miri, ignore = "waits for a second")]
fn drop_the_pool_of_their_thread() {
    let live = Arc::new(AtomicUsize::new(0));
    let (more, less) = (Arc::clone(&live), Arc::clone(&live));
    let builder = Pool::builder().threads(1).dedicated(true);
    let builder = builder.on_thread_start(move |_| _ = more.fetch_add(1, SeqCst));
    let builder = builder.on_thread_exit(move |_| _ = less.fetch_sub(1, SeqCst));
    let (pool, other) = (builder.build().unwrap(), elsewhere());
    let owner = Arc::new(Mutex::new(None));
    pool.scope(|scope| {
        for _ in 0..5 {
            let owner = Arc::clone(&owner);
            let other = &other;
            scope.spawn(move |_| {
                other.install(|| thread::sleep(Duration::from_millis(20)));
                at_end(move || drop::<Option<Arc<Pool>>>(owner.lock().unwrap().take()));
            });
        }
    });
    *owner.lock().unwrap() = Some(Arc::new(pool));
    eventually("all threads end", || (live.load(SeqCst) == 0).then_some(()));
    assert!(owner.lock().unwrap().is_none());
}
