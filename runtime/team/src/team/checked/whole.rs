//! Whole teams under shuttle: several runs, and workers that leave and return.

use super::{Books, walker};
use crate::{Policy, Rank, Site, Stackful, Step, Team, Turn};
use manycore_check::{
    Deaf, Faulty, Shuttle, TornAdd, caught_at_random, shuttle_pct, shuttle_random,
};
use manycore_cores::elastic::Allotment;
use manycore_platform::Platform;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

const POLICIES: [Policy; 3] = [Policy::Fifo, Policy::RoundRobin, Policy::Wrap];

fn team<P: Platform>(workers: usize, cores: usize, policy: Policy) -> Team<P> {
    Team::builder(workers, Allotment::new(cores))
        .policy(policy)
        .patience(Duration::from_micros(2))
        .switch_cost(Duration::from_nanos(100))
        .build()
        .unwrap()
}

/// Three workers run five ranks and then four, for three episodes each. Rank 3 takes cores away and
/// gives them back.
fn come_and_go<P: Platform>(policy: Policy) {
    let mut team = team::<P>(3, 2, policy);
    let allotment = team.allotment().clone();
    for ranks in [5, 4] {
        let books = Books::new(ranks, 3, 3);
        let report = team.run(ranks, |_| {
            walker(&books, |turn: &Turn<'_, P>, step| {
                if turn.rank() == 3 && step % 2 == 0 {
                    allotment.set([1, 3, 2][step as usize / 2 % 3]);
                }
            })
        });
        books.all_ran();
        assert_eq!(report.episodes, 3);
    }
}

#[test]
fn workers_come_and_go() {
    for policy in POLICIES {
        shuttle_random(100, move || come_and_go::<Shuttle>(policy));
        shuttle_pct(100, 3, move || come_and_go::<Shuttle>(policy));
    }
}

/// A thread outside of the team keeps changing the allotment.
#[test]
fn the_allotment_changes_at_any_moment() {
    let model = || {
        let mut team = team::<Shuttle>(2, 1, Policy::Wrap);
        let allotment = team.allotment().clone();
        let books = Books::new(3, 2, 3);
        let changes = move || {
            for cores in [2, 1, 2, 1] {
                Shuttle::yield_now();
                allotment.set(cores);
            }
        };
        let spec = manycore_platform::ThreadSpec::default();
        let outside = Shuttle::spawn(spec, Box::new(changes)).unwrap();
        team.run(3, |_| walker(&books, |_: &Turn<'_, Shuttle>, _| ()));
        books.all_ran();
        Shuttle::join(outside);
    };
    shuttle_random(300, model);
    shuttle_pct(300, 3, model);
}

#[test]
fn a_panic_reaches_the_caller_and_the_team_goes_on() {
    let model = || {
        let mut team = team::<Shuttle>(2, 2, Policy::Wrap);
        let fails = AssertUnwindSafe(|| {
            team.run(3, |_| {
                let mut step = 0;
                move |turn: &Turn<'_, Shuttle>| {
                    step += 1;
                    assert!(step <= 3, "a rank has passed the barrier");
                    match (turn.rank(), step) {
                        (2, 3) => std::panic::resume_unwind(Box::new("oh")),
                        (_, 1) => Step::Arrived(Site::START),
                        (_, 2) => Step::Preempted,
                        _ => Step::Arrived(Site::START),
                    }
                }
            })
        });
        let payload = catch_unwind(fails).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&"oh"));
        let books = Books::new(4, 2, 2);
        team.run(4, |_| walker(&books, |_: &Turn<'_, Shuttle>, _| ()));
        books.all_ran();
    };
    shuttle_random(200, model);
    shuttle_pct(200, 3, model);
}

#[test]
fn ranks_with_stacks_change_workers() {
    let model = || {
        let mut team = team::<Shuttle>(3, 2, Policy::Wrap);
        let allotment = team.allotment().clone();
        let books = Books::new(4, 1, 4);
        let program = |rank: &mut Rank<Shuttle>| {
            for round in 0..3 {
                books.step(rank.rank());
                allotment.set([3, 1, 2][(rank.rank() + round) % 3]);
                rank.pause();
                assert_eq!(rank.sum(rank.rank() as f64), 6.0);
            }
            books.step(rank.rank());
        };
        // SAFETY: only numbers and shared references are on the stack.
        let report = team.run(4, |_| unsafe { Stackful::new(program) });
        books.all_ran();
        assert_eq!(report.episodes, 4);
    };
    shuttle_random(200, model);
    shuttle_pct(200, 3, model);
}

#[test]
fn a_team_without_a_run_ends() {
    shuttle_random(100, || drop(team::<Shuttle>(3, 2, Policy::Wrap)));
}

#[test]
fn each_fault_is_caught() {
    let deaf = caught_at_random(|| come_and_go::<Faulty<Shuttle, Deaf>>(Policy::Wrap));
    assert!(deaf.contains("deadlock"), "{deaf}");
    let torn = caught_at_random(|| come_and_go::<Faulty<Shuttle, TornAdd>>(Policy::Fifo));
    assert!(torn.contains("deadlock"), "{torn}");
}
