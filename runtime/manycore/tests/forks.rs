//! A child of `fork` does not have the threads of its parent's pools. A call in a child either ends or is
//! refused at once; no call hangs. An alarm kills a child that hangs.
#![cfg(all(target_os = "linux", not(miri)))]

use manycore::Pool;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// How a child ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Exited(i32),
    Killed(i32),
}

const FINE: End = End::Exited(0);

/// Runs `case` in a child of `fork`. The child exits with the result of `case`, or with 101 after a panic.
fn fork(case: impl FnOnce() -> i32) -> End {
    // SAFETY: the child runs `case` and exits, without a return to the test's caller. The C library keeps its
    // allocator usable.
    match unsafe { libc::fork() } {
        -1 => panic!("cannot fork"),
        0 => {
            // SAFETY: the call takes a number only.
            unsafe { libc::alarm(20) };
            let code = catch_unwind(AssertUnwindSafe(case)).unwrap_or(101);
            // SAFETY: as above.
            unsafe { libc::_exit(code) }
        }
        child => {
            let mut status = 0;
            // SAFETY: the status is a local variable, and `child` is this process's child.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            if libc::WIFSIGNALED(status) {
                End::Killed(libc::WTERMSIG(status))
            } else {
                End::Exited(libc::WEXITSTATUS(status))
            }
        }
    }
}

/// Returns a pool of four whose threads have worked, and spin or sleep.
fn used(asleep: bool) -> Pool {
    let pool = Pool::builder().threads(4).build().expect("a pool");
    assert_eq!(sum(&pool, 100_000), 4_999_950_000);
    if asleep {
        thread::sleep(Duration::from_millis(300));
    }
    pool
}

fn sum(pool: &Pool, n: usize) -> u64 {
    let sum = AtomicU64::new(0);
    pool.parallel_for(0..n, |i| {
        sum.fetch_add(i as u64, Relaxed);
    });
    sum.into_inner()
}

/// Returns 0 if `call` panics with the documented message.
fn refused(call: impl FnOnce()) -> i32 {
    let Err(payload) = catch_unwind(AssertUnwindSafe(call)) else {
        return 1;
    };
    match payload.downcast_ref::<&str>() {
        Some(line) if line.contains("did not survive fork(): build a new pool") => 0,
        _ => 2,
    }
}

#[test]
fn calls_of_the_parents_pool_are_refused() {
    type Call = (&'static str, fn(&Pool));
    let calls: [Call; 11] = [
        ("for", |pool| assert_ne!(sum(pool, 100_000), 0)),
        ("short for", |pool| assert_eq!(sum(pool, 1), 0)),
        ("join", |pool| assert_eq!(pool.join(|| 1, || 2), (1, 2))),
        ("install", |pool| pool.install(|| ())),
        ("scope", |pool| pool.scope(|scope| scope.spawn(|_| ()))),
        ("in place", |pool| {
            pool.in_place_scope(|scope| scope.spawn(|_| ()))
        }),
        ("broadcast", |pool| drop(pool.broadcast(|_| ()))),
        ("spawn", |pool| pool.spawn(|| ())),
        ("spawn_fifo", |pool| pool.spawn_fifo(|| ())),
        ("spawn_broadcast", |pool| pool.spawn_broadcast(|_| ())),
        ("scan", |pool| {
            pool.inclusive_scan(&mut [1; 5_000], |a, b| a + b)
        }),
    ];
    for asleep in [false, true] {
        for (name, call) in calls {
            let pool = used(asleep);
            let end = fork(|| refused(|| call(&pool)));
            assert_eq!(end, FINE, "{name}, asleep: {asleep}");
            // The parent's pool is unchanged.
            assert_eq!(sum(&pool, 1_000), 499_500);
        }
    }
}

#[test]
fn the_parents_pool_is_dropped_without_its_threads() {
    for asleep in [false, true] {
        let mut pool = Some(used(asleep));
        assert_eq!(
            fork(|| {
                drop(pool.take());
                0
            }),
            FINE
        );
    }
}

#[test]
fn a_new_pool_works() {
    for asleep in [false, true] {
        let _parents = used(asleep);
        let end = fork(|| {
            let pool = Pool::builder().threads(3).build().expect("a pool");
            let works = sum(&pool, 1_000_000) == 499_999_500_000
                && pool.join(|| 1, || 2) == (1, 2)
                && pool.broadcast(|context| context.index()) == [0, 1, 2];
            drop(pool);
            i32::from(!works)
        });
        assert_eq!(end, FINE);
    }
}

#[test]
fn the_global_pool_is_a_new_one() {
    let parents = Pool::global();
    assert_eq!(sum(parents, 1_000), 499_500);
    let parents_address = std::ptr::from_ref(parents).addr();
    let works = || {
        let pool = Pool::global();
        // A call on each thread shows that the threads exist.
        let all = manycore::broadcast(|context| context.index());
        all.len() == pool.threads()
            && sum(pool, 100_000) == 4_999_950_000
            && manycore::join(|| 1, || 2) == (1, 2)
    };
    let end = fork(|| {
        let fresh = std::ptr::from_ref(Pool::global()).addr() != parents_address;
        // The same in a child of the child.
        let grandchild = fork(|| i32::from(!works()));
        i32::from(!(fresh && works() && grandchild == FINE))
    });
    assert_eq!(end, FINE);
    assert!(works());
    assert_eq!(std::ptr::from_ref(Pool::global()).addr(), parents_address);
}

#[test]
fn a_global_pool_in_the_making_does_not_block_a_child() {
    // At the fork, another thread may be inside the first call.
    let end = fork(|| {
        let other = thread::spawn(|| Pool::global().threads());
        let mut fine = true;
        for _ in 0..20 {
            fine &= fork(|| i32::from(manycore::join(|| 1, || 2) != (1, 2))) == FINE;
        }
        i32::from(!(fine && other.join().is_ok()))
    });
    assert_eq!(end, FINE);
}

#[test]
fn who_forks_inside_goes_on_alone() {
    let pool = used(false);
    let end = pool.install(|| {
        fork(|| {
            let works = pool.join(|| 1, || 2) == (1, 2)
                && sum(&pool, 100_000) == 4_999_950_000
                && manycore::join(|| 3, || 4) == (3, 4);
            i32::from(!works)
        })
    });
    assert_eq!(end, FINE);
    let spawns = pool.install(|| fork(|| refused(|| pool.spawn(|| ()))));
    assert_eq!(spawns, FINE);
}

#[test]
fn who_must_wait_for_threads_that_are_not_there_aborts() {
    let pool = used(true);
    // Each call of a broadcast must run on its own member.
    let end = pool.install(|| fork(|| pool.broadcast(|_| ()).len() as i32));
    assert_eq!(end, End::Killed(libc::SIGABRT));
    // A stolen half runs only in the parent, while the other half forks.
    let begun = AtomicU64::new(0);
    let forked = AtomicU64::new(0);
    let wait_for = |flag: &AtomicU64| {
        while flag.load(Relaxed) == 0 {
            thread::yield_now();
        }
    };
    let mut child = -1;
    pool.join(
        || {
            wait_for(&begun);
            // SAFETY: as in `fork`; the child goes on in the pool's code, and is aborted.
            child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: the call takes a number only.
                unsafe { libc::alarm(20) };
            } else {
                forked.store(1, Relaxed);
            }
        },
        || {
            begun.store(1, Relaxed);
            wait_for(&forked);
        },
    );
    let mut status = 0;
    // SAFETY: as in `fork`.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGABRT);
}
