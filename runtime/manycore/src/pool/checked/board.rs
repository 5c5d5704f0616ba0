//! Checks that a slot has one holder, and that a helper in the slot's loop finds the job of that loop.

use crate::clusters::Invited;
use crate::pool::board::{Board, Participation, PostedLoop};
use manycore_check::{Faulty, Loom, Plain, Relaxed, TornSwap, caught, loom_model, team};
use manycore_platform::Platform;

/// Each of two threads posts a loop on a board (a list of posted loops) of one slot, if the slot is free. `helpers`
/// other threads visit the slot.
///
/// Each thread makes one attempt, since loom raises a false alarm at a second (`loom_loses_track_of_a_lock_taken_again`
/// in `manycore-check`). `whole` takes slots again and again.
fn one_loop_at_a_time<P: Platform>(helpers: usize) {
    let board = Board::<P>::new(1, 1);
    // Loom reports a race of the job's writer and reader.
    let job = Plain::new(0);
    team::<P>(2 + helpers, |rank| {
        let entrance = board.entrance(0, 0);
        if rank >= 2 {
            if entrance.gate().join().is_ok() {
                // SAFETY: this is between `join` and `leave`.
                let found = unsafe { entrance.job() };
                // SAFETY: the frame lives while a helper is inside the gate.
                let _ = unsafe { (found.run)(found.frame, rank, std::ptr::null()) };
                assert_eq!(job.read(), found.helpers);
                let _ = entrance.gate().leave_closed();
            }
            return;
        }
        let Some(taken) = board.take(0) else { return };
        let invited = Invited::only(0);
        let entrances = board.entrances(taken.index(), invited);
        let frame = Plain::new(true);
        let id = 1 + rank as u32;
        job.write(id);
        let posted = PostedLoop {
            frame: std::ptr::from_ref(&frame).cast(),
            run: |frame, _, _| {
                // SAFETY: the frame above lives until the gate is empty.
                let alive = unsafe { (*frame.cast::<Plain<bool>>()).read() };
                assert!(alive, "joined a loop that is over");
                Participation::Done
            },
            helpers: id,
            invited,
        };
        // SAFETY: this thread has taken the slot, which is closed and empty.
        unsafe { entrances.set_job(|_| posted) };
        entrances.open();
        entrances.close();
        while !entrances.are_empty() {
            P::yield_now();
        }
        frame.write(false);
        drop(taken);
    });
}

#[test]
fn two_posters() {
    loom_model(None, || one_loop_at_a_time::<Loom>(0));
}

#[test]
fn two_posters_and_a_helper() {
    loom_model(Some(2), || one_loop_at_a_time::<Loom>(1));
}

#[test]
fn each_fault_is_caught() {
    let why = caught(|| loom_model(None, || one_loop_at_a_time::<Faulty<Loom, TornSwap>>(0)));
    assert!(why.contains("Causality violation"), "{why}");
    let why = caught(|| loom_model(None, || one_loop_at_a_time::<Faulty<Loom, Relaxed>>(0)));
    assert!(why.contains("Causality violation"), "{why}");
}
