//! Checks [`Nearest`] under loom. A thread that posts a job wakes a sleeper, or an awake worker finds the job. A thread
//! that sets a latch wakes the worker that waits for the latch.

use super::policy::{Scan, Setup};
use super::{Idle, Latch, Nearest, Seen};
use manycore_check::{
    Deaf, Faulty, Fenced, Loom, NoFence, NoHeavyFence, Plain, caught, loom_model, preemptions, team,
};
use manycore_platform::{Atomic, Ordering, Platform};
use std::sync::Arc;
use std::time::Duration;

/// Makes a policy that does not spin for long, for `workers` workers of one cluster. Posters do not make fences, so
/// the first worker that falls asleep makes a heavy fence.
pub(super) fn policy<P: Platform>(workers: usize) -> Nearest<P> {
    fresh(workers).light()
}

/// As `policy`, but posters make fences, as in a new pool.
pub(super) fn fresh<P: Platform>(workers: usize) -> Nearest<P> {
    Nearest::new(&Setup {
        clusters: &vec![0; workers],
        idle: &Arc::new(Idle::new(Duration::ZERO, None, 1)),
    })
}

/// As `policy`, on too few `cores` for all workers.
pub(super) fn oversubscribed<P: Platform>(workers: usize, cores: usize) -> Nearest<P> {
    Nearest::new(&Setup {
        clusters: &vec![0; workers],
        idle: &Arc::new(Idle::new(Duration::ZERO, Some(cores - 1), 1)),
    })
    .impatient()
}

/// The jobs of this model: one word for each job. In a pool they would be on the stacks of their posters.
pub(super) struct Jobs<P: Platform>(Vec<P::AtomicU32>);

impl<P: Platform> Jobs<P> {
    pub(super) fn none(count: usize) -> Self {
        Self((0..count).map(|_| P::AtomicU32::new(0)).collect())
    }

    pub(super) fn push(&self, index: usize) {
        // Release suffices: the fence in `Nearest::posted_by` orders this store before the look for sleepers.
        self.0[index].store(1, Ordering::Release);
    }

    pub(super) fn take(&self) -> bool {
        self.0.iter().any(|job| {
            job.load(Ordering::Acquire) == 1
                && job
                    .compare_exchange(1, 0, Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok()
        })
    }
}

/// The last look for jobs before a worker sleeps.
pub(super) struct LookAtJobs<'a, P: Platform>(pub(super) Option<&'a Jobs<P>>);

impl<P: Platform> Scan for LookAtJobs<'_, P> {
    fn injected(&self) -> bool {
        false
    }

    fn anything(&self) -> bool {
        self.0
            .is_some_and(|jobs| jobs.0.iter().any(|job| job.load(Ordering::Acquire) == 1))
    }

    fn wants_it(&self) -> bool {
        false
    }

    fn seen(&self) -> Seen {
        Seen::default()
    }

    fn is_free(&self) -> bool {
        self.0.is_some()
    }
}

/// Worker `me` runs `count` of `jobs`, as `Worker::work` would.
pub(super) fn work<P: Platform>(policy: &Nearest<P>, me: usize, jobs: &Jobs<P>, count: usize) {
    let (end, look) = (Latch::new(), LookAtJobs(Some(jobs)));
    for _ in 0..count {
        let mut idle = policy.start_looking(me);
        while !jobs.take() {
            policy.no_work_found(me, &mut idle, &end, &look);
        }
        let _ = policy.work_found(me, idle);
    }
}

/// Each of `posters` threads posts `each` jobs one by one, and `sleepers` workers run equal shares of all jobs. Loom
/// reports a worker that sleeps although there is a job for it.
fn all_jobs_run<P: Platform>(posters: usize, each: usize, sleepers: usize) {
    all_jobs_run_by::<P>(policy(posters + sleepers), posters, each, sleepers);
}

pub(super) fn all_jobs_run_by<P: Platform>(
    policy: Nearest<P>,
    posters: usize,
    each: usize,
    sleepers: usize,
) {
    let jobs = Jobs::none(posters * each);
    let share = posters * each / sleepers;
    team::<P>(posters + sleepers, |rank| {
        if rank >= posters {
            return work(&policy, rank, &jobs, share);
        }
        for job in 0..each {
            jobs.push(rank * each + job);
            let _ = policy.posted_by(|| rank, true);
        }
    });
}

/// As `all_jobs_run`, in a new pool.
fn all_first_jobs_run(posters: usize, each: usize, sleepers: usize) {
    all_jobs_run_by::<Loom>(fresh(posters + sleepers), posters, each, sleepers);
}

#[test]
fn one_job_for_one_sleeper() {
    loom_model(Some(3), || all_first_jobs_run(1, 1, 1));
    loom_model(Some(3), || all_jobs_run::<Loom>(1, 1, 1));
    loom_model(Some(3), || all_jobs_run::<Faulty<Loom, Fenced>>(1, 1, 1));
}

/// The second job may be posted while the sleeper is on its way to the first.
#[test]
fn two_jobs_for_one_sleeper() {
    loom_model(Some(2), || all_first_jobs_run(1, 2, 1));
    loom_model(Some(2), || all_jobs_run::<Loom>(1, 2, 1));
}

/// The first sleeper runs one job only, so it must call the second sleeper for the second job.
#[test]
fn two_jobs_for_two_sleepers() {
    loom_model(Some(1), || all_jobs_run::<Loom>(1, 2, 2));
}

/// The poster is awake, has the only core, and does not look for jobs any more. So only the watchdog (the sleeper that
/// keeps watch) can find the jobs.
fn left_to_a_blocked_worker<P: Platform>(each: usize, sleepers: usize) {
    all_jobs_run_by::<P>(oversubscribed(1 + sleepers, 1), 1, each, sleepers);
}

#[test]
fn no_job_is_left_to_a_worker_that_blocks() {
    loom_model(Some(3), || left_to_a_blocked_worker::<Loom>(1, 1));
    loom_model(Some(2), || {
        left_to_a_blocked_worker::<Faulty<Loom, Fenced>>(1, 1);
    });
    loom_model(Some(2), || left_to_a_blocked_worker::<Loom>(2, 1));
}

/// The first watchdog finds work, and calls the next watchdog.
#[test]
fn no_jobs_are_left_to_a_worker_that_blocks() {
    loom_model(Some(1), || left_to_a_blocked_worker::<Loom>(2, 2));
}

/// With one preemption, loom lets a poster run between any two steps of the sleeper, or the sleeper between any two
/// steps of a poster. If `MANYCORE_SCHEDULES` is set, as in `ci/long.sh model`, the bound is two preemptions.
#[test]
fn two_posters_and_one_sleeper() {
    loom_model(preemptions(1), || all_jobs_run::<Loom>(2, 1, 1));
}

#[test]
fn two_posters_and_one_sleeper_of_a_new_pool() {
    loom_model(preemptions(1), || all_first_jobs_run(2, 1, 1));
}

#[test]
fn each_fault_of_the_platform_is_caught() {
    fn fails<F: manycore_check::Fault>() {
        let why = caught(|| loom_model(Some(3), || all_jobs_run::<Faulty<Loom, F>>(1, 1, 1)));
        assert!(
            why.contains("deadlock"),
            "{}: {why}",
            std::any::type_name::<F>()
        );
    }
    fails::<NoFence>();
    fails::<NoHeavyFence>();
    fails::<Deaf>();
}

/// The owner of a stolen job waits for the thief, and sees what the thief has written. Models
/// `Worker::wait_for` and the end of `Worker::run`.
fn thief_wakes_owner<P: Platform>() {
    let (policy, latch) = (policy::<P>(2), Latch::<P>::new());
    let result = Plain::new(0);
    team::<P>(2, |rank| {
        if rank == 1 {
            result.write(7);
            if latch.set() {
                policy.notify(0);
            }
            return;
        }
        let mut idle = policy.start_looking(0);
        while !latch.is_set() {
            policy.no_work_found(0, &mut idle, &latch, &LookAtJobs::<P>(None));
        }
        let _ = policy.work_found(0, idle);
        assert_eq!(result.read(), 7);
    });
}

#[test]
fn a_thief_wakes_the_owner() {
    loom_model(Some(3), thief_wakes_owner::<Loom>);
    loom_model(Some(3), thief_wakes_owner::<Faulty<Loom, Fenced>>);
    let deaf = || loom_model(Some(3), thief_wakes_owner::<Faulty<Loom, Deaf>>);
    assert!(caught(deaf).contains("deadlock"));
    let relaxed = || {
        loom_model(
            Some(3),
            thief_wakes_owner::<Faulty<Loom, manycore_check::Relaxed>>,
        )
    };
    assert!(caught(relaxed).contains("Causality violation"));
}

/// The owner sleeps twice on one latch: first a job comes, and then the latch is set.
fn owner_sleeps_twice<P: Platform>() {
    let (policy, latch, jobs) = (policy::<P>(2), Latch::<P>::new(), Jobs::<P>::none(1));
    team::<P>(2, |rank| {
        if rank == 1 {
            jobs.push(0);
            let _ = policy.posted_by(|| 1, true);
            if latch.set() {
                policy.notify(0);
            }
            return;
        }
        let mut idle = policy.start_looking(0);
        let mut ran = 0;
        while !latch.is_set() {
            if jobs.take() {
                ran += 1;
                let _ = policy.work_found(0, idle);
                idle = policy.start_looking(0);
            } else {
                policy.no_work_found(0, &mut idle, &latch, &LookAtJobs(Some(&jobs)));
            }
        }
        let _ = policy.work_found(0, idle);
        assert!(ran == 1 || jobs.take(), "the job is gone");
    });
}

#[test]
fn a_latch_and_a_job_for_the_same_sleeper() {
    loom_model(Some(2), owner_sleeps_twice::<Loom>);
    let deaf = || loom_model(Some(2), owner_sleeps_twice::<Faulty<Loom, Deaf>>);
    assert!(caught(deaf).contains("deadlock"));
}

/// Another thread sends a job to a worker that falls asleep. Models `Registry::send_to_all`, where a post to the event
/// count makes a read-modify-write and then the fence. In the model, the push is this read-modify-write.
fn mail_wakes_its_worker<P: Platform>() {
    let (policy, mail) = (policy::<P>(2), Jobs::none(1));
    team::<P>(2, |rank| {
        if rank == 1 {
            return work(&policy, 1, &mail, 1);
        }
        mail.0[0].swap(1, Ordering::Release);
        P::fence_after_rmw();
        policy.notify(1);
    });
}

#[test]
fn mail_is_not_slept_through() {
    loom_model(Some(3), mail_wakes_its_worker::<Loom>);
    let why = caught(|| loom_model(Some(3), mail_wakes_its_worker::<Faulty<Loom, NoFence>>));
    assert!(why.contains("deadlock"), "{why}");
}

/// The pool ends while its worker falls asleep. Models `Registry::end`, `end_if_over` and the end of `Worker::work`.
fn the_end_wakes_a_worker<P: Platform>() {
    let (policy, end) = (policy::<P>(2), Latch::<P>::new());
    let (terminating, jobs) = (P::AtomicBool::new(false), Jobs::<P>::none(1));
    team::<P>(2, |rank| {
        if rank == 0 {
            terminating.store(true, Ordering::Release);
            if end.set() {
                policy.notify(1);
            }
            return;
        }
        let mut idle = policy.start_looking(1);
        while !terminating.load(Ordering::Acquire) {
            policy.no_work_found(1, &mut idle, &end, &LookAtJobs(Some(&jobs)));
        }
        let _ = policy.work_found(1, idle);
    });
}

#[test]
fn no_worker_sleeps_through_the_end() {
    loom_model(Some(3), the_end_wakes_a_worker::<Loom>);
    let why = caught(|| loom_model(Some(3), the_end_wakes_a_worker::<Faulty<Loom, Deaf>>));
    assert!(why.contains("deadlock"), "{why}");
}

/// The last look of a worker before it sleeps. The worker waits until an adopted thread has run a call. An adopted
/// thread is a thread of the program that the pool counts as a worker.
struct LookForEnd<'a, P: Platform>(&'a P::AtomicBool);

impl<P: Platform> Scan for LookForEnd<'_, P> {
    fn injected(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn anything(&self) -> bool {
        self.injected()
    }

    fn seen(&self) -> Seen {
        Seen::default()
    }

    fn is_free(&self) -> bool {
        true
    }
}

/// The pool ends, and its adopted thread takes no part in the end. A worker waits on a latch that only a call sets, and
/// the adopted thread has not run this call. The end must wake the worker. Models `Registry::end`.
fn the_end_wakes_a_worker_that_waits_for_a_call<P: Platform>() {
    let (policy, call) = (policy::<P>(2), Latch::<P>::new());
    let terminating = P::AtomicBool::new(false);
    team::<P>(2, |rank| {
        if rank == 0 {
            terminating.store(true, Ordering::Release);
            P::fence(Ordering::SeqCst);
            policy.notify(1);
            return;
        }
        let mut idle = policy.start_looking(1);
        // Once the worker has seen the end, it finds the call by itself.
        while !terminating.load(Ordering::Acquire) {
            policy.no_work_found(1, &mut idle, &call, &LookForEnd::<P>(&terminating));
        }
        let _ = policy.work_found(1, idle);
    });
}

#[test]
fn a_worker_that_waits_for_a_call_does_not_sleep_through_the_end() {
    loom_model(
        Some(3),
        the_end_wakes_a_worker_that_waits_for_a_call::<Loom>,
    );
    fn fails<F: manycore_check::Fault>() {
        let model = the_end_wakes_a_worker_that_waits_for_a_call::<Faulty<Loom, F>>;
        let why = caught(|| loom_model(Some(3), model));
        assert!(
            why.contains("deadlock"),
            "{}: {why}",
            std::any::type_name::<F>()
        );
    }
    fails::<NoFence>();
    fails::<NoHeavyFence>();
    fails::<Deaf>();
}
