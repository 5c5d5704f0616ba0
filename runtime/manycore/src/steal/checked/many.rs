//! Checks random steps of an owner and several thieves on hundreds of jobs.

use super::thief;
use crate::steal::{Head, JobStack};
use manycore_check::{
    Buffered, Faulty, Fenced, NoHeavyFence, Shuttle, TornCas, caught_apart, shuttle_pct,
    shuttle_random, team,
};
use manycore_platform::{Ordering, Platform};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex};

const JOBS: u32 = 200;
const DEPTH: usize = 12;

/// A job that counts its runs. The counter is the standard library's atomic, so it is no step of the model.
#[repr(C)]
struct Counted {
    head: Head,
    runs: AtomicU32,
}

impl Counted {
    fn new() -> Self {
        unsafe fn run(job: *const (), _: bool) {
            // SAFETY: `job` is the job below, which its owner keeps until it is done.
            unsafe { &*job.cast::<Counted>() }.ran();
        }
        Self {
            head: Head(run),
            runs: AtomicU32::new(0),
        }
    }

    fn ran(&self) {
        let before = self.runs.fetch_add(1, Ordering::Relaxed);
        assert_eq!(before, 0, "a job is run twice");
    }
}

/// The owner pushes and pops at random, with up to `DEPTH` jobs at a time. Meanwhile `thieves` take all steps that
/// a thief may take.
fn turmoil<P: Platform>(thieves: usize) {
    let stack = JobStack::<P>::new(DEPTH as u32).unwrap();
    // Jobs live until all threads have ended, since a thief of a broken stack may run a job again.
    let jobs = Mutex::new(vec![]);
    let over = AtomicBool::new(false);
    team::<P>(1 + thieves, |rank| {
        let mut random = fastrand::Rng::with_seed(P::now() ^ rank as u64);
        if rank > 0 {
            while !over.load(Ordering::Relaxed) {
                let me = thief(rank);
                let claim = match random.u32(0..8) {
                    0 => {
                        stack.request();
                        None
                    }
                    1 => stack.raise(random.u32(0..4), me),
                    _ => stack.steal(random.u32(0..4), me),
                };
                if let Some(claim) = claim {
                    // SAFETY: the claim is from this stack, and its job runs only here.
                    unsafe {
                        let (run, job) = stack.job(&claim);
                        run(job, true);
                    }
                    let _ = stack.done(claim);
                }
                P::yield_now();
            }
            return;
        }
        let mut open: Vec<(Arc<Counted>, u32)> = vec![];
        let mut pushed = 0;
        while pushed < JOBS || !open.is_empty() {
            if pushed < JOBS && open.len() < DEPTH && random.u32(0..5) < 3 {
                let job = Arc::new(Counted::new());
                jobs.lock().unwrap().push(Arc::clone(&job));
                let index = stack.push_as_joins_do(std::ptr::from_ref(&*job).cast());
                let index = index.expect("fewer than DEPTH jobs are open");
                open.push((job, index));
                pushed += 1;
            } else if let Some((job, index)) = open.pop() {
                if stack.pop(index) || stack.confirm(index) {
                    job.ran();
                } else {
                    while !stack.latch(index).is_set() {
                        P::yield_now();
                    }
                    stack.retire(index);
                }
                assert_eq!(job.runs.load(Ordering::Relaxed), 1, "the job has not run");
            }
        }
        assert!(stack.is_empty());
        over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn each_of_many_jobs_runs_once() {
    for thieves in [1, 2, 4] {
        shuttle_random(60, move || turmoil::<Shuttle>(thieves));
        shuttle_pct(60, 3, move || turmoil::<Shuttle>(thieves));
    }
    shuttle_random(60, || turmoil::<Faulty<Shuttle, Fenced>>(3));
}

/// With buffered stores, the owner's pops have no fence and rely on the heavy fence of a raise.
#[test]
fn each_runs_once_although_stores_are_buffered() {
    for thieves in [1, 2, 4] {
        shuttle_random(60, move || turmoil::<Buffered>(thieves));
        shuttle_pct(60, 3, move || turmoil::<Buffered>(thieves));
    }
}

#[test]
fn a_raise_without_its_fence_is_caught() {
    caught_apart("unfenced", || turmoil::<Faulty<Buffered, NoHeavyFence>>(2));
}

#[test]
fn a_torn_steal_is_caught() {
    caught_apart("torn", || turmoil::<Faulty<Shuttle, TornCas>>(2));
}
