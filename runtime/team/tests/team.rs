//! Teams on this machine: ranks with stacks, workers that join and leave, panics.

use manycore_cores::elastic::Allotment;

use manycore_platform::Native;
use manycore_team::{
    Body, BuildError, Cursor, Policy, Rank, RankLocal, Site, Stackful, Step, Team, Turn,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

const POLICIES: [Policy; 3] = [Policy::Fifo, Policy::RoundRobin, Policy::Wrap];

fn team(workers: usize, policy: Policy) -> Team {
    let allotment = Allotment::new(workers);
    Team::builder(workers, allotment)
        .policy(policy)
        .build()
        .unwrap()
}

/// Works for some nanoseconds.
fn work(amount: u64) -> u64 {
    (0..amount).fold(amount, |x, i| std::hint::black_box(x ^ i.wrapping_mul(x)))
}

/// Each rank adds to its neighbour's value, many times, with preemption points.
#[test]
fn stackful_ranks_meet() {
    const ROUNDS: u64 = 200;
    for (workers, ranks) in [(1, 4), (2, 3), (3, 16), (4, 2)] {
        for policy in POLICIES {
            let cells: Vec<[AtomicU64; 2]> = (0..ranks).map(|_| Default::default()).collect();
            let program = |rank: &mut Rank| {
                let (me, size) = (rank.rank(), rank.size());
                for round in 0..ROUNDS {
                    let (from, to) = ((round % 2) as usize, (1 - round % 2) as usize);
                    for _ in 0..20 {
                        work(200);
                        rank.pause();
                    }
                    let left = cells[(me + 1) % size][from].load(Relaxed);
                    assert_eq!(left, round);
                    cells[me][to].store(left + 1, Relaxed);
                    rank.barrier();
                }
            };
            let mut team = team(workers, policy);
            for _ in 0..2 {
                cells
                    .iter()
                    .flatten()
                    .for_each(|cell| cell.store(0, Relaxed));
                // SAFETY: only numbers and shared references are on the stack.
                let report = team.run(ranks, |_| unsafe { Stackful::new(program) });
                assert_eq!(report.episodes, ROUNDS + 1);
            }
        }
    }
}

/// Results are equal to the last bit, however the ranks were divided.
#[test]
fn reductions_are_the_same_everywhere() {
    let terms = |rank: usize| 1.0 / (rank as f64 + 0.1);
    let right = (0..9).map(terms).reduce(|sum, term| sum + term).unwrap();
    for workers in [1, 2, 4] {
        let program = |rank: &mut Rank| {
            let mine = terms(rank.rank());
            for _ in 0..50 {
                assert_eq!(rank.sum(mine), right);
                assert_eq!((rank.min(mine), rank.max(mine)), (terms(8), terms(0)));
                let all = rank.reduce([rank.rank() as u8; 3], |one, other| {
                    [one[0].max(other[0]), one[1].min(other[1]), 7]
                });
                assert_eq!(all, [8, 0, 7]);
            }
        };
        // SAFETY: only numbers are on the stack.
        team(workers, Policy::Wrap).run(9, |_| unsafe { Stackful::new(program) });
    }
}

#[test]
fn a_reduction_that_others_do_not_take_part_in() {
    let program = |rank: &mut Rank| {
        if rank.rank() == 1 {
            rank.barrier();
        } else {
            rank.sum(1.0);
        }
    };
    let fails = AssertUnwindSafe(|| {
        // SAFETY: only numbers are on the stack.
        team(2, Policy::Wrap).run(3, |_| unsafe { Stackful::new(program) });
    });
    let why = catch_unwind(fails).unwrap_err();
    let why: &String = why.downcast_ref().unwrap();
    assert!(why.contains("rank 1 has left no f64"), "{why}");
}

/// A panic drops the values on the other ranks' stacks, and the team remains usable.
#[test]
fn a_panic_unwinds_all_ranks() {
    struct Dropped<'a>(&'a AtomicUsize);
    impl Drop for Dropped<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let mut team = team(2, Policy::Wrap);
    for _ in 0..3 {
        let dropped = AtomicUsize::new(0);
        let program = |rank: &mut Rank| {
            let _guard = Dropped(&dropped);
            rank.barrier();
            if rank.rank() == 2 {
                std::panic::resume_unwind(Box::new("oh"));
            }
            rank.barrier();
            unreachable!("no rank passes the second barrier");
        };
        let fails = AssertUnwindSafe(|| {
            // SAFETY: only numbers and a guard that any thread may drop are on the stack.
            team.run(5, |_| unsafe { Stackful::new(program) });
        });
        let payload = catch_unwind(fails).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&"oh"));
        // All ranks had begun, since one has passed a barrier.
        assert_eq!(dropped.load(Relaxed), 5);
    }
    let report = team.run(3, |_| |_: &Turn<'_>| Step::Done);
    assert_eq!(report.switches, 3);
}

/// One rank panics. Destructors on another rank's stack ask that rank for its worker.
#[test]
fn a_rank_that_is_dropped_knows_its_worker() {
    struct Asks<'a> {
        rank: &'a mut Rank,
        worker: usize,
        asked: &'a AtomicUsize,
    }
    impl Drop for Asks<'_> {
        fn drop(&mut self) {
            assert_eq!(self.rank.worker(), self.worker);
            self.asked.fetch_add(1, Relaxed);
        }
    }
    let asked = AtomicUsize::new(0);
    let program = |rank: &mut Rank| {
        let (number, worker) = (rank.rank(), rank.worker());
        // The rank is on this worker when it arrives at the barrier: nothing preempts it before.
        let asks = Asks {
            rank,
            worker,
            asked: &asked,
        };
        if number == 2 {
            std::panic::resume_unwind(Box::new("oh"));
        }
        asks.rank.barrier();
        unreachable!("rank 2 does not come");
    };
    let fails = AssertUnwindSafe(|| {
        // SAFETY: a reference to the rank itself, a number and a shared reference are on the stack.
        team(2, Policy::Fifo).run(3, |_| unsafe { Stackful::new(program) });
    });
    assert_eq!(catch_unwind(fails).unwrap_err().downcast_ref(), Some(&"oh"));
    assert!(asked.into_inner() > 0);
}

/// The function runs on one rank, behind the barrier of the reduction, while the others go on.
#[test]
fn a_combining_function_that_panics() {
    let program = |rank: &mut Rank| {
        let number = rank.rank();
        rank.reduce(1_u8, |one, _| {
            if number == 1 {
                std::panic::resume_unwind(Box::new("combining"));
            }
            one
        });
        rank.barrier();
    };
    let mut team = team(2, Policy::Wrap);
    for _ in 0..10 {
        let fails = AssertUnwindSafe(|| {
            // SAFETY: only numbers are on the stack.
            team.run(3, |_| unsafe { Stackful::new(program) });
        });
        let payload = catch_unwind(fails).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&"combining"));
    }
}

/// A body continues with an arrived rank, without returning the step.
#[test]
fn a_barrier_that_a_wrapper_skips() {
    let program = |rank: &mut Rank| {
        rank.sum(1.0);
    };
    let fails = AssertUnwindSafe(|| {
        team(2, Policy::Wrap).run(3, |number| {
            // SAFETY: only numbers are on the stack.
            let mut rank = unsafe { Stackful::new(program) };
            move |turn: &Turn<'_>| {
                let step = rank.go_on(turn);
                if number == 1 && step != Step::Done {
                    return rank.go_on(turn);
                }
                step
            }
        });
    });
    let why = catch_unwind(fails).unwrap_err();
    let why: &String = why.downcast_ref().unwrap();
    assert_eq!(why, "rank 1 goes on from a barrier in the wrong episode");
}

/// A rank that ends while others wait for it is an error, not a hang.
#[test]
fn ranks_that_do_not_meet() {
    let program = |rank: &mut Rank| {
        if rank.rank() > 0 {
            rank.barrier_at("the others' barrier");
        }
    };
    let fails = AssertUnwindSafe(|| {
        // SAFETY: nothing is on the stack.
        team(2, Policy::Wrap).run(4, |_| unsafe { Stackful::new(program) });
    });
    let why = catch_unwind(fails).unwrap_err();
    let why: &String = why.downcast_ref().unwrap();
    assert_eq!(
        why,
        "1 of 4 ranks have ended, and the others wait for them at the others' barrier"
    );
}

/// The allotment changes often, from outside and from inside.
#[test]
fn workers_come_and_go() {
    for policy in POLICIES {
        let mut team = team(3, policy);
        let allotment = team.allotment().clone();
        let over = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let outside = allotment.clone();
            let over = &over;
            scope.spawn(move || {
                let mut cores = 0;
                while over.load(Relaxed) == 0 {
                    outside.set([1, 3, 2, 3, 1, 2][cores % 6]);
                    cores += 1;
                    std::thread::sleep(std::time::Duration::from_micros(300));
                }
            });
            for ranks in [7, 2, 5] {
                let counts: RankLocal<u64> = RankLocal::new(ranks, |_| 0);
                let total = AtomicU64::new(0);
                let program = |rank: &mut Rank| {
                    for round in 1..=100 {
                        for _ in 0..10 {
                            work(100);
                            total.fetch_add(1, Relaxed);
                            rank.pause();
                        }
                        counts.with(rank.rank(), |count| *count += 1);
                        rank.barrier_at("first");
                        let seen = total.load(Relaxed);
                        assert_eq!(seen, 10 * round * rank.size() as u64);
                        if rank.rank() == 1 && round % 10 == 0 {
                            allotment.set(1 + round as usize / 10 % 3);
                        }
                        rank.barrier_at("second");
                    }
                };
                // SAFETY: only numbers and shared references are on the stack.
                let report = team.run(ranks, |_| unsafe { Stackful::new(program) });
                assert_eq!(report.episodes, 201);
                let mut counts = counts;
                assert!(counts.iter_mut().all(|count| *count == 100));
            }
            over.store(1, Relaxed);
        });
    }
}

#[test]
fn a_value_of_a_rank_is_not_lent_twice() {
    let local: RankLocal<u8> = RankLocal::new(2, |_| 0);
    let twice = || local.with(1, |_| local.with(1, |value| *value));
    assert!(catch_unwind(AssertUnwindSafe(twice)).is_err());
    // The value is available again.
    assert_eq!(local.with(1, |value| *value), 0);
    assert_eq!(local.with(1, |_| local.with(0, |value| *value)), 0);
}

/// Each block runs once, although ranks are preempted between blocks.
#[test]
fn cursors_run_each_block_once() {
    const ITEMS: usize = 3_000;
    for policy in POLICIES {
        let runs: Vec<AtomicUsize> = (0..ITEMS).map(|_| AtomicUsize::new(0)).collect();
        team(2, policy).run(3, |rank| {
            let runs = &runs;
            let mut cursor = Cursor::share(ITEMS, 7, rank, 3);
            let mut rounds = 0;
            move |turn: &Turn<'_>| {
                let over = cursor.go_on(turn, |block| {
                    for item in block {
                        work(50);
                        runs[item].fetch_add(1, Relaxed);
                    }
                });
                if !over {
                    return Step::Preempted;
                }
                rounds += 1;
                if rounds == 20 {
                    return Step::Done;
                }
                cursor = Cursor::share(ITEMS, 7, rank, 3);
                Step::Arrived(Site::here())
            }
        });
        assert!(runs.iter().all(|runs| runs.load(Relaxed) == 20));
    }
}

#[test]
#[should_panic(expected = "a team of 0 ranks")]
fn no_ranks() {
    team(1, Policy::Wrap).run(0, |_| |_: &Turn<'_>| Step::Done);
}

/// Neither the clock's sum with a patience nor a sum with a cost may overflow.
#[test]
fn workers_that_never_sleep_and_cuts_that_never_pay() {
    for policy in POLICIES {
        let mut team = Team::builder(2, Allotment::new(2))
            .policy(policy)
            .patience(Duration::MAX)
            .switch_cost(Duration::MAX)
            .build()
            .unwrap();
        for _ in 0..3 {
            let steps = AtomicU64::new(0);
            let steps = &steps;
            let report = team.run(4, |_| {
                let mut step = 0;
                move |_: &Turn<'_>| {
                    step += 1;
                    steps.fetch_add(1, Relaxed);
                    match step {
                        5 => Step::Done,
                        _ => Step::Arrived(Site::here()),
                    }
                }
            });
            assert_eq!((report.episodes, steps.load(Relaxed)), (5, 20));
        }
    }
}

#[test]
fn a_team_of_more_workers_than_memory_is_an_error() {
    // The system refuses to bind the first thread.
    let cpus = vec![vec![], vec![usize::MAX]];
    let team = Team::<Native>::builder(usize::MAX, Allotment::new(2)).cpus(cpus);
    assert!(matches!(
        team.build(),
        Err(BuildError::Spawn { worker: 1, .. })
    ));
}
