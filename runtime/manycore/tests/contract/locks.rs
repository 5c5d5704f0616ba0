//! A thread holds a lock around a call that waits, while unrelated jobs (strangers) want the lock. The
//! strangers must not run on the holder's stack, and must not keep the holder from going on.

use super::live::ends;
use super::pools::pool;
use manycore::Pool;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

const ROUNDS: usize = 30;

thread_local! {
    /// Whether this thread is in a section of [`Guarded`].
    static HOLDS: Cell<bool> = const { Cell::new(false) };
}

/// Counts the sections under its lock.
#[derive(Default)]
struct Guarded(Mutex<usize>);

impl Guarded {
    fn section(&self, run: impl FnOnce()) {
        assert!(
            !HOLDS.get(),
            "a stranger runs on the stack of the lock's holder"
        );
        let mut count = self.0.lock().unwrap();
        HOLDS.set(true);
        run();
        HOLDS.set(false);
        *count += 1;
    }
}

/// Waits until `set` is true.
fn await_flag(set: &AtomicBool) {
    while !set.load(SeqCst) {
        thread::yield_now();
    }
}

/// The kinds of strangers. A broadcast makes one section for each thread, any other kind one.
#[derive(Clone, Copy)]
enum Stranger {
    Install,
    Broadcast,
    Spawn,
    Loop,
    Scope,
}

impl Stranger {
    const ALL: [Self; 5] = [
        Self::Install,
        Self::Broadcast,
        Self::Spawn,
        Self::Loop,
        Self::Scope,
    ];

    /// Returns the number of sections that this stranger makes.
    fn call(self, pool: &Pool, lock: &Arc<Guarded>) -> usize {
        match self {
            Self::Install => pool.install(|| lock.section(|| ())),
            Self::Broadcast => {
                return pool.broadcast(|_| lock.section(|| ())).len();
            }
            Self::Spawn => {
                let (sender, receiver) = mpsc::channel();
                let lock = Arc::clone(lock);
                pool.spawn(move || {
                    lock.section(|| ());
                    drop(lock);
                    sender.send(()).unwrap();
                });
                receiver.recv().unwrap();
            }
            Self::Loop => pool.parallel_for(0..1, |_| lock.section(|| ())),
            Self::Scope => pool.scope(|scope| scope.spawn(|_| lock.section(|| ()))),
        }
        1
    }
}

/// A call that waits. Its work reports that it has begun, and then lasts a while.
type Wait = fn(&Pool, &Pool, &(dyn Fn() + Sync));

fn round(pool: &Pool, other: &Pool, strangers: &[Stranger], installed: bool, wait: Wait) {
    let (lock, begun) = (Arc::new(Guarded::default()), AtomicBool::new(false));
    let call = |stranger: Stranger| {
        await_flag(&begun);
        stranger.call(pool, &lock)
    };
    let expected = thread::scope(|scope| {
        let call = &call;
        let threads = strangers.iter().map(|&one| scope.spawn(move || call(one)));
        let threads: Vec<_> = threads.collect();
        let body = || {
            begun.store(true, SeqCst);
            // Longer than a waiting thread keeps its permit.
            thread::sleep(Duration::from_millis(1));
        };
        let hold = || lock.section(|| wait(pool, other, &body));
        match installed {
            false => hold(),
            true => pool.install(hold),
        }
        let sections = threads.into_iter().map(|thread| thread.join().unwrap());
        sections.sum::<usize>()
    });
    let lock = Arc::into_inner(lock).expect("no stranger is left");
    assert_eq!(lock.0.into_inner().unwrap(), expected + 1);
}

/// Runs strangers of each kind, and of all kinds at once, against a lock that an outside thread holds.
fn check_outside(what: &str, least: usize, wait: Wait) {
    check_from(what, least, false, wait);
}

/// Runs [`check_outside`], and the same with a lock that a job holds.
fn check(what: &str, least: usize, wait: Wait) {
    check_from(what, least, false, wait);
    check_from(what, least, true, wait);
}

fn check_from(what: &str, least: usize, installed: bool, wait: Wait) {
    for threads in least..=3 {
        ends(what, move || {
            let pools = (pool(threads), pool(2));
            for i in 0..ROUNDS {
                let one = [Stranger::ALL[i % 5]; 3];
                round(&pools.0, &pools.1, &one, installed, wait);
                round(&pools.0, &pools.1, &Stranger::ALL, installed, wait);
            }
        });
    }
}

#[test]
fn around_a_join() {
    check("a lock around a join", 2, |pool, _, body| {
        let stolen = AtomicBool::new(false);
        pool.join(
            || await_flag(&stolen),
            || {
                stolen.store(true, SeqCst);
                body();
            },
        );
    });
}

#[test]
fn around_a_scope() {
    check("a lock around a scope", 2, |pool, _, body| {
        let taken = AtomicBool::new(false);
        pool.scope(|scope| {
            scope.spawn(|_| {
                taken.store(true, SeqCst);
                body();
            });
            await_flag(&taken);
        });
    });
}

#[test]
fn around_a_loop() {
    check("a lock around a loop", 1, |pool, _, body| {
        pool.parallel_for(0..4, |_| body());
    });
}

#[test]
fn around_an_installed_call() {
    check("a lock around install", 1, |pool, _, body| {
        pool.install(body);
    });
}

/// While a lock's holder blocks in the other pool, it gives its permit away, to unrelated jobs that wait for
/// the lock.
#[test]
fn around_a_call_into_another_pool() {
    check_outside("a lock around another pool", 1, |_, other, body| {
        other.install(body);
    });
}

/// The other pool has dedicated threads, so that the caller blocks.
#[test]
fn around_a_call_that_is_handed_over() {
    check_outside("a lock around a busy pool", 1, |_, other, body| {
        let (sits, leave) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            // Another caller has the seat.
            scope.spawn(|| {
                other.install(|| {
                    sits.store(true, SeqCst);
                    await_flag(&leave);
                });
            });
            await_flag(&sits);
            other.install(body);
            leave.store(true, SeqCst);
        });
    });
}
