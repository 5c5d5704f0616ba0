//! Safe programs in which a pool once broke a promise: a thread went on with a permit that it had given away,
//! an allotment's growth woke no thread, or threads outlived their end.
#![forbid(unsafe_code)]

#[path = "support/eventually.rs"]
mod eventually;
#[path = "support/pools.rs"]
mod pools;

use eventually::eventually;
use manycore::elastic::Allotment;
use manycore::prelude::*;
use manycore::topology::Affinity;
use manycore::{Partitioner, Pool};
use pools::pool;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

/// An event that happens once, for which threads wait.
#[derive(Clone, Default)]
struct Event(Arc<AtomicBool>);

impl Event {
    fn happen(&self) {
        self.0.store(true, SeqCst);
    }

    fn has_happened(&self) -> bool {
        self.0.load(SeqCst)
    }

    /// Waits as a user's code does, and keeps the thread's permit.
    fn wait(&self, what: &str) {
        eventually(what, || self.has_happened().then_some(()));
    }
}

/// A pool that its own jobs' threads may keep.
fn shared(pool: Pool) -> Arc<Pool> {
    Arc::new(pool)
}

/// Keeps the core busy for `us` microseconds.
fn work(us: u64) {
    let end = Instant::now() + Duration::from_micros(us);
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

/// Waits in a join until another thread has this thread's permit. The other half of the join waits for a job
/// that finds no other permit. That job keeps the permit until `back`.
fn wait_for_a_stranger(pool: &Arc<Pool>, back: &Event) {
    let (half, stranger) = (Event::default(), Event::default());
    pool.join(
        || half.wait("another thread takes the second half"),
        || {
            half.happen();
            let (begins, back) = (stranger.clone(), back.clone());
            pool.spawn(move || {
                begins.happen();
                back.wait("the thread goes on elsewhere");
            });
            stranger.wait("a job takes the permit of the thread that waits");
        },
    );
}

/// Returns whether a `filter` over `n` items, with the body `each`, finds each item once.
fn is_whole(n: usize, each: impl Fn(usize) + Sync) -> bool {
    let all: Vec<usize> = (0..n)
        .into_par_iter()
        .filter(|&i| {
            each(i);
            true
        })
        .collect();
    all.into_iter().eq(0..n)
}

/// The first iteration of a nested loop runs before the loop is posted, since no worker is idle. It waits,
/// and goes on with another permit: the loop must be posted with that permit.
#[test]
fn a_loop_is_posted_with_the_permit_that_its_caller_has_then() {
    let pool = shared(pool(3));
    for round in 0..20 {
        let (free, over) = (Event::default(), Event::default());
        let whole = pool.install(|| {
            for until in [&free, &over] {
                let (begun, until) = (Event::default(), until.clone());
                let begins = begun.clone();
                pool.spawn(move || {
                    begins.happen();
                    until.wait("the permit is needed");
                });
                begun.wait("a job takes a permit");
            }
            let whole = AtomicBool::new(false);
            pool.with(Partitioner::fixed_block(1))
                .parallel_for(0..2, |outer| {
                    if outer == 1 {
                        return;
                    }
                    let is = is_whole(1_000, |i| {
                        if i > 0 {
                            return work(10);
                        }
                        free.happen();
                        let back = Event::default();
                        wait_for_a_stranger(&pool, &back);
                        back.happen();
                        // Gives the stranger's thread time to look for loops.
                        work(300);
                    });
                    whole.store(is, SeqCst);
                });
            over.happen();
            whole.into_inner()
        });
        assert!(whole, "round {round}: items are missing, or twice there");
    }
}

/// A worker beyond the allotment runs a broadcast's call, which waits. The allotment grows, and the worker
/// goes on with another permit: it must look for loops with that permit.
#[test]
fn a_worker_that_stood_aside_helps_with_the_permit_that_it_has_then() {
    let allotment = Allotment::new(1);
    let builder = Pool::builder().threads(3).follow(&allotment);
    let pool = shared(builder.build().unwrap());
    for round in 0..20 {
        allotment.set(1);
        thread::sleep(Duration::from_millis(5));
        let [called, joined, open] = std::array::from_fn(|_| Event::default());
        let (mine, begins, joins, opened) = (
            Arc::clone(&pool),
            called.clone(),
            joined.clone(),
            open.clone(),
        );
        pool.spawn_broadcast(move |context| match context.index() {
            1 => joins.wait("the join with permit 2 is over"),
            2 => {
                begins.happen();
                let back = Event::default();
                wait_for_a_stranger(&mine, &back);
                back.happen();
                joins.happen();
                opened.wait("the loop is under way");
            }
            _ => {}
        });
        called.wait("permit 2 has its call");
        allotment.set(3);
        joined.wait("the join with permit 2 is over");
        let whole = pool.install(|| {
            is_whole(20_000, |i| {
                if i > 20 && !open.has_happened() {
                    open.happen();
                }
                work(5);
            })
        });
        assert!(whole, "round {round}: items are missing, or twice there");
    }
}

/// A worker beyond the allotment sleeps in a join. The allotment grows while a job waits: only the worker's
/// permit is left for it.
#[test]
fn growth_reaches_a_worker_that_sleeps_in_a_wait() {
    let allotment = Allotment::new(1);
    let builder = Pool::builder().threads(3).follow(&allotment);
    let pool = shared(builder.build().unwrap());
    let (called, joined) = (Event::default(), Event::default());
    let (mine, begins, joins) = (Arc::clone(&pool), called.clone(), joined.clone());
    pool.spawn_broadcast(move |context| match context.index() {
        1 => joins.wait("the join with permit 2 is over"),
        2 => {
            begins.happen();
            let back = Event::default();
            back.happen();
            wait_for_a_stranger(&mine, &back);
            joins.happen();
        }
        _ => {}
    });
    called.wait("permit 2 has its call");
    // Time for the worker to fall asleep.
    thread::sleep(Duration::from_millis(50));
    allotment.set(3);
    joined.wait("the job begins, and the join ends");
}

/// The same without growth: mail arrives, which permits beyond the allotment serve as well.
#[test]
fn a_worker_beyond_the_allotment_does_not_keep_mail_from_its_permit() {
    let allotment = Allotment::new(4);
    let builder = Pool::builder().threads(4).follow(&allotment);
    let pool = shared(builder.build().unwrap());
    let (begun, shrunk) = (Arc::new(AtomicUsize::new(0)), Event::default());
    let ended = Arc::new(AtomicUsize::new(0));
    let (mine, begins, shrinks, ends) = (
        Arc::clone(&pool),
        Arc::clone(&begun),
        shrunk.clone(),
        Arc::clone(&ended),
    );
    pool.spawn_broadcast(move |_| {
        begins.fetch_add(1, SeqCst);
        shrinks.wait("the allotment shrinks");
        mine.broadcast(|_| ());
        ends.fetch_add(1, SeqCst);
    });
    eventually("all calls begin", || {
        (begun.load(SeqCst) == 4).then_some(())
    });
    allotment.set(3);
    shrunk.happen();
    eventually("all calls end", || (ended.load(SeqCst) == 4).then_some(()));
}

/// A caller gives permit 0 away in its call, gets permit 1 and leaves, while the holder of permit 0 sleeps.
/// Then no work is left.
#[test]
fn threads_end_after_a_caller_has_left_from_another_permit() {
    let called = shared(pool(2));
    let other = Pool::builder().threads(1).dedicated(true);
    let other = other.build().unwrap();
    eventually("a caller comes back to another permit", || {
        let permit = called.install(|| {
            let back = Event::default();
            other.install(|| {
                // Time for the caller to give its permit away.
                thread::sleep(Duration::from_millis(4));
                let (begun, until) = (Event::default(), back.clone());
                let begins = begun.clone();
                called.spawn(move || {
                    begins.happen();
                    until.wait("the caller is back");
                });
                begun.wait("a job takes a permit");
            });
            let permit = called.current_thread_index();
            back.happen();
            // Time for the job's thread to fall asleep.
            thread::sleep(Duration::from_millis(30));
            permit
        });
        (permit != Some(0)).then_some(())
    });
    let ended = Event::default();
    let (ends, pool) = (ended.clone(), Arc::clone(&called));
    thread::spawn(move || {
        assert!(pool.end_threads());
        ends.happen();
    });
    ended.wait("the threads end");
}

/// The end of all threads does not overlook a thread that another has just started.
#[test]
fn threads_that_have_just_been_started_end_too() {
    let live = Arc::new(AtomicUsize::new(0));
    let (more, less) = (Arc::clone(&live), Arc::clone(&live));
    let builder = Pool::builder()
        .threads(2)
        .affinity(Affinity::Compact)
        .on_thread_start(move |_| _ = more.fetch_add(1, SeqCst))
        .on_thread_exit(move |_| _ = less.fetch_sub(1, SeqCst));
    let pool = builder.build().unwrap();
    for round in 0..200 {
        let ran = Event::default();
        let runs = ran.clone();
        thread::scope(|scope| {
            let pool = &pool;
            scope.spawn(move || {
                pool.spawn_broadcast(move |context| {
                    if context.index() == 0 {
                        runs.happen();
                    }
                });
            });
            // Once the call with permit 0 has run, all threads have started.
            ran.wait("the call with permit 0 runs");
            assert!(pool.end_threads());
            assert_eq!(live.load(SeqCst), 0, "round {round}: threads that run");
        });
    }
}

/// A slice of items without size may be as long as the largest number.
#[test]
fn windows_of_the_longest_slice_are_counted() {
    let units = [(); usize::MAX];
    for size in [1, 2, 3, usize::MAX] {
        assert_eq!(units[..].par_windows(size).len(), units.windows(size).len());
    }
    assert_eq!([(); 3].par_windows(4).len(), 0);
}
