//! Checks the barrier of a team with groups under loom, and that loom catches the faults of broken variants.
//!
//! After a barrier, each member sees the writes that all members made before it. Members that arrive at the next
//! barrier find the word of their group at 0. Bells and tasks are not checked here: `sync::checked` of `manycore-cores`
//! checks the bells.

use super::arrivals::Arrivals;
use super::barrier::Barrier;
use manycore_check::{Faulty, Loom, Plain, Relaxed, TornAdd, caught, loom_model, team};
use manycore_platform::Platform;

/// Three members in groups of two, so the last group has one member.
const MEMBERS: u32 = 3;
const GROUP: u32 = 2;

/// Each member writes and arrives. If a member finds the barrier open, it reads what the others wrote and arrives at
/// the next barrier. No member waits, so there are few schedules. At the end, the main thread makes the second arrival
/// for each member that has arrived only once.
fn meet<P: Platform>() {
    let barrier = Barrier::<P>::with(MEMBERS, Arrivals::in_groups(MEMBERS, GROUP));
    let cells = [(); MEMBERS as usize].map(|()| Plain::new(0_u32));
    let again = [(); MEMBERS as usize].map(|()| Plain::new(false));
    let come = |id: u32| {
        let (before, is_last) = barrier.arrive(id);
        if is_last {
            assert!(barrier.open_from(MEMBERS, || true));
        }
        barrier.is_opened_since(before)
    };
    team::<P>(MEMBERS as usize, |id| {
        cells[id].write(1);
        if come(id as u32) {
            assert!(cells.iter().all(|cell| cell.read() == 1));
            again[id].write(true);
            come(id as u32);
        }
    });
    for id in (0..MEMBERS).filter(|&id| !again[id as usize].read()) {
        come(id);
    }
    assert_eq!(barrier.phase(), 2);
}

#[test]
fn members_that_meet_have_seen_each_other() {
    loom_model(None, meet::<Loom>);
}

#[test]
fn arrivals_that_publish_nothing_are_caught() {
    caught(|| loom_model(Some(2), meet::<Faulty<Loom, Relaxed>>));
}

#[test]
fn arrivals_that_are_lost_are_caught() {
    caught(|| loom_model(Some(2), meet::<Faulty<Loom, TornAdd>>));
}

#[test]
fn a_cancelled_region_leaves_nothing() {
    let barrier = Barrier::<manycore_platform::Native>::with(MEMBERS, Arrivals::in_groups(3, 2));
    let (before, _) = barrier.arrive(0);
    // The region is cancelled: the other members do not arrive.
    barrier.reset();
    assert!(barrier.is_opened_since(before));
    let phase = barrier.phase();
    for id in [2, 0, 1] {
        assert_eq!(barrier.arrive(id), (phase, id == 1));
    }
    assert!(barrier.open_from(MEMBERS, || true) && barrier.is_opened_since(phase));
}

#[test]
fn all_members_are_counted_once() {
    for members in 1..200 {
        let arrivals = Arrivals::<manycore_platform::Native>::new(members);
        for _ in 0..2 {
            let counted: Vec<u32> = (0..members).map(|id| arrivals.come(id)).collect();
            assert_eq!(counted.iter().sum::<u32>(), members);
            assert_ne!(counted.last(), Some(&0), "{members}");
        }
    }
}
