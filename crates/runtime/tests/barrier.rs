//! The barriers on this machine's threads: as many members as cores, and more.

use manycore::Native;
use manycore::barrier::{Barrier, BarrierVisitor, Placement, TeamBarrier, barriers, with_barrier};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

const EPISODES: u32 = 300;

/// Members count before they wait; after it all have counted as often, but for who is
/// an episode ahead. Relaxed: it is the barrier that orders them. Now and then one is
/// late, so that the others sleep.
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
