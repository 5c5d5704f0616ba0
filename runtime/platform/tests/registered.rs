//! The process is registered for `membarrier` before `main`. The program has no other test, since any fence
//! registers too.

#![cfg(all(target_os = "linux", not(miri), not(manycore_portable)))]

use manycore_platform::{Native, Platform};

#[test]
fn the_process_is_registered_before_main() {
    // SAFETY: the call takes numbers, and accesses no memory.
    let membarrier =
        |command: libc::c_int| unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
    let granted = membarrier(libc::MEMBARRIER_CMD_QUERY);
    let fence = libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED;
    if granted < 0 || granted & libc::c_long::from(fence) == 0 {
        return eprintln!("SKIPPED: the system refuses membarrier");
    }
    // The kernel refuses the call in a process that is not registered.
    assert_eq!(membarrier(fence), 0);
    // This use makes the linker keep the crate.
    assert!(Native::now() > 0);
}
