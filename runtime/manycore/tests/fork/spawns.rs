//! `spawn`, `spawn_fifo`, `yield_now`, and what a thread can ask about itself.

use super::pools::pool;
use super::stolen::Door;
use manycore::{Pool, Yield};
use std::sync::{Arc, Mutex, mpsc};

#[test]
fn from_outside_and_from_inside() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let (sender, receiver) = mpsc::channel();
        for i in 0..100 {
            let sender = sender.clone();
            match i % 4 {
                0 => pool.spawn(move || sender.send(i).unwrap()),
                1 => pool.spawn_fifo(move || sender.send(i).unwrap()),
                2 => pool.install(|| manycore::spawn(move || sender.send(i).unwrap())),
                _ => pool.install(|| manycore::spawn_fifo(move || sender.send(i).unwrap())),
            }
        }
        let mut all: Vec<_> = receiver.iter().take(100).collect();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>(), "{threads} threads");
    }
}

/// The job runs although no thread waits in the pool and no caller comes again.
#[test]
fn a_job_spawned_by_an_external_thread_that_leaves() {
    for threads in [1, 2] {
        for fifo in [false, true] {
            let pool = pool(threads);
            let (sender, receiver) = mpsc::channel();
            pool.install(|| match fifo {
                false => manycore::spawn(move || sender.send(1).unwrap()),
                true => manycore::spawn_fifo(move || sender.send(1).unwrap()),
            });
            assert_eq!(receiver.recv(), Ok(1), "{threads} threads");
        }
    }
}

/// Returns the order in which a pool of one own thread runs jobs.
fn order(spawn: impl Fn(&Arc<Pool>, Box<dyn FnOnce() + Send>) + Send + Sync + 'static) -> Vec<i32> {
    let pool = Arc::new(Pool::builder().threads(1).dedicated(true).build().unwrap());
    let (sender, receiver) = mpsc::channel();
    let held = Arc::new(Door::default());
    let (inside, door) = (Arc::clone(&pool), Arc::clone(&held));
    pool.spawn(move || {
        for i in 0..4 {
            let sender = sender.clone();
            spawn(&inside, Box::new(move || sender.send(i).unwrap()));
        }
        door.pass();
    });
    held.open();
    receiver.iter().collect()
}

#[test]
fn the_order_on_one_thread() {
    assert_eq!(order(|pool, job| pool.spawn(job)), [3, 2, 1, 0]);
    assert_eq!(order(|pool, job| pool.spawn_fifo(job)), [0, 1, 2, 3]);
    assert_eq!(order(|_, job| manycore::spawn(job)), [3, 2, 1, 0]);
    assert_eq!(order(|_, job| manycore::spawn_fifo(job)), [0, 1, 2, 3]);
}

/// Jobs from outside wait in one queue; a single thread runs them in order.
#[test]
fn jobs_from_outside_are_in_order() {
    let pool = Pool::builder().threads(1).dedicated(true).build().unwrap();
    let held = Arc::new(Door::default());
    let door = Arc::clone(&held);
    pool.spawn(move || door.pass());
    let order = Arc::new(Mutex::new(vec![]));
    for i in 0..10 {
        let order = Arc::clone(&order);
        pool.spawn(move || order.lock().unwrap().push(i));
    }
    held.open();
    drop(pool);
    assert_eq!(*order.lock().unwrap(), (0..10).collect::<Vec<_>>());
}

#[test]
fn jobs_that_spawn_jobs() {
    fn tree(pool: &Arc<Pool>, depth: u32, sender: mpsc::Sender<()>) {
        if depth == 0 {
            return sender.send(()).unwrap();
        }
        for _ in 0..2 {
            let (pool, sender) = (Arc::clone(pool), sender.clone());
            let spawner = Arc::clone(&pool);
            let job = move || tree(&pool, depth - 1, sender);
            match depth % 2 {
                0 => spawner.spawn(job),
                _ => spawner.spawn_fifo(job),
            }
        }
    }
    for threads in [1, 2, 4] {
        let pool = Arc::new(pool(threads));
        let (sender, receiver) = mpsc::channel();
        tree(&pool, 8, sender);
        assert_eq!(receiver.iter().count(), 256, "{threads} threads");
    }
}

#[test]
fn outside_of_pools_no_thread_is_a_worker() {
    let pool = pool(2);
    assert_eq!(pool.yield_now(), None);
    assert_eq!(pool.yield_local(), None);
    assert_eq!(pool.current_thread_index(), None);
    assert_eq!(pool.current_thread_has_pending_tasks(), None);
    assert_eq!(manycore::yield_now(), None);
    assert_eq!(manycore::yield_local(), None);
    assert_eq!(manycore::current_thread_index(), None);
    assert_eq!(manycore::current_thread_has_pending_tasks(), None);
    // Inside another pool this thread is not a member of this pool.
    let other = super::pools::pool(2);
    other.install(|| {
        assert_eq!(pool.current_thread_index(), None);
        assert_eq!(pool.yield_now(), None);
        assert!(manycore::current_thread_index().is_some());
    });
}

/// In a pool of one thread, a job runs only when the thread yields.
#[test]
fn yielding_runs_a_job() {
    let pool = pool(1);
    for yields in [manycore::yield_now, manycore::yield_local] {
        pool.install(|| {
            assert_eq!(yields(), Some(Yield::Idle));
            let (sender, receiver) = mpsc::channel();
            for i in 0..3 {
                let sender = sender.clone();
                pool.spawn(move || sender.send(i).unwrap());
            }
            assert_eq!(pool.current_thread_has_pending_tasks(), Some(true));
            assert!(receiver.try_recv().is_err());
            for expected in [2, 1, 0] {
                assert_eq!(yields(), Some(Yield::Executed));
                assert_eq!(receiver.try_recv(), Ok(expected));
            }
            assert_eq!(yields(), Some(Yield::Idle));
            assert_eq!(pool.current_thread_has_pending_tasks(), Some(false));
        });
    }
}

/// A thread that cannot block yields until a job on another thread has ended.
#[test]
fn yielding_steals_too() {
    let pool = pool(2);
    let (busy, held) = (Door::default(), Door::default());
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            pool.install(|| {
                pool.scope(|scope| {
                    let sender = sender.clone();
                    scope.spawn(move |_| sender.send(()).unwrap());
                    busy.open();
                    held.pass();
                });
            });
        });
        busy.pass();
        // Either the other worker takes the job, or it takes this call, which yields until the job has ended.
        pool.install(move || {
            while receiver.try_recv().is_err() {
                manycore::yield_now();
            }
        });
        held.open();
    });
}

#[test]
fn indices_are_below_the_number_of_threads() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let seen = pool.broadcast(|context| (context.index(), manycore::current_thread_index()));
        let expected: Vec<_> = (0..threads).map(|i| (i, Some(i))).collect();
        assert_eq!(seen, expected);
        assert_eq!(pool.current_thread_index(), None);
    }
}
