//! Fork generations, with real forks. A child of a process with many threads may call only async-signal-safe
//! functions. So a child here uses only atomics and system calls.
#![cfg(all(unix, not(miri)))]

use manycore_platform::{Native, Platform};

/// Runs `body` in a child. Returns the result of `body`, 0 to 100.
fn in_child(body: impl FnOnce() -> u8) -> u8 {
    // SAFETY: the child calls `body`, which is async-signal-safe (see above), and `_exit`.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", std::io::Error::last_os_error()),
        // SAFETY: as above.
        0 => unsafe { libc::_exit(body().into()) },
        child => {
            let mut status = 0;
            // SAFETY: the status is a local variable.
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
    assert_eq!(
        in_child(ours),
        0,
        "the child has another generation than its parent"
    );
    assert_eq!(in_child(|| 2 + ours()), 2);
    assert_eq!(
        Native::forks(),
        mine,
        "the parent's generation is unchanged"
    );
    // The child of a child has another generation again.
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
    // The test above may register the handler at the same time: twice is possible, a thousand times is not.
    let further = in_child(|| Native::forks().wrapping_sub(mine).min(100) as u8);
    assert!((1..=2).contains(&further), "{further}");
}

/// The kernel copies the registration for `membarrier` to the child. If it were lost, the child would
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
