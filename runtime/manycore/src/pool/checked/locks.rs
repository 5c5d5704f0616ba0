//! A job holds a lock around a call that waits, and threads that block on that lock may take all permits (rights to run
//! jobs) of the pool. When the call ends, a permit must become free for the job. Otherwise there is a deadlock, which
//! shuttle reports.

use super::fork::{Count, FencedShuttle, dawdle, stolen};
use super::whole::{Meeting, check, pool};
use crate::Partitioner;
use crate::pool::Pool;
use manycore_check::{Shuttle, team};
use manycore_platform::{Atomic, Futex, Ordering, Platform};

/// Blocks its thread, as the standard library's mutex does.
struct Blocking<P: Platform>(P::Futex);

impl<P: Platform> Blocking<P> {
    fn new() -> Self {
        Self(Atomic::new(0))
    }

    fn with(&self, section: impl FnOnce()) {
        while self.0.swap(1, Ordering::Acquire) == 1 {
            self.0.wait(1, None);
        }
        section();
        self.0.store(0, Ordering::Release);
        self.0.wake(u32::MAX);
    }
}

/// The call of the lock's holder. The call runs `begin` first.
type Wait<P> = fn(&Pool<P>, begin: &(dyn Fn() + Sync));

/// A thread from outside, or a job, holds the lock around `wait`. On each thread of the pool, an unrelated job wants
/// the lock.
fn around<P: Platform>(installed: bool, wait: Wait<P>) {
    let (pool, lock, done) = (pool::<P>(2), Blocking::<P>::new(), Count::default());
    let begun = Meeting::<P>::of(2);
    team::<P>(2, |rank| {
        if rank == 1 {
            begun.attend();
            pool.broadcast(|_| lock.with(|| done.up()));
            return;
        }
        let hold = || {
            lock.with(|| {
                wait(&pool, &|| {
                    begun.arrive();
                    dawdle::<P>();
                });
            });
        };
        if installed {
            pool.install(hold);
        } else {
            hold();
        }
    });
    assert_eq!(done.get(), 2);
}

fn checked(wait: Wait<Shuttle>, fenced: Wait<FencedShuttle>) {
    for installed in [false, true] {
        check(500, move || around(installed, wait));
        check(100, move || around(installed, fenced));
    }
}

#[test]
fn around_a_join() {
    fn wait<P: Platform>(pool: &Pool<P>, begin: &(dyn Fn() + Sync)) {
        stolen(pool, || (), begin);
    }
    checked(wait::<Shuttle>, wait::<FencedShuttle>);
}

#[test]
fn around_a_scope() {
    fn wait<P: Platform>(pool: &Pool<P>, begin: &(dyn Fn() + Sync)) {
        let both = Meeting::<P>::of(2);
        pool.scope(|scope| {
            scope.spawn(|_| {
                both.attend();
                begin();
            });
            both.attend();
        });
    }
    checked(wait::<Shuttle>, wait::<FencedShuttle>);
}

#[test]
fn around_a_loop() {
    fn wait<P: Platform>(pool: &Pool<P>, begin: &(dyn Fn() + Sync)) {
        let both = Meeting::<P>::of(2);
        pool.with(Partitioner::fixed_block(1))
            .parallel_for(0..2, |i| {
                both.attend();
                if i == 1 {
                    begin();
                }
            });
    }
    checked(wait::<Shuttle>, wait::<FencedShuttle>);
}
