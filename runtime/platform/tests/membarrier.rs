//! A system that refuses `membarrier`, from the beginning or after a grant. A process cannot remove a filter,
//! so each case runs in a child: this program again.
#![cfg(all(target_os = "linux", not(miri)))]

use manycore_platform::{Native, Platform};
use std::os::unix::process::ExitStatusExt;
use std::panic::catch_unwind;
use std::process::{Command, Output};

/// Names the child's case. The parent does not set it.
const CASE: &str = "MANYCORE_MEMBARRIER_CASE";
/// The exit code where filters are missing: under an emulator, or in a sandbox around this one.
const NO_FILTERS: i32 = 77;

/// From now on the kernel refuses `membarrier` with `EPERM`, for all threads.
fn refuse() {
    let statement = |code: u32, jt, jf, k| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let load_number = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let is_equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let answer = libc::BPF_RET | libc::BPF_K;
    let mut filter = [
        statement(load_number, 0, 0, 0),
        statement(is_equal, 0, 1, libc::SYS_membarrier as u32),
        statement(answer, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        statement(answer, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the system calls read the filter, which outlives them.
    let installed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                libc::SECCOMP_FILTER_FLAG_TSYNC,
                &raw const program,
            ) == 0
    };
    if !installed {
        std::process::exit(NO_FILTERS);
    }
}

/// Runs `test` of this program in a child. Returns `None` where there are no filters.
fn run(test: &str) -> Option<Output> {
    let output = Command::new(std::env::current_exe().unwrap())
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

fn is_child() -> bool {
    std::env::var_os(CASE).is_some()
}

#[test]
fn refused_later_is_the_end_with_one_line() {
    const TEST: &str = "refused_later_is_the_end_with_one_line";
    if is_child() {
        if !Native::has_light_fences() {
            std::process::exit(NO_FILTERS);
        }
        Native::heavy_fence();
        refuse();
        // The fence neither returns nor panics: no caller above may go on.
        let unwound = catch_unwind(Native::heavy_fence).is_err();
        println!("went on, unwound: {unwound}");
        std::process::exit(1);
    }
    let Some(output) = run(TEST) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.signal(),
        Some(libc::SIGABRT),
        "{}: {said}",
        output.status
    );
    let ours: Vec<_> = said
        .lines()
        .filter(|line| line.starts_with("manycore: "))
        .collect();
    assert!(
        matches!(ours[..], [line] if line.contains("membarrier") && line.contains("aborting")),
        "{said}"
    );
}

#[test]
fn refused_from_the_beginning_is_done_without() {
    const TEST: &str = "refused_from_the_beginning_is_done_without";
    if is_child() {
        refuse();
        assert!(!Native::has_light_fences());
        Native::light_fence();
        Native::heavy_fence();
        std::process::exit(0);
    }
    let Some(output) = run(TEST) else { return };
    assert!(output.status.success(), "{output:?}");
}
