//! Checks entries that are used again, entries that are initialised during a race, and a full stack.

use super::{CheckedTask, Way, take, thief};
use crate::steal::JobStack;
use manycore_check::{Faulty, Fenced, Loom, TornCas, caught, loom_model, team};
use manycore_platform::Platform;

/// The owner uses one index twice. Each time, a thief may steal the job.
fn twice<P: Platform>() {
    let (stack, task) = (JobStack::<P>::new(1).unwrap(), CheckedTask::new());
    team::<P>(2, |rank| {
        if rank > 0 {
            take(&stack, Way::Raise, rank);
            take(&stack, Way::AskThenRaise, rank);
            return;
        }
        for round in 0..2 {
            let index = task.push(&stack, round);
            assert_eq!(index, 1);
            let stolen = task.pop(&stack, index);
            assert!(stack.is_empty());
            if stolen {
                assert!(!stack.latch(index).is_set() && stack.thief(index).is_none());
            }
        }
    });
}

#[test]
fn a_thief_steals_twice_from_one_index() {
    loom_model(Some(3), twice::<Loom>);
    loom_model(Some(2), twice::<Faulty<Loom, Fenced>>);
    let torn = || loom_model(Some(3), twice::<Faulty<Loom, TornCas>>);
    assert!(caught(torn).contains("run twice"));
}

/// A thief steals from entries that the owner has initialised meanwhile. Its third steal is from the second chunk
/// of two.
#[test]
fn a_thief_follows_the_owner_into_a_new_chunk() {
    loom_model(Some(2), || {
        let stack = JobStack::<Loom>::new(5).unwrap();
        let tasks: [_; 5] = std::array::from_fn(|_| CheckedTask::new());
        team::<Loom>(2, |rank| {
            if rank > 0 {
                for way in [Way::Raise, Way::Steal, Way::Steal] {
                    take(&stack, way, rank);
                }
                return;
            }
            let indices = tasks.each_ref().map(|task| task.push(&stack, 7));
            assert_eq!(indices, [1, 2, 3, 4, 5]);
            assert!(
                stack.room().is_none() && stack.make_room().is_none(),
                "five jobs fill it"
            );
            for (task, index) in tasks.iter().zip(indices).rev() {
                task.pop(&stack, index);
            }
            assert!(stack.is_empty());
        });
    });
}

#[test]
fn a_stack_of_capacity_0_is_full() {
    loom_model(None, || {
        let stack = JobStack::<Loom>::new(0).unwrap();
        assert!(stack.room().is_none() && stack.make_room().is_none());
        assert!(stack.is_empty() && stack.raise(0, thief(1)).is_none());
    });
}

/// A thief that may only take jobs at an index `floor` or above leaves the other jobs.
#[test]
fn no_thief_takes_a_job_below_the_floor() {
    loom_model(None, || {
        let stack = JobStack::<Loom>::new(2).unwrap();
        let tasks = [CheckedTask::new(), CheckedTask::new()];
        let indices = tasks.each_ref().map(|task| task.push(&stack, 0));
        assert!(stack.raise(2, thief(1)).is_none() && !stack.is_above(2));
        assert!(stack.is_above(1));
        let claim = stack
            .raise(1, thief(1))
            .expect("the first job is at the floor");
        assert_eq!(stack.thief(indices[0]), Some(thief(1)));
        assert!(stack.steal(2, thief(1)).is_none(), "one of two was public");
        assert!(stack.is_above(2) && !stack.is_above(3));
        // SAFETY: the claim is from this stack, and its job runs only here.
        unsafe {
            let (run, task) = stack.job(&claim);
            run(task, true);
        }
        assert!(!stack.done(claim));
        assert!(!tasks[1].pop(&stack, indices[1]) && tasks[0].pop(&stack, indices[0]));
    });
}
