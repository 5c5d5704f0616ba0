//! Pools whose process enters a sandbox that refuses `membarrier`. A process cannot leave the sandbox, so
//! each case runs in a child: this program again.
#![cfg(all(target_os = "linux", not(miri)))]

#[path = "support/this_program.rs"]
mod this_program;

use manycore::Pool;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Output, exit};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::mpsc;
use std::time::Duration;
use this_program::this_program;

const CASE: &str = "MANYCORE_MEMBARRIER_CASE";
/// The exit code where filters are missing: under an emulator, or in a sandbox around this one.
const NO_FILTERS: i32 = 77;

/// From now on the kernel refuses `membarrier` with `EPERM`, for all threads.
fn enter_sandbox() {
    let statement = |code: u32, jf, k| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf,
        k,
    };
    let answer = libc::BPF_RET | libc::BPF_K;
    let mut filter = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        statement(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            1,
            libc::SYS_membarrier as u32,
        ),
        statement(answer, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        statement(answer, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the system calls read the filter, which outlives them.
    let entered = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                libc::SECCOMP_FILTER_FLAG_TSYNC,
                &raw const program,
            ) == 0
    };
    if !entered {
        exit(NO_FILTERS);
    }
}

/// In the child, runs `case` and then exits with 0, unless `case` ends the process. In the parent, returns
/// how the child ended, or `None` where there are no filters.
fn child(test: &str, case: impl FnOnce()) -> Option<Output> {
    if std::env::var_os(CASE).is_some() {
        case();
        exit(0);
    }
    let output = this_program()
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CASE, test)
        .output()
        .unwrap();
    if output.status.code() == Some(NO_FILTERS) {
        eprintln!("{test}: the system has no seccomp filters; not tested");
        return None;
    }
    Some(output)
}

/// Returns whether the child ended well, or aborted with the documented line.
fn is_sound(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    output.status.success()
        || output.status.signal() == Some(libc::SIGABRT)
            && said.lines().any(|line| {
                line.starts_with("manycore: the system refuses membarrier")
                    && line.contains("aborting")
            })
}

/// Data on the stack of a join's caller, which the join's other half borrows.
struct Local<'a>(&'a AtomicBool);

impl Drop for Local<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

#[test]
fn a_join_does_not_leave_a_half_that_runs() {
    let output = child("a_join_does_not_leave_a_half_that_runs", || {
        static GONE: AtomicBool = AtomicBool::new(false);
        static STARTED: AtomicBool = AtomicBool::new(false);
        let pool = Pool::builder().threads(3).build().unwrap();
        let joined = catch_unwind(AssertUnwindSafe(|| {
            let local = Local(&GONE);
            pool.join(
                || {
                    while !STARTED.load(SeqCst) {
                        std::hint::spin_loop();
                    }
                    enter_sandbox();
                },
                || {
                    STARTED.store(true, SeqCst);
                    // Long enough for the other thread to stop spinning.
                    for _ in 0..300 {
                        std::thread::sleep(Duration::from_millis(1));
                        if GONE.load(SeqCst) {
                            exit(42);
                        }
                    }
                    std::hint::black_box(&local);
                },
            );
        }));
        if joined.is_err() {
            // The other half may still read it.
            std::thread::sleep(Duration::from_millis(500));
            exit(43);
        }
        // The drop of the pool may abort too.
        drop(pool);
    });
    assert!(output.as_ref().is_none_or(is_sound), "{output:?}");
}

#[test]
fn a_job_is_not_lost_in_silence() {
    let output = child("a_job_is_not_lost_in_silence", || {
        let pool = Pool::builder().threads(3).build().unwrap();
        let (done, wait) = mpsc::channel();
        pool.join(|| (), || ());
        enter_sandbox();
        std::thread::sleep(Duration::from_millis(300));
        pool.spawn(move || done.send(()).unwrap());
        // Much longer than any job waits; only a lost job uses it up.
        if wait.recv_timeout(Duration::from_secs(60)).is_err() {
            exit(44);
        }
    });
    assert!(output.as_ref().is_none_or(is_sound), "{output:?}");
}

#[test]
fn a_sandbox_from_the_beginning_is_none_of_anybodys_business() {
    let test = "a_sandbox_from_the_beginning_is_none_of_anybodys_business";
    let output = child(test, || {
        enter_sandbox();
        let pool = Pool::builder().threads(3).build().unwrap();
        let sum = AtomicU64::new(0);
        for _ in 0..500 {
            pool.parallel_for(0..1_000, |i| {
                sum.fetch_add(i as u64, SeqCst);
            });
            let (a, b) = pool.join(|| 1, || 2);
            assert_eq!(a + b, 3);
            pool.scope(|scope| (0..10).for_each(|_| scope.spawn(|_| ())));
        }
        assert_eq!(sum.into_inner(), 500 * 499_500);
    });
    let well = |output: &Output| output.status.success();
    assert!(output.as_ref().is_none_or(well), "{output:?}");
}
