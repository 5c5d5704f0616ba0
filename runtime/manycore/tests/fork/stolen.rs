//! Joins whose second closure is always stolen.

use manycore::{FnContext, Pool};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex};

/// A door that is opened once. A thread that arrives earlier blocks, and does not spin, so that the owner
/// does not help the thief.
#[derive(Default)]
pub(crate) struct Door {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Door {
    pub(crate) fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    pub(crate) fn pass(&self) {
        let open = self.open.lock().unwrap();
        drop(self.opened.wait_while(open, |open| !*open).unwrap());
    }
}

/// Runs `pool.join_context`, where `a` waits until `b` has begun. So another thread must run `b`.
pub(crate) fn join_stolen<A: Send, B: Send>(
    pool: &Pool,
    a: impl FnOnce(FnContext) -> A + Send,
    b: impl FnOnce(FnContext) -> B + Send,
) -> (A, B) {
    let begun = Door::default();
    pool.join_context(
        |context| {
            begun.pass();
            a(context)
        },
        |context| {
            begun.open();
            b(context)
        },
    )
}

#[test]
fn the_second_closure_has_migrated() {
    for threads in [2, 3, 4] {
        let pool = super::pools::pool(threads);
        for _ in 0..100 {
            let here = std::thread::current().id();
            let ((a_moved, a), (b_moved, b)) = join_stolen(
                &pool,
                |a| (a.migrated(), std::thread::current().id()),
                |b| (b.migrated(), std::thread::current().id()),
            );
            assert!(!a_moved && b_moved);
            assert!(a == here && b != here);
        }
    }
}

/// The owner waits, awake or asleep, until the thief has ended.
#[test]
fn what_the_thief_wrote_is_there() {
    let pool = super::pools::pool(2);
    for pause in [0, 10, 100, 1_000, 5_000] {
        for _ in 0..20 {
            let done = AtomicBool::new(false);
            let mut written = 0;
            join_stolen(
                &pool,
                |_| (),
                |_| {
                    std::thread::sleep(std::time::Duration::from_micros(pause));
                    written = 7;
                    done.store(true, Relaxed);
                },
            );
            assert!(done.into_inner());
            assert_eq!(written, 7);
        }
    }
}

/// While there are thieves, each level's second closure is stolen before the next level begins.
#[test]
fn one_from_each_of_several_open_joins() {
    let pool = super::pools::pool(4);
    let ((), ()) = join_stolen(
        &pool,
        |_| {
            _ = join_stolen(&pool, |_| _ = join_stolen(&pool, |_| (), |_| ()), |_| ());
        },
        |_| (),
    );
}
