//! Two and three members under loom.

use super::{Attendance, meet, placement};
use crate::barrier::{
    Barrier, ChannelBarrier, CombiningBarrier, DefaultBarrier, DisseminationBarrier, FutexBarrier,
    Glibc2011Barrier, GroupedBarrier, McsBarrier, SenseOnALineBarrier, SpinSleepBarrier,
    TournamentBarrier,
};
use crate::wireless::{Faulty, Loom};
use manycore_check::{
    Deaf, Fault, NoFence, NoHeavyFence, Plain, Relaxed, TornAdd, TornCas, caught, loom_model, team,
};
use manycore_platform::Platform;
use manycore_team::barrier::Placement;
use manycore_team::seam::SenseBarrier;
use std::time::Duration;

/// Members write their own plain memory before each episode (use of the barrier), and read the memory of all others
/// after the episode. Loom checks that the writes are ordered before the reads. Each value is written once, so a member
/// in the next episode disturbs no other member.
fn episodes<P: Platform, B: Barrier<P>>(barrier: &B, members: usize, episodes: u32) {
    let row = |_| (0..members).map(|_| Plain::new(0)).collect();
    let work: Vec<Vec<_>> = (0..episodes).map(row).collect();
    meet::<P, B>(
        barrier,
        members,
        episodes,
        |rank, episode| work[episode as usize - 1][rank].write(episode),
        |_, episode| {
            for other in &work[episode as usize - 1] {
                assert_eq!(other.read(), episode);
            }
        },
    );
}

/// Waiting members sleep at once, which is the shortest path through every step.
fn check<B: Barrier<Loom>>(members: usize, times: u32, preemptions: Option<usize>) {
    loom_model(preemptions, move || {
        episodes(&B::new(&placement(members, 0)), members, times);
    });
}

/// Loom's message about a barrier on a platform with this fault.
fn fails<F: Fault, B: Barrier<Faulty<Loom, F>>>(members: usize, times: u32) -> String {
    let why = caught(|| {
        loom_model(Some(2), move || {
            episodes(&B::new(&placement(members, 0)), members, times);
        })
    });
    println!("{} {}: {why}", B::NAME, std::any::type_name::<F>());
    why
}

/// Asserts that faults in sleeping are caught. All barriers that sleep through `Waiting` have these faults in common.
macro_rules! sleeps {
    ($barrier:ident) => {
        assert!(fails::<NoFence, $barrier<_>>(2, 1).contains("deadlock"));
        assert!(fails::<NoHeavyFence, $barrier<_>>(2, 1).contains("deadlock"));
        assert!(fails::<Deaf, $barrier<_>>(2, 1).contains("deadlock"));
        assert!(fails::<Relaxed, $barrier<_>>(2, 1).contains("Causality violation"));
    };
}

/// Messages go through memory. The channel has its own loom tests, with faults, so few preemptions suffice here.
#[test]
fn channel() {
    check::<ChannelBarrier<_>>(2, 3, Some(2));
}

/// With three members, the next message of a fast member could be counted in place of a slow member's message.
#[test]
fn channel_of_three() {
    check::<ChannelBarrier<_>>(3, 3, Some(1));
}

/// Two members share one word, and need no fence.
#[test]
fn pair() {
    check::<DefaultBarrier<_>>(2, 3, Some(3));
    assert!(fails::<Deaf, DefaultBarrier<_>>(2, 1).contains("deadlock"));
    assert!(fails::<Relaxed, DefaultBarrier<_>>(2, 1).contains("Causality violation"));
    assert!(fails::<TornAdd, DefaultBarrier<_>>(2, 1).contains("deadlock"));
    // With this fault, a load writes back the value that it has read, over the addition of the other member.
    assert!(fails::<TornCas, DefaultBarrier<_>>(2, 1).contains("deadlock"));
}

/// Members are dropped after each episode and made again before the next.
#[test]
fn made_again() {
    fn check<B: Barrier<Loom>>() {
        loom_model(Some(2), || {
            let barrier = B::new(&placement(2, 0));
            let attendance = Attendance::new(2);
            team::<Loom>(2, |rank| {
                for episode in 1..=3 {
                    let mut member = barrier.member(rank);
                    attendance.arrives(rank, episode);
                    barrier.wait(&mut member);
                    attendance.left(episode);
                }
            });
        });
    }
    check::<SenseBarrier<_>>();
    check::<CombiningBarrier<_>>();
    check::<DisseminationBarrier<_>>();
    check::<McsBarrier<_>>();
    check::<TournamentBarrier<_>>();
    check::<FutexBarrier<_>>();
    check::<Glibc2011Barrier<_>>();
    check::<SenseOnALineBarrier<_>>();
    check::<GroupedBarrier<_>>();
    check::<DefaultBarrier<_>>();
}

#[test]
fn sense() {
    check::<SenseBarrier<_>>(2, 3, Some(3));
    check::<SenseBarrier<_>>(3, 3, Some(2));
    sleeps!(SenseBarrier);
    // Two members take the same number, so no member is the last.
    assert!(fails::<TornAdd, SenseBarrier<_>>(2, 1).contains("deadlock"));
}

#[test]
fn dissemination() {
    check::<DisseminationBarrier<_>>(2, 3, Some(3));
    check::<DisseminationBarrier<_>>(3, 3, Some(1));
    sleeps!(DisseminationBarrier);
}

#[test]
fn mcs() {
    check::<McsBarrier<_>>(2, 3, Some(2));
    check::<McsBarrier<_>>(3, 3, Some(1));
    sleeps!(McsBarrier);
}

#[test]
fn tournament() {
    check::<TournamentBarrier<_>>(2, 3, Some(2));
    check::<TournamentBarrier<_>>(3, 3, Some(1));
    sleeps!(TournamentBarrier);
}

#[test]
fn combining() {
    check::<CombiningBarrier<_>>(2, 3, Some(3));
    check::<CombiningBarrier<_>>(3, 3, Some(2));
    sleeps!(CombiningBarrier);
    assert!(fails::<TornAdd, CombiningBarrier<_>>(2, 1).contains("deadlock"));
}

#[test]
fn futex() {
    check::<FutexBarrier<_>>(2, 3, Some(3));
    check::<FutexBarrier<_>>(3, 3, Some(2));
    assert!(fails::<Deaf, FutexBarrier<_>>(2, 1).contains("deadlock"));
    assert!(fails::<Relaxed, FutexBarrier<_>>(2, 1).contains("Causality violation"));
    assert!(fails::<TornAdd, FutexBarrier<_>>(2, 1).contains("deadlock"));
}

/// The counts begin again after one or two episodes.
#[test]
fn futex_that_begins_again() {
    for limit in [2, 4] {
        loom_model(Some(2), move || {
            episodes(&FutexBarrier::<Loom>::with_limit(2, limit), 2, 4);
        });
    }
    loom_model(Some(1), || {
        episodes(&FutexBarrier::<Loom>::with_limit(3, 3), 3, 2);
    });
    let torn = || {
        loom_model(Some(2), || {
            type Torn = Faulty<Loom, TornAdd>;
            episodes(&FutexBarrier::<Torn>::with_limit(2, 2), 2, 3);
        })
    };
    assert!(caught(torn).contains("deadlock"));
}

#[test]
fn glibc_2011() {
    check::<Glibc2011Barrier<_>>(2, 3, Some(2));
    check::<Glibc2011Barrier<_>>(3, 2, Some(1));
    assert!(fails::<Deaf, Glibc2011Barrier<_>>(2, 1).contains("deadlock"));
    assert!(fails::<Relaxed, Glibc2011Barrier<_>>(2, 1).contains("Causality violation"));
    assert!(fails::<TornAdd, Glibc2011Barrier<_>>(2, 2).contains("deadlock"));
}

#[test]
fn sense_on_a_line() {
    check::<SenseOnALineBarrier<_>>(2, 3, Some(3));
    check::<SenseOnALineBarrier<_>>(3, 3, Some(2));
    sleeps!(SenseOnALineBarrier);
    assert!(fails::<TornAdd, SenseOnALineBarrier<_>>(2, 1).contains("deadlock"));
}

#[test]
fn spin_sleep() {
    check::<SpinSleepBarrier<_>>(2, 3, Some(2));
    check::<SpinSleepBarrier<_>>(3, 3, Some(1));
    assert!(fails::<Deaf, SpinSleepBarrier<_>>(2, 1).contains("deadlock"));
    assert!(fails::<Relaxed, SpinSleepBarrier<_>>(2, 1).contains("Causality violation"));
    fails::<TornCas, SpinSleepBarrier<_>>(2, 1);
}

/// With two members, each member is a separate group, so only the exchange of the leaders runs. A group of two and a
/// group of one use the whole protocol.
#[test]
fn grouped() {
    check::<GroupedBarrier<_>>(2, 3, Some(2));
    sleeps!(GroupedBarrier);
    let two_and_one = || Placement::grouped(vec![0, 0, 1]).with_patience(Duration::ZERO);
    loom_model(Some(2), move || {
        episodes(&GroupedBarrier::<Loom>::new(&two_and_one()), 3, 3);
    });
    let relaxed = || {
        loom_model(Some(1), move || {
            let barrier = GroupedBarrier::<Faulty<Loom, Relaxed>>::new(&two_and_one());
            episodes(&barrier, 3, 1);
        })
    };
    assert!(caught(relaxed).contains("Causality violation"));
}
