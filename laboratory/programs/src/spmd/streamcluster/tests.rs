//! The whole program: PARSEC's outputs and counts, with any number of ranks (threads).

use super::search::Claim;
use super::*;
use crate::fork::counted::Counted;
use manycore_platform::Native;
use md5::{Digest, Md5};
use std::sync::Barrier;
use std::thread;

fn by_ranks(problem: impl Into<StreamclusterProblem>, ranks: usize) -> Solution {
    let program = Streamcluster::<Native>::new(problem, ranks).unwrap();
    let barrier = Barrier::new(ranks);
    thread::scope(|scope| {
        for rank in 0..ranks {
            let (program, barrier) = (&program, &barrier);
            scope.spawn(move || {
                program.run(rank, &mut || {
                    barrier.wait();
                });
            });
        }
    });
    program.solution().unwrap()
}

/// The expected waits and offers (points tried as new centres) were counted in runs of PARSEC's program.
fn waits_as_often_as_published(input: StreamclusterInput) {
    let solution = Streamcluster::<Native>::alone(input);
    solution.verify().unwrap();
    assert_eq!(solution.offers(), input.offers(), "{input}");
    assert_eq!(solution.barrier_waits(), [input.barrier_waits()], "{input}");
    assert_eq!(solution.cost(), solution.nearest_cost(), "{input}");
}

#[test]
fn each_rank_waits_as_often_as_in_the_published_program() {
    let large = StreamclusterInput::SimLarge;
    let smaller = StreamclusterInput::ALL
        .into_iter()
        .filter(|&input| input != large);
    smaller.for_each(waits_as_often_as_published);
}

#[test]
fn each_rank_waits_as_often_as_published_with_the_large_input() {
    waits_as_often_as_published(StreamclusterInput::SimLarge);
}

/// The digests of the files that PARSEC's program writes.
#[test]
fn the_output_is_that_of_the_published_program() {
    for (input, digest) in [
        (StreamclusterInput::Test, "d39ff2e704889e63774e88946391afe5"),
        (
            StreamclusterInput::SimDev,
            "a679d569a84ffb6656104ee6fa55ed19",
        ),
    ] {
        let output = Streamcluster::<Native>::alone(input).output();
        let bytes = Md5::digest(output);
        let found: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, digest, "{input}");
    }
}

#[test]
fn the_clustering_does_not_depend_on_the_number_of_ranks() {
    let blocks = StreamclusterProblem::new(3..=6, 2, 200, 64).unwrap();
    let problems: [(StreamclusterProblem, &[usize]); 4] = [
        (StreamclusterInput::Test.into(), &[2, 3, 4, 8, 64]),
        (StreamclusterInput::SimDev.into(), &[2, 4]),
        (blocks, &[2, 5]),
        (
            StreamclusterProblem::new(4..=8, 5, 300, 300).unwrap(),
            &[3, 7],
        ),
    ];
    for (problem, teams) in problems {
        let alone = Streamcluster::<Native>::alone(problem);
        for &ranks in teams {
            let mut solution = by_ranks(problem, ranks);
            solution.verify().unwrap();
            assert_eq!(solution.hash(), alone.hash());
            // Not only the output is the same, but also every bit of all costs.
            assert_eq!(solution.waits, vec![alone.waits[0]; ranks]);
            solution.waits.truncate(1);
            assert_eq!(solution, alone, "{problem:?}, {ranks} ranks");
        }
    }
}

#[test]
fn simsmall_by_two_ranks_is_simsmall_by_one() {
    let alone = Streamcluster::<Native>::alone(StreamclusterInput::SimSmall);
    let two = by_ranks(StreamclusterInput::SimSmall, 2);
    assert_eq!((two.hash(), two.cost()), (alone.hash(), alone.cost()));
}

#[test]
fn blocks_are_clustered_and_then_their_centres() {
    let problem = StreamclusterProblem::new(3..=6, 2, 200, 64).unwrap();
    let solution = Streamcluster::<Native>::alone(problem);
    assert_eq!(solution.searches.len(), 5);
    let sizes: Vec<usize> = solution
        .searches
        .iter()
        .map(|found| found.points.len())
        .collect();
    assert_eq!(sizes[..4], [64, 64, 64, 8]);
    assert!((12..=24).contains(&sizes[4]));
    assert!((3..=6).contains(&solution.centres.len()));
    let weight: f32 = solution.centres.iter().map(|centre| centre.weight).sum();
    assert_eq!(weight, 200.0);
}

#[test]
fn fewer_points_than_centres_are_all_centres() {
    let problem = StreamclusterProblem::new(5..=9, 2, 7, 7).unwrap();
    let solution = by_ranks(problem, 3);
    solution.verify().unwrap();
    assert_eq!(solution.centres.len(), 7);
    assert_eq!(solution.offers(), 0);
    // Each of the two searches has two barriers.
    assert_eq!(solution.barrier_waits(), [4; 3]);
}

#[test]
fn a_rank_runs_once_and_is_one_of_the_team() {
    let panics = |rank| {
        let program = Streamcluster::<Native>::new(StreamclusterInput::Test, 1).unwrap();
        program.run(0, &mut || ());
        let again = std::panic::AssertUnwindSafe(|| program.run(rank, &mut || ()));
        let payload = std::panic::catch_unwind(again).unwrap_err();
        *payload.downcast::<String>().unwrap()
    };
    assert_eq!(panics(0), "rank 0 has run already");
    assert_eq!(panics(1), "rank 1 of 1");
}

/// Verification notices each kind of damage to a right solution.
#[test]
fn damaged_solutions_do_not_verify() {
    let right = Streamcluster::<Native>::alone(StreamclusterInput::SimDev);
    let damaged = |damage: &dyn Fn(&mut Solution)| {
        let mut solution = right.clone();
        damage(&mut solution);
        solution.verify().unwrap_err()
    };
    let is_centre = &right.searches[0].open;
    let other = is_centre.iter().position(|open| !open).unwrap();
    let centre = is_centre.iter().position(|open| *open).unwrap();
    assert_eq!(
        damaged(&|s| s.searches[0].points[3].row = s.searches[0].points[4].row),
        WrongSolution::Points {
            search: 0,
            point: right.searches[0].points[4].row
        }
    );
    assert!(matches!(
        damaged(&|s| s.searches[1].points[0].weight += 1.0),
        WrongSolution::Points { search: 1, .. }
    ));
    assert!(matches!(
        damaged(&|s| s.searches[0].points[3].centre = other),
        WrongSolution::Unserved {
            search: 0,
            point: 3
        }
    ));
    assert!(matches!(
        damaged(&|s| s.searches[0].points[3].cost += 1),
        WrongSolution::PointCost {
            search: 0,
            point: 3
        }
    ));
    assert!(matches!(
        damaged(&|s| s.searches[0].open[other] = true),
        WrongSolution::Centres { search: 0, .. }
    ));
    assert!(matches!(
        damaged(&|s| s.searches[0].open[centre] = false),
        WrongSolution::Unserved { search: 0, .. }
    ));
    assert!(matches!(
        damaged(&|s| match &mut s.searches[0].claim {
            Claim::Clustered { cost, .. } => *cost += 1,
            Claim::AllAreCentres => unreachable!(),
        }),
        WrongSolution::Cost { search: 0, .. }
    ));
    assert!(matches!(
        damaged(&|s| s.centres[0].coordinates[0] += 0.001),
        WrongSolution::Centre {
            search: 1,
            centre: 0
        }
    ));
    assert!(matches!(
        damaged(&|s| s.waits.push(0)),
        WrongSolution::Waits {
            rank: 1,
            found: 0,
            ..
        }
    ));
}

/// The instructions that the program declares to a simulated chip match callgrind's count of the
/// whole program (release build, x86-64, minus the count of an empty problem). The test adds twelve
/// for each point and offer: accesses to tables are declared one by one.
#[test]
fn the_instructions_declared_are_those_executed() {
    for (dimensions, executed) in [
        (1, 29_110_000),
        (8, 31_070_000),
        (32, 57_350_000),
        (128, 166_110_000),
    ] {
        let problem = StreamclusterProblem::new(2..=5, dimensions, 1_000, 1_000).unwrap();
        Counted::take();
        let offers = Streamcluster::<Counted>::alone(problem).offers();
        let told = Counted::take() + 12 * 1_000 * offers;
        let ratio = told as f64 / f64::from(executed);
        assert!((0.95..1.05).contains(&ratio), "{dimensions}: {ratio}");
    }
}
