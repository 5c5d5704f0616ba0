//! All barriers, with four to eight members under shuttle.

use super::meet;
use crate::barrier::Barrier;
use crate::barrier::{BarrierVisitor, barriers, with_barrier};
use crate::wireless::{Faulty, Shuttle};
use manycore_check::{Deaf, TornAdd, caught_at_random, shuttle_pct, shuttle_random};
use manycore_platform::Platform;
use manycore_team::barrier::Placement;
use std::time::Duration;

const EPISODES: u32 = 4;

/// Lets members meet at the barrier of the visited type.
struct Meet(Placement);

impl<P: Platform> BarrierVisitor<P> for Meet {
    type Output = ();

    fn visit<B: Barrier<P>>(self) {
        let members = self.0.members();
        meet::<P, B>(&B::new(&self.0), members, EPISODES, |_, _| (), |_, _| ());
    }
}

/// Placements of four to eight members, with and without their own cores, in one group or several, patient or not.
fn placements() -> Vec<Placement> {
    let us = Duration::from_micros;
    vec![
        Placement::flat(4).with_patience(us(2)),
        Placement::flat(8).with_patience(us(0)),
        Placement::flat(6).on_cores(2).with_patience(us(20)),
        Placement::grouped(vec![0, 1, 0, 1, 1]).with_patience(us(2)),
        Placement::grouped(vec![0, 0, 0, 1, 1, 2, 2]).with_patience(us(0)),
    ]
}

#[test]
fn every_barrier_holds() {
    for name in barriers() {
        for placement in placements() {
            let check = move || {
                let meet = Meet(placement.clone());
                with_barrier::<Shuttle, _>(name, meet).unwrap();
            };
            shuttle_random(40, check.clone());
            shuttle_pct(40, 3, check);
        }
    }
}

#[test]
fn each_fault_is_caught() {
    for name in barriers() {
        let meet = || Meet(Placement::flat(5).with_patience(Duration::ZERO));
        let deaf = caught_at_random(move || {
            with_barrier::<Faulty<Shuttle, Deaf>, _>(name, meet()).unwrap();
        });
        assert!(deaf.contains("deadlock"), "{name}: {deaf}");
    }
    let torn = caught_at_random(|| {
        let meet = Meet(Placement::flat(5));
        with_barrier::<Faulty<Shuttle, TornAdd>, _>("sense", meet).unwrap();
    });
    assert!(torn.contains("deadlock"));
}
