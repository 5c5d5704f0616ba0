//! Requests of rayon's users that the original rayon-core cannot meet. The tests use the common interface:
//! `ci/rayon.sh` also runs this file against the original, where each test fails.

use rayon_core::{ThreadPoolBuilder, join, scope};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// Runs `body`, which must end within 30 s.
fn ends(body: impl FnOnce() + Send + 'static) {
    let (tell, told) = mpsc::channel();
    let runner = thread::spawn(move || {
        body();
        tell.send(()).unwrap();
    });
    match told.recv_timeout(Duration::from_secs(30)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the program does not end"),
        Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => runner.join().unwrap(),
    }
}

fn until(flag: &AtomicBool) {
    while !flag.load(Relaxed) {
        thread::yield_now();
    }
}

fn work(time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

/// rayon#592 and many related issues: the first half of the join has ended, and another thread runs the
/// second. Meanwhile the waiting thread must not begin a job that wants the lock.
#[test]
fn a_lock_is_held_across_a_join() {
    ends(|| {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let lock = Mutex::new(0);
        let begun = AtomicBool::new(false);
        pool.scope(|s| {
            let mut count = lock.lock().unwrap();
            let first = || {
                until(&begun);
                s.spawn(|_| *lock.lock().unwrap() += 1);
            };
            let second = || {
                begun.store(true, Relaxed);
                thread::sleep(Duration::from_millis(50));
            };
            join(first, second);
            *count += 1;
        });
        assert_eq!(lock.into_inner().unwrap(), 2);
    });
}

/// rayon#592 again: the thread waits for a call into another pool.
#[test]
fn a_lock_is_held_across_a_call_into_another_pool() {
    ends(|| {
        let pool = |threads| {
            let builder = ThreadPoolBuilder::new().num_threads(threads);
            builder.build().unwrap()
        };
        let (one, other) = (pool(2), pool(1));
        let lock = Mutex::new(0);
        let [busy, holds, begun] = [const { AtomicBool::new(false) }; 3];
        one.in_place_scope(|s| {
            // One thread of the pool has enough work. The other has the lock and waits.
            s.spawn(|_| {
                busy.store(true, Relaxed);
                until(&begun);
            });
            until(&busy);
            s.spawn(|_| {
                let mut count = lock.lock().unwrap();
                holds.store(true, Relaxed);
                other.install(|| thread::sleep(Duration::from_millis(50)));
                *count += 1;
            });
            until(&holds);
            s.spawn(|_| {
                begun.store(true, Relaxed);
                *lock.lock().unwrap() += 1;
            });
        });
        assert_eq!(lock.into_inner().unwrap(), 2);
    });
}

/// rayon#751, #854, #1064: waiting jobs do not pile up on one stack.
#[test]
fn a_waiting_job_has_no_stranger_on_its_stack() {
    thread_local! {
        static DEPTH: Cell<usize> = const { Cell::new(0) };
    }
    let deepest = AtomicUsize::new(0);
    let pool = ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    pool.scope(|s| {
        for _ in 0..400 {
            s.spawn(|_| {
                let depth = DEPTH.get() + 1;
                DEPTH.set(depth);
                deepest.fetch_max(depth, Relaxed);
                // The second half is stolen, and runs longer than the first.
                let short = Duration::from_micros(20);
                join(|| work(short), || thread::sleep(10 * short));
                DEPTH.set(depth - 1);
            });
        }
    });
    assert_eq!(deepest.into_inner(), 1);
}

/// polars#8032: a child does not have the threads of the global pool.
#[cfg(unix)]
#[test]
fn a_child_of_fork_has_a_pool() {
    assert_eq!(join(|| 1, || 2), (1, 2));
    // SAFETY: the child calls only this library and `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let sum = AtomicUsize::new(0);
        scope(|s| {
            for i in 0..100 {
                let sum = &sum;
                s.spawn(move |_| _ = sum.fetch_add(i, Relaxed));
            }
        });
        let right = sum.into_inner() == 4_950;
        // SAFETY: the call only ends this process.
        unsafe { libc::_exit(if right { 0 } else { 1 }) }
    }
    assert!(child > 0);
    let end = Instant::now() + Duration::from_secs(30);
    let mut status = 0;
    // SAFETY: this process's child, and a local variable for its status.
    while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
        if Instant::now() > end {
            // SAFETY: the same child, which has not been waited for.
            unsafe { libc::kill(child, libc::SIGKILL) };
            panic!("the child does not end");
        }
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(status, 0);
}

/// Runs test `name` as `inside` in a child, with `variable` set to 1.
#[cfg(target_os = "linux")]
fn in_its_own_process(name: &str, variable: &str, inside: impl FnOnce()) {
    const INSIDE: &str = "MANYCORE_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(variable, "1")
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{errors}");
}

/// Returns the number of threads of this process.
#[cfg(target_os = "linux")]
fn threads_here() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// rayon#576, rust#64752: a program that builds a pool but gives it no work starts no thread.
#[cfg(target_os = "linux")]
#[test]
fn a_pool_starts_its_threads_when_it_has_work() {
    in_its_own_process(
        "a_pool_starts_its_threads_when_it_has_work",
        "MANYCORE_LAZY",
        || {
            let before = threads_here();
            let builder = ThreadPoolBuilder::new().num_threads(7);
            let pool = builder.build().unwrap();
            assert_eq!((pool.current_num_threads(), threads_here()), (7, before));
            assert!(
                pool.broadcast(|context| context.index())
                    .into_iter()
                    .eq(0..7)
            );
            assert_eq!(threads_here(), before + 7);
        },
    );
}

/// The original has no such function. In the test below, our crate's function shadows this one.
#[cfg(target_os = "linux")]
#[allow(dead_code, reason = "the original's")]
fn end_global_threads() -> bool {
    false
}

/// rayon#688, #959, #483: a program can end all threads of the pool, and can use the pool again.
#[cfg(target_os = "linux")]
#[test]
fn the_global_pool_ends_and_begins_again() {
    #[allow(unused_imports, reason = "the original has nothing of this name")]
    use rayon_core::*;
    in_its_own_process("the_global_pool_ends_and_begins_again", "UNUSED", || {
        let before = threads_here();
        for _ in 0..3 {
            let ran = broadcast(|_| ()).len();
            assert_eq!(threads_here(), before + ran);
            assert!(end_global_threads());
            assert_eq!(threads_here(), before);
        }
    });
}

/// rayon#319, and every container with a changing share of the machine: a pool that was built on two cores
/// runs one thread once one core is left.
#[cfg(target_os = "linux")]
#[test]
fn a_pool_follows_the_cores_that_are_left() {
    if thread::available_parallelism().unwrap().get() < 2 {
        return println!("skipped: one core");
    }
    // A process of its own, since the mask changes.
    in_its_own_process(
        "a_pool_follows_the_cores_that_are_left",
        "MANYCORE_FOLLOW",
        follows,
    );
}

#[cfg(target_os = "linux")]
fn follows() {
    /// Returns how many of `jobs` jobs ran at once, at most.
    fn most_at_once(jobs: usize) -> usize {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        scope(|s| {
            for _ in 0..jobs {
                s.spawn(|_| {
                    most.fetch_max(now.fetch_add(1, Relaxed) + 1, Relaxed);
                    work(Duration::from_millis(2));
                    now.fetch_sub(1, Relaxed);
                });
            }
        });
        most.into_inner()
    }
    most_at_once(20);
    one_core_for_all();
    // Repeats until the pool has noticed. A pool that follows nothing never does.
    let end = Instant::now() + Duration::from_secs(10);
    while most_at_once(100) > 1 {
        assert!(Instant::now() < end, "two threads on one core");
    }
}

/// Binds each thread of this process to the process's first core.
#[cfg(target_os = "linux")]
fn one_core_for_all() {
    // SAFETY: each set has the given size, and the numbers are those of this process's threads.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        assert_eq!(libc::sched_getaffinity(0, size, &raw mut allowed), 0);
        let first = (0..libc::CPU_SETSIZE as usize).find(|&cpu| libc::CPU_ISSET(cpu, &allowed));
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(first.unwrap(), &mut one);
        for task in std::fs::read_dir("/proc/self/task").unwrap() {
            let name = task.unwrap().file_name();
            let thread: libc::pid_t = name.to_str().unwrap().parse().unwrap();
            // A thread that has ended needs no mask.
            libc::sched_setaffinity(thread, size, &raw const one);
        }
    }
}
