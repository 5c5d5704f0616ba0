//! The global pool: its configuration and its users. A process has one global pool, so each case runs in a
//! child: this program again.
#![cfg(all(unix, not(miri)))]

#[path = "support/eventually.rs"]
mod eventually;
#[path = "support/this_program.rs"]
mod this_program;

use eventually::eventually;
use manycore::{BuildError, Pool, current_num_threads};
use std::panic::catch_unwind;
use std::process::exit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;
use this_program::this_program;

const CASE: &str = "MANYCORE_GLOBAL_CASE";
const THREADS: &str = "MANYCORE_NUM_THREADS";

/// Runs `case` in children, with the environment variable set to each of `values`, or unset for `None`.
fn in_children(test: &str, values: &[Option<&str>], case: impl FnOnce()) {
    if std::env::var_os(CASE).is_some() {
        case();
        exit(0);
    }
    for value in values {
        let mut child = this_program();
        child.args([test, "--exact", "--nocapture"]);
        child.env(CASE, "1").env_remove(THREADS);
        if let Some(value) = value {
            child.env(THREADS, value);
        }
        let output = child.output().expect("the child starts");
        assert!(output.status.success(), "{value:?}: {output:?}");
    }
}

/// Returns the number of threads of a pool without settings.
fn default_threads() -> usize {
    Pool::builder().build().expect("a pool").threads()
}

#[test]
fn it_can_be_built_before_its_first_use() {
    in_children("it_can_be_built_before_its_first_use", &[None], || {
        Pool::builder()
            .threads(5)
            .build_global()
            .expect("the first");
        assert_eq!(Pool::global().threads(), 5);
        assert_eq!(current_num_threads(), 5);
        let again = Pool::builder().build_global();
        assert!(matches!(again, Err(BuildError::GlobalExists)));
        assert_eq!(Pool::global().threads(), 5);
    });
}

#[test]
fn its_first_use_makes_it() {
    in_children("its_first_use_makes_it", &[None], || {
        assert_eq!(manycore::join(|| 1, || 2), (1, 2));
        let late = Pool::builder().threads(7).build_global();
        assert!(matches!(late, Err(BuildError::GlobalExists)));
        assert_eq!(current_num_threads(), default_threads());
    });
}

#[test]
fn a_failure_leaves_it_to_be_made() {
    in_children("a_failure_leaves_it_to_be_made", &[None], || {
        let none = Pool::builder().threads(0).build_global();
        assert!(matches!(none, Err(BuildError::ZeroThreads)));
        Pool::builder()
            .threads(3)
            .build_global()
            .expect("the first");
        assert_eq!(current_num_threads(), 3);
    });
}

#[test]
fn all_threads_get_the_same_one() {
    in_children("all_threads_get_the_same_one", &[None], || {
        let address = || std::ptr::from_ref(Pool::global()).addr();
        let made = AtomicUsize::new(0);
        let all: Vec<usize> = thread::scope(|scope| {
            let one = || {
                let builds = Pool::builder().threads(3).build_global().is_ok();
                made.fetch_add(usize::from(builds), SeqCst);
                address()
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(all.iter().all(|&one| one == address()));
        assert_eq!(made.into_inner(), 1);
    });
}

#[test]
fn the_environment_sets_its_threads() {
    in_children(
        "the_environment_sets_its_threads",
        &[Some("6"), Some(" 6 ")],
        || {
            assert_eq!(current_num_threads(), 6);
        },
    );
}

#[test]
fn the_environment_sets_those_of_a_built_one() {
    in_children(
        "the_environment_sets_those_of_a_built_one",
        &[Some("6")],
        || {
            Pool::builder().build_global().expect("the first");
            assert_eq!(current_num_threads(), 6);
        },
    );
}

#[test]
fn a_number_in_the_program_wins() {
    let values = [Some("6"), Some("nonsense")];
    in_children("a_number_in_the_program_wins", &values, || {
        Pool::builder()
            .threads(4)
            .build_global()
            .expect("the first");
        assert_eq!(current_num_threads(), 4);
    });
}

#[test]
fn zero_and_nothing_are_the_default() {
    let values = [Some("0"), Some(""), Some(" "), None];
    in_children("zero_and_nothing_are_the_default", &values, || {
        assert_eq!(current_num_threads(), default_threads());
    });
}

#[test]
fn anything_else_is_refused_with_the_range() {
    let values = ["x", "-1", "1.5", "2 3", "16384", "99999999999999999999999"];
    let values = values.map(Some);
    in_children("anything_else_is_refused_with_the_range", &values, || {
        let value = std::env::var(THREADS).expect("set");
        let error = Pool::builder().build_global().expect_err("no number");
        let panic = catch_unwind(|| Pool::global().threads()).expect_err("no number");
        let panic = *panic.downcast::<String>().expect("a message");
        for message in [error.to_string(), panic] {
            for part in [THREADS, &value, "1 to 16383"] {
                assert!(message.contains(part), "{part} in {message}");
            }
        }
    });
}

#[test]
fn free_loops_use_the_pool_that_the_thread_is_in() {
    let test = "free_loops_use_the_pool_that_the_thread_is_in";
    in_children(test, &[Some("1")], || {
        let four = Pool::builder().threads(4).name("four").dedicated(true);
        let four = four.build().expect("a pool");
        let seen = Mutex::new(Vec::<String>::new());
        let body = |_: usize| {
            let me = thread::current();
            let name = me.name().unwrap_or_default().to_owned();
            assert!(name.starts_with("four-"), "{name}");
            assert_eq!(current_num_threads(), 4);
            assert_eq!(
                manycore::current_thread_index(),
                four.current_thread_index()
            );
            assert!(manycore::current_thread_index().is_some_and(|index| index < 4));
            let mut seen = seen.lock().unwrap();
            if !seen.contains(&name) {
                seen.push(name);
            }
            drop(seen);
            thread::sleep(Duration::from_micros(200));
        };
        // In a call and in a loop's body, on more threads than the global pool has.
        eventually("two threads in the pool's loop", || {
            four.install(|| manycore::parallel_for(0..64, body));
            (seen.lock().unwrap().len() > 1).then_some(())
        });
        seen.lock().unwrap().clear();
        eventually("two threads in the nested loop", || {
            four.parallel_for(0..1, |_| manycore::parallel_for(0..64, body));
            (seen.lock().unwrap().len() > 1).then_some(())
        });
        // Outside, the free functions use the global pool, whose only thread is this one.
        let here = thread::current().id();
        manycore::parallel_for(0..64, |_| {
            assert_eq!(thread::current().id(), here);
            assert_eq!(current_num_threads(), 1);
        });
    });
}

/// Several threads make calls of every kind. Another ends the pool's threads repeatedly.
#[test]
fn its_threads_end_beside_calls() {
    in_children("its_threads_end_beside_calls", &[Some("3")], || {
        let sum = AtomicUsize::new(0);
        let callers = AtomicUsize::new(3);
        thread::scope(|scope| {
            for caller in 0..3 {
                let (sum, callers) = (&sum, &callers);
                scope.spawn(move || {
                    let add = || _ = sum.fetch_add(1, SeqCst);
                    for round in 0..200 {
                        match (caller + round) % 5 {
                            0 => drop(manycore::join(add, add)),
                            1 => manycore::scope(|s| (0..2).for_each(|_| s.spawn(|_| add()))),
                            2 => manycore::in_place_scope(|s| {
                                (0..2).for_each(|_| s.spawn(|_| add()));
                            }),
                            3 => manycore::parallel_for(0..2, |_| add()),
                            _ => {
                                _ = manycore::broadcast(|c| {
                                    if c.index() < 2 {
                                        add()
                                    }
                                })
                            }
                        }
                    }
                    callers.fetch_sub(1, SeqCst);
                });
            }
            let mut ended = 0;
            while callers.load(SeqCst) > 0 {
                ended += usize::from(Pool::end_global());
                thread::sleep(Duration::from_micros(300));
            }
            assert!(ended > 0);
        });
        assert_eq!(sum.into_inner(), 3 * 200 * 2);
    });
}

/// The end waits for a detached job that runs. A later spawn starts the threads again.
#[test]
fn the_end_of_its_threads_waits_for_jobs() {
    in_children(
        "the_end_of_its_threads_waits_for_jobs",
        &[Some("2")],
        || {
            static RAN: AtomicUsize = AtomicUsize::new(0);
            for round in 1..=3 {
                manycore::spawn(|| {
                    thread::sleep(Duration::from_millis(20));
                    RAN.fetch_add(1, SeqCst);
                });
                assert!(Pool::end_global());
                assert_eq!(RAN.load(SeqCst), round);
            }
            assert!(!manycore::scope(|_| Pool::end_global()), "from inside");
        },
    );
}
