//! A pool ends after all its jobs, and with all its threads.

use super::pools::pool;
use super::stolen::Door;
use manycore::Pool;
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// Counts the end of the thread whose thread-local holds it.
struct Ending(Arc<AtomicUsize>);

impl Drop for Ending {
    fn drop(&mut self) {
        thread::sleep(Duration::from_millis(2));
        self.0.fetch_add(1, SeqCst);
    }
}

thread_local! {
    static ENDING: RefCell<Vec<Ending>> = const { RefCell::new(vec![]) };
}

/// Makes every thread of the pool except this one count its end.
fn count_endings(pool: &Pool) -> Arc<AtomicUsize> {
    let ended = Arc::new(AtomicUsize::new(0));
    let here = thread::current().id();
    pool.broadcast(|_| {
        if thread::current().id() != here {
            let ending = Ending(Arc::clone(&ended));
            ENDING.with(|endings| endings.borrow_mut().push(ending));
        }
    });
    ended
}

#[test]
fn no_thread_outlives_its_pool() {
    for threads in [1, 2, 4, 9] {
        for dedicated in [false, true] {
            let builder = Pool::builder().threads(threads).dedicated(dedicated);
            let pool = builder.build().unwrap();
            let ended = count_endings(&pool);
            let own = threads - usize::from(!dedicated);
            assert_eq!(ended.load(SeqCst), 0);
            drop(pool);
            assert_eq!(ended.load(SeqCst), own, "{threads} threads, {dedicated}");
        }
    }
}

/// A pool of one starts a thread for jobs without a waiting caller, and ends that thread.
#[test]
fn a_thread_started_later_ends_too() {
    let pool = pool(1);
    let ended = Arc::new(AtomicUsize::new(0));
    let ending = Ending(Arc::clone(&ended));
    pool.spawn(move || ENDING.with(|endings| endings.borrow_mut().push(ending)));
    drop(pool);
    assert_eq!(ended.load(SeqCst), 1);
}

#[test]
fn the_end_waits_for_all_jobs() {
    fn chain(pool: &Arc<Pool>, left: u32, ran: &Arc<AtomicUsize>) {
        ran.fetch_add(1, SeqCst);
        if left > 0 {
            let (next, ran) = (Arc::clone(pool), Arc::clone(ran));
            pool.spawn(move || chain(&next, left - 1, &ran));
        }
    }
    for threads in [1, 2, 4] {
        // Spawned jobs, and jobs that these spawn.
        let owner = pool(threads);
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..20 {
            let ran = Arc::clone(&ran);
            owner.spawn(move || {
                for _ in 0..5 {
                    let ran = Arc::clone(&ran);
                    manycore::spawn(move || {
                        thread::sleep(Duration::from_micros(200));
                        ran.fetch_add(1, SeqCst);
                    });
                }
            });
        }
        let counted = Arc::clone(&ran);
        owner.spawn_broadcast(move |_| _ = counted.fetch_add(1, SeqCst));
        drop(owner);
        assert_eq!(ran.load(SeqCst), 100 + threads);
        // The last job of a chain drops the pool.
        let owner = Arc::new(pool(threads));
        let ran = Arc::new(AtomicUsize::new(0));
        chain(&owner, 50, &ran);
        drop(owner);
        super::eventually::eventually("the chain ends", || (ran.load(SeqCst) == 51).then_some(()));
    }
}

/// Thread 0 of a dedicated pool is refused like any other.
#[cfg(target_os = "linux")]
#[test]
fn a_thread_of_its_own_that_cannot_start_is_an_error() {
    let builder = Pool::builder().threads(1).stack_size(1 << 60);
    let error = builder.dedicated(true).build().unwrap_err();
    assert!(error.to_string().contains("thread 0 of 1"), "{error}");
}

/// If a job is the last owner of its pool, the pool's threads end after that job.
#[test]
fn dropped_by_one_of_its_jobs() {
    for threads in [1, 2, 3] {
        let pool = Arc::new(pool(threads));
        let ended = count_endings(&pool);
        let (go, (sender, receiver)) = (Arc::new(Door::default()), mpsc::channel());
        let (inside, door) = (Arc::clone(&pool), Arc::clone(&go));
        pool.spawn(move || {
            door.pass();
            drop(inside);
            sender.send(manycore::join(|| 1, || 2)).unwrap();
        });
        drop(pool);
        go.open();
        assert_eq!(receiver.recv(), Ok((1, 2)));
        super::eventually::eventually("its threads end", || {
            (ended.load(SeqCst) == threads - 1).then_some(())
        });
    }
}

/// The same from a call to another pool.
#[test]
fn dropped_by_one_of_its_jobs_in_another_pool() {
    for threads in [1, 2, 3] {
        let other = Arc::new(super::pools::pool(2));
        let pool = Arc::new(pool(threads));
        let (go, (sender, receiver)) = (Arc::new(Door::default()), mpsc::channel());
        let (inside, door) = (Arc::clone(&pool), Arc::clone(&go));
        let elsewhere = Arc::clone(&other);
        pool.spawn(move || {
            door.pass();
            elsewhere.install(|| drop(inside));
            sender.send(()).unwrap();
        });
        drop(pool);
        go.open();
        assert_eq!(receiver.recv(), Ok(()));
    }
}

#[test]
fn pools_come_and_go() {
    for round in 0..200 {
        let pool = pool(1 + round % 4);
        match round % 5 {
            0 => {}
            1 => assert_eq!(pool.join(|| 1, || 2), (1, 2)),
            2 => pool.spawn(|| ()),
            3 => pool.scope(|scope| scope.spawn(|_| ())),
            _ => pool.spawn_broadcast(|_| ()),
        }
    }
}
