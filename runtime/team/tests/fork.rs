//! Teams across a real fork.
#![cfg(all(unix, not(miri)))]

use manycore_cores::elastic::Allotment;
use manycore_team::{Step, Team, Turn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::abort;

/// Runs `body` in a child, and returns whether it returned. A child that hangs is killed.
fn ends_in_child(body: impl FnOnce()) -> bool {
    // SAFETY: this is the only test of its program, and no other thread of the program holds a lock
    // that the child needs: the team's thread sleeps or spins.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", std::io::Error::last_os_error()),
        0 => {
            // SAFETY: the call takes a number.
            unsafe { libc::alarm(60) };
            let ended = catch_unwind(AssertUnwindSafe(body));
            // SAFETY: the child ends without the parent's exit handlers.
            unsafe { libc::_exit(i32::from(ended.is_err())) }
        }
        child => {
            let mut status = 0;
            // SAFETY: the status is a local variable.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
        }
    }
}

fn run(team: &mut Team) {
    team.run(2, |_| |_: &Turn<'_>| Step::Done);
}

#[test]
fn a_child_can_drop_its_parents_team_and_make_another() {
    for workers in [1, 2] {
        let mut team = Team::new(workers, Allotment::new(workers)).unwrap();
        run(&mut team);
        // The child gets a copy. The parent's team is not dropped by the call.
        let mut copy = Some(team);
        assert!(ends_in_child(|| {
            let mut team = copy.take().unwrap();
            let runs = catch_unwind(AssertUnwindSafe(|| run(&mut team))).is_ok();
            if runs != (workers == 1) {
                abort();
            }
            drop(team);
            let mut own = Team::new(2, Allotment::new(2)).unwrap();
            run(&mut own);
        }));
        run(&mut copy.unwrap());
    }
}
