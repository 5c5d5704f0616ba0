//! The barriers on this machine's threads: as many members as cores, and more.

use manycore_platform::Native;
use manycore_programs::barrier::{Barrier, BarrierVisitor, barriers, with_barrier};
use manycore_team::barrier::{Placement, TeamBarrier};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

const EPISODES: u32 = 300;

/// Each member counts before it waits. Afterwards all counts are equal, except those of members one episode
/// ahead. Relaxed: the barrier orders the counts. Sometimes a member is late, so that the others sleep.
struct Meet<'a>(&'a Placement);

impl BarrierVisitor<Native> for Meet<'_> {
    type Output = ();

    fn visit<B: Barrier<Native>>(self) {
        let Self(placement) = self;
        let barrier = B::new(placement);
        let counts: Vec<_> = (0..placement.members())
            .map(|_| AtomicU32::new(0))
            .collect();
        std::thread::scope(|scope| {
            for rank in 0..counts.len() {
                let (barrier, counts) = (&barrier, &counts);
                scope.spawn(move || {
                    let mut member = barrier.member(rank);
                    for episode in 1..=EPISODES {
                        if episode as usize % 50 == rank {
                            std::thread::sleep(Duration::from_micros(500));
                        }
                        counts[rank].store(episode, Relaxed);
                        barrier.wait(&mut member);
                        for count in counts {
                            let count = count.load(Relaxed);
                            assert!(
                                (episode..=episode + 1).contains(&count),
                                "{}: {count} in {episode}",
                                B::NAME
                            );
                        }
                    }
                });
            }
        });
    }
}

#[test]
fn every_barrier_holds() {
    let patience = Duration::from_micros(20);
    for name in barriers() {
        for placement in [
            Placement::flat(1),
            Placement::flat(2),
            Placement::flat(5).on_cores(2),
            Placement::grouped(vec![0, 0, 1, 1, 2]),
        ] {
            let placement = placement.with_patience(patience);
            with_barrier(name, Meet(&placement)).unwrap();
        }
    }
}

#[test]
fn one_member_of_a_team_leads() {
    for members in [1, 2, 7] {
        let barrier = TeamBarrier::new(members);
        let led = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..members {
                let (mut member, led) = (barrier.member(), &led);
                scope.spawn(move || {
                    for episode in 1..=EPISODES {
                        if member.wait() {
                            led.fetch_add(1, Relaxed);
                        }
                        member.wait();
                        assert_eq!(led.load(Relaxed), episode);
                        member.wait();
                    }
                });
            }
        });
    }
}

/// Members come and go. A thread drops its member and makes it again now and then. Each team consists of new threads.
/// Relaxed counts show whether the barrier holds.
struct ComeAndGo<'a>(&'a Placement);

impl BarrierVisitor<Native> for ComeAndGo<'_> {
    type Output = ();

    fn visit<B: Barrier<Native>>(self) {
        const TEAMS: u32 = 4;
        const MEETINGS: u32 = 23;
        let Self(placement) = self;
        let barrier = B::new(placement);
        let members = placement.members();
        let counts: Vec<_> = (0..members).map(|_| AtomicU32::new(0)).collect();
        for team in 0..TEAMS {
            std::thread::scope(|scope| {
                for rank in (0..members).rev() {
                    let (barrier, counts) = (&barrier, &counts);
                    scope.spawn(move || {
                        let mut member = barrier.member(rank);
                        for meeting in 1..=MEETINGS {
                            if (meeting as usize + rank) % 5 == 0 {
                                drop(member);
                                // The other members wait, and some of them sleep.
                                std::thread::sleep(Duration::from_micros(100));
                                member = barrier.member(rank);
                            }
                            let episode = MEETINGS * team + meeting;
                            counts[rank].store(episode, Relaxed);
                            barrier.wait(&mut member);
                            for count in counts {
                                let count = count.load(Relaxed);
                                assert!((episode..=episode + 1).contains(&count), "{}", B::NAME);
                            }
                        }
                    });
                }
            });
        }
    }
}

#[test]
fn members_are_made_again() {
    for name in barriers() {
        for placement in [
            Placement::flat(1),
            Placement::flat(2),
            Placement::flat(5),
            Placement::flat(6).on_cores(2),
            Placement::grouped(vec![0, 0, 1, 1, 2]),
        ] {
            let placement = placement.with_patience(Duration::from_micros(20));
            with_barrier(name, ComeAndGo(&placement)).unwrap();
        }
    }
}

/// Each team takes over the members that the team before has dropped.
#[test]
fn a_team_after_a_team() {
    for members in [1, 2, 5] {
        let barrier = TeamBarrier::new(members);
        for _ in 0..5 {
            let led = AtomicU32::new(0);
            std::thread::scope(|scope| {
                for _ in 0..members {
                    let (mut member, led) = (barrier.member(), &led);
                    scope.spawn(move || {
                        for _ in 0..10 {
                            led.fetch_add(u32::from(member.wait()), Relaxed);
                        }
                    });
                }
            });
            assert_eq!(led.into_inner(), 10);
        }
    }
}

/// A thread panics between two episodes. The others wait until another thread replaces it.
#[test]
fn a_member_that_was_dropped_in_a_panic() {
    let barrier = TeamBarrier::new(2);
    let (mut one, mut other) = (barrier.member(), barrier.member());
    let done = AtomicU32::new(0);
    std::thread::scope(|scope| {
        let done = &done;
        let panics = scope.spawn(move || {
            one.wait();
            std::panic::resume_unwind(Box::new("between two episodes"));
        });
        scope.spawn(move || {
            other.wait();
            done.fetch_add(1, Relaxed);
            other.wait();
            assert_eq!(done.load(Relaxed), 2);
        });
        assert!(panics.join().is_err());
        let mut again = barrier.member();
        done.fetch_add(1, Relaxed);
        again.wait();
    });
}

#[test]
#[should_panic(expected = "all 2 members are taken")]
fn too_many_members() {
    let barrier = TeamBarrier::new(2);
    let _members = [barrier.member(), barrier.member(), barrier.member()];
}

/// The sum of the clock and the patience must not overflow.
#[test]
fn members_that_never_sleep() {
    for cores in [1, 2] {
        let placement = Placement::flat(2).on_cores(cores);
        let barrier = TeamBarrier::<Native>::on(&placement.with_patience(Duration::MAX));
        std::thread::scope(|scope| {
            for mut member in [barrier.member(), barrier.member()] {
                scope.spawn(move || {
                    for _ in 0..100 {
                        std::thread::yield_now();
                        member.wait();
                    }
                });
            }
        });
    }
}
