//! Generations, with real forks. A child of a process with many threads may do little: it looks at
//! an atomic, and exits.
#![cfg(all(unix, not(miri)))]

use manycore_platform::{Native, Platform};

/// Runs `body` in a child, and returns what it returned, 0 to 100.
fn in_child(body: impl FnOnce() -> u8) -> u8 {
    // SAFETY: the child calls `body`, which is async-signal-safe (see above), and `_exit`.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", std::io::Error::last_os_error()),
        // SAFETY: as above.
        0 => unsafe { libc::_exit(body().into()) },
        child => {
            let mut status = 0;
            // SAFETY: the status is written to a variable of ours.
            let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
            assert_eq!(waited, child);
            assert!(libc::WIFEXITED(status), "the child ended with {status:#x}");
            libc::WEXITSTATUS(status) as u8
        }
    }
}

#[test]
fn a_child_is_of_another_generation() {
    Native::watch_forks().unwrap();
    let mine = Native::forks();
    let ours = || u8::from(Native::forks() == mine);
    assert_eq!(in_child(ours), 0, "the child takes itself for its parent");
    assert_eq!(in_child(|| 2 + ours()), 2);
    assert_eq!(Native::forks(), mine, "the parent is what it was");
    // A child's child is of a generation of its own.
    let grandchild = in_child(|| {
        let child = Native::forks();
        in_child(|| u8::from(Native::forks() == child || Native::forks() == mine))
    });
    assert_eq!(grandchild, 0);
}

#[test]
fn watching_again_changes_nothing() {
    for _ in 0..1_000 {
        Native::watch_forks().unwrap();
    }
    let mine = Native::forks();
    // Beside the test above the handler may have been registered twice, but not a thousand times.
    let further = in_child(|| Native::forks().wrapping_sub(mine).min(100) as u8);
    assert!((1..=2).contains(&further), "{further}");
}

/// The kernel copies the registration for `membarrier`; and were it lost, the child would
/// register again.
#[test]
fn a_child_has_heavy_fences() {
    let light = Native::has_light_fences();
    let ended = in_child(|| {
        Native::heavy_fence();
        u8::from(Native::has_light_fences() != light)
    });
    assert_eq!(ended, 0);
}
