//! Start and exit handlers use the pool as any job does, and threads that the pool cannot start delay nobody.

use crate::pools::pool;
use manycore::Pool;
use manycore::seam::{self, BuilderExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// Uses the current thread's pool in several ways.
fn use_the_pool(threads: usize) {
    assert_eq!(manycore::join(|| 1, || 2), (1, 2));
    let count = AtomicUsize::new(0);
    let add = || _ = count.fetch_add(1, SeqCst);
    manycore::parallel_for(0..100, |_| add());
    manycore::scope(|scope| (0..5).for_each(|_| scope.spawn(|_| add())));
    manycore::scope_fifo(|scope| (0..5).for_each(|_| scope.spawn_fifo(|_| add())));
    manycore::yield_now();
    assert_eq!(count.into_inner(), 110);
    let index = manycore::current_thread_index().expect("the handler runs in the pool");
    assert!(index < threads, "{index}");
}

/// All threads end, also those of the reserve, which begin and end without a permit.
#[test]
fn handlers_use_their_pool() {
    for threads in 1..=4 {
        for dedicated in [false, true] {
            let calls = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
            let handler = |nth: usize| {
                let calls = Arc::clone(&calls);
                move |_| {
                    use_the_pool(threads);
                    calls[nth].fetch_add(1, SeqCst);
                }
            };
            let builder = Pool::builder().threads(threads).dedicated(dedicated);
            let builder = builder.on_thread_start(handler(0));
            let pool = builder.on_thread_exit(handler(1)).build().unwrap();
            let other = self::pool(1);
            for _ in 0..3 {
                pool.install(|| pool.spawn(|| ()));
                pool.scope(|scope| {
                    for _ in 0..threads {
                        scope.spawn(|_| other.install(|| thread::sleep(Duration::from_millis(1))));
                    }
                });
                assert_eq!(pool.join(|| 1, || 2), (1, 2));
                assert!(pool.end_threads());
                let [started, ended] = &*calls;
                assert_eq!(started.load(SeqCst), ended.load(SeqCst));
                // A thread that steals finds no frame that a handler has left behind.
                pool.install(|| thread::sleep(Duration::from_millis(1)));
            }
            drop(pool);
            assert_eq!(calls[0].load(SeqCst), calls[1].load(SeqCst));
        }
    }
}

/// A thread that works for a while for a new pool is afterwards a worker of its first pool again.
#[test]
fn a_job_that_runs_another_pools_thread_goes_on_in_its_own_pool() {
    let first = Arc::new(pool(2));
    let (sender, ended) = mpsc::channel();
    let mut make = |start: seam::ThreadStart| {
        let sender = sender.clone();
        first.spawn(move || {
            start.run();
            use_the_pool(2);
            sender.send(()).unwrap();
        });
        Ok(())
    };
    let built = seam::build(&Pool::builder().threads(2), None, Some(&mut make)).unwrap();
    built.install(|| {
        built.join(
            || thread::sleep(Duration::from_millis(1)),
            || thread::sleep(Duration::from_millis(5)),
        )
    });
    let second = pool(1);
    built.scope(|scope| {
        scope.spawn(|_| second.install(|| thread::sleep(Duration::from_millis(5))));
        scope.spawn(|_| thread::sleep(Duration::from_millis(5)));
    });
    drop(built);
    drop(sender);
    assert!(ended.iter().count() >= 1);
}

/// The thread that a pool has adopted drops the pool within a call to another pool.
#[test]
fn an_adopted_thread_drops_its_pool_in_a_call_to_another() {
    let adopting = thread::spawn(|| {
        let builder = Pool::builder().threads(2).adopt_current_thread(true);
        let adopted = builder.build().unwrap();
        let other = pool(2);
        let (sender, receiver) = mpsc::channel();
        for job in 0..20 {
            let sender = sender.clone();
            adopted.spawn(move || sender.send(job).unwrap());
        }
        drop(sender);
        other.install(move || drop(adopted));
        assert_eq!(other.join(|| 1, || 2), (1, 2));
        receiver.iter().sum::<i32>()
    });
    assert_eq!(adopting.join().unwrap(), 19 * 20 / 2);
}

/// The last owner of a pool lets go of it on another pool's thread, in a call that one of the pool's jobs makes.
#[test]
fn a_pool_ends_in_a_call_of_one_of_its_jobs() {
    for ends_threads in [false, true] {
        let ending = Arc::new(pool(2));
        let elsewhere = Pool::builder().threads(1).dedicated(true);
        let elsewhere = Arc::new(elsewhere.build().unwrap());
        let (sender, receiver) = mpsc::channel();
        let (inside, there) = (Arc::clone(&ending), Arc::clone(&elsewhere));
        let met = Arc::new(Barrier::new(2));
        let meets = Arc::clone(&met);
        ending.spawn(move || {
            meets.wait();
            there.install(move || {
                assert!(!ends_threads || !inside.end_threads());
                drop(inside);
            });
            sender.send(()).unwrap();
        });
        drop(ending);
        met.wait();
        assert_eq!(receiver.recv(), Ok(()));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_refused_thread_is_a_panic_and_the_scope_ends() {
    let pool = Pool::builder().threads(2).stack_size(1 << 60).lazy(true);
    let pool = pool.build().unwrap();
    let runs = || pool.in_place_scope(|scope| scope.spawn(|_| ()));
    let panic = catch_unwind(AssertUnwindSafe(runs)).unwrap_err();
    let said = panic.downcast_ref::<String>().unwrap();
    assert!(said.contains("cannot start a thread"), "{said}");
}

/// The caller that leaves the pool reads the mail if there is no thread to do so.
#[test]
fn a_broadcast_reaches_the_place_of_a_caller_that_leaves() {
    for _ in 0..20 {
        let pool = Pool::builder().threads(2).reserve(false);
        let pool = pool.build().unwrap();
        let (inside, seen) = (Barrier::new(2), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            scope.spawn(|| {
                pool.install(|| {
                    inside.wait();
                    thread::sleep(Duration::from_millis(2));
                });
            });
            inside.wait();
            pool.broadcast(|context| seen.lock().unwrap().push(context.index()));
        });
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1]);
    }
}
