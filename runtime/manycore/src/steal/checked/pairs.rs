//! Checks an owner that takes its jobs back while one or two thieves try to steal them.

use super::{CheckedTask, Way, take};
use crate::steal::JobStack;
use manycore_check::{
    Fault, Faulty, Fenced, Loom, NoFence, NoHeavyFence, Relaxed, TornCas, caught, exhaustively,
    loom_model, team,
};
use manycore_platform::{Ordering, Platform};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// In each of `rounds` rounds, the owner pushes `jobs` jobs and pops them again. Meanwhile each thief tries its
/// ways one after the other. Returns how many jobs were stolen.
fn race<P: Platform>(jobs: u32, rounds: u32, thieves: &[&[Way]]) -> usize {
    let stack = JobStack::<P>::new(jobs).unwrap();
    let tasks: Vec<_> = (0..jobs).map(|_| CheckedTask::new()).collect();
    let stolen = AtomicUsize::new(0);
    team::<P>(1 + thieves.len(), |rank| {
        if rank > 0 {
            for &way in thieves[rank - 1] {
                take(&stack, way, rank);
            }
            return;
        }
        for round in 0..rounds {
            let push = |task: &CheckedTask| task.push(&stack, round);
            let indices: Vec<_> = tasks.iter().map(push).collect();
            for (task, index) in tasks.iter().zip(indices).rev() {
                stolen.fetch_add(task.pop(&stack, index).into(), Ordering::Relaxed);
            }
        }
    });
    assert!(stack.is_empty());
    for task in tasks {
        assert!(!task.due.into_inner(), "a job is never run");
    }
    stolen.into_inner()
}

/// Checks the race, and that its thieves steal each number of jobs from 0 to `most` in some interleaving.
fn check<P: Platform>(
    preemptions: Option<usize>,
    jobs: u32,
    rounds: u32,
    thieves: &'static [&'static [Way]],
    most: usize,
) {
    let seen = Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let noted = Arc::clone(&seen);
    let model = move || {
        let stolen = race::<P>(jobs, rounds, thieves);
        noted.lock().unwrap().insert(stolen);
    };
    exhaustively(|| loom_model(preemptions, model));
    let seen = seen.lock().unwrap();
    assert!((0..=most).all(|stolen| seen.contains(&stolen)), "{seen:?}");
}

#[test]
fn a_raise_against_the_pop_of_the_last_job() {
    check::<Loom>(None, 1, 1, &[&[Way::Raise]], 1);
}

#[test]
fn a_raise_against_the_pop_of_the_last_job_without_light_fences() {
    check::<Faulty<Loom, Fenced>>(None, 1, 1, &[&[Way::Raise]], 1);
}

/// The owner either cancels the raise (a thief's step that makes jobs public) and gives a job, or is too late.
#[test]
fn a_raise_against_two_pops() {
    check::<Loom>(None, 2, 1, &[&[Way::Raise]], 1);
    check::<Faulty<Loom, Fenced>>(None, 2, 1, &[&[Way::Raise]], 1);
}

#[test]
fn a_raise_of_more_than_one_and_a_steal() {
    check::<Loom>(Some(3), 3, 1, &[&[Way::Raise, Way::Steal]], 2);
}

#[test]
fn the_owner_answers_a_request() {
    check::<Loom>(Some(3), 2, 1, &[&[Way::AskThenRaise]], 1);
    check::<Faulty<Loom, Fenced>>(Some(3), 2, 1, &[&[Way::AskThenRaise]], 1);
}

#[test]
fn two_thieves_raise_at_once() {
    check::<Loom>(Some(2), 2, 1, &[&[Way::Raise], &[Way::Raise]], 1);
}

#[test]
fn one_thief_requests_and_another_steals() {
    check::<Loom>(Some(2), 3, 1, &[&[Way::AskThenRaise], &[Way::Steal]], 1);
}

/// After the owner has cancelled a raise, no thread may mistake it for the next raise, which differs only in the
/// thief's name.
#[test]
fn two_raises_of_the_same_index_one_after_the_other() {
    check::<Loom>(Some(3), 1, 2, &[&[Way::Raise], &[Way::Raise]], 2);
}

#[test]
fn each_fault_is_caught() {
    fn fails<F: Fault>() -> String {
        let check = || {
            loom_model(None, || {
                race::<Faulty<Loom, F>>(1, 1, &[&[Way::Raise]]);
            })
        };
        let why = caught(check);
        println!("{}: {why}", std::any::type_name::<F>());
        why
    }
    // The owner and the thief miss each other's write.
    assert!(fails::<NoHeavyFence>().contains("run twice"));
    assert!(fails::<NoFence>().contains("run twice"));
    // The thief does not see the owner's writes, or the owner does not see the thief's.
    assert!(fails::<Relaxed>().contains("Causality violation"));
    // The owner cancels a raise that has become open by then.
    assert!(fails::<TornCas>().contains("run twice"));
    // Without light fences, the owner needs the fence in `confirm`.
    let unfenced = || {
        loom_model(None, || {
            race::<Faulty<Faulty<Loom, NoFence>, Fenced>>(1, 1, &[&[Way::Raise]]);
        })
    };
    assert!(caught(unfenced).contains("run twice"));
}
