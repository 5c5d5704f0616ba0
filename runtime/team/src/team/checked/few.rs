//! Two workers and up to three ranks (parts of a program that meet at barriers) under loom.

use super::super::run::{Run, TeamSettings};
use super::super::worker_run::{Leave, WorkerRun};
use super::super::{Body, Policy, Report, Step, Turn};
use super::{Books, walker};
use manycore_check::{
    Deaf, Fault, Faulty, Loom, NoFence, Plain, Relaxed, TornAdd, TornCas, TornSwap, caught,
    loom_model, team,
};
use manycore_cores::elastic::Allotment;
use manycore_cores::sync::Payload;
use manycore_platform::{Ordering, Platform};
use std::time::Duration;

fn settings(policy: Policy) -> TeamSettings {
    TeamSettings {
        policy,
        // A worker without a rank sleeps at once: the shortest way through every step.
        patience: Duration::ZERO,
        switch_cost: Duration::from_nanos(1),
    }
}

/// Two workers run these bodies. If `returns`, a worker that has lost its core takes part again.
fn run<'a, P: Platform, B: Body<P> + 'a>(
    policy: Policy,
    allotment: &Allotment<P>,
    returns: bool,
    ranks: usize,
    body: impl FnMut(usize) -> B,
) -> Result<Report, Payload> {
    let mut bodies: Vec<B> = (0..ranks).map(body).collect();
    let pointers = bodies
        .iter_mut()
        .map(|body| &raw mut *body as *mut (dyn Body<P> + '_));
    let stacks = std::sync::Arc::new(crate::fiber::Stacks::new(1 << 16));
    // SAFETY: the bodies are dropped after the run.
    let run = unsafe { Run::new(pointers, 2, allotment.clone(), stacks, &settings(policy)) };
    team::<P>(2, |worker| {
        loop {
            let cores = allotment.seen();
            P::fence(Ordering::Acquire);
            if run.is_over() {
                return;
            }
            if worker >= cores.cores() {
                allotment.wait_while(cores);
                continue;
            }
            let leave = WorkerRun::new(&run, worker).take_part();
            if leave == Leave::Over {
                // Wakes the other worker, which may wait on the allotment.
                return if worker == 0 {
                    allotment.nudge()
                };
            }
            if !returns {
                return;
            }
        }
    });
    // SAFETY: all workers have left.
    unsafe { run.result() }
}

/// In each step a rank writes memory that only its next step reads. In the first step of an episode
/// it also writes memory that all ranks read in the next.
struct Memory {
    own: Vec<Plain<u32>>,
    shared: Vec<Vec<Plain<u32>>>,
    per_episode: u32,
}

impl Memory {
    fn new(ranks: usize, per_episode: u32, episodes: u32) -> Self {
        let row = || (0..ranks).map(|_| Plain::new(0)).collect::<Vec<_>>();
        Self {
            own: row(),
            shared: (0..episodes).map(|_| row()).collect(),
            per_episode,
        }
    }

    fn step(&self, rank: usize, step: u32) {
        assert_eq!(self.own[rank].read(), step);
        self.own[rank].write(step + 1);
        let episode = (step / self.per_episode) as usize;
        if step % self.per_episode == 0 {
            self.shared[episode][rank].write(step + 1);
            if episode > 0 {
                for other in &self.shared[episode - 1] {
                    assert_ne!(other.read(), 0);
                }
            }
        }
    }
}

/// Each rank is preempted `preemptions` times in each of `times` episodes.
fn episodes<P: Platform>(policy: Policy, ranks: usize, preemptions: u32, times: u32) {
    let books = Books::new(ranks, preemptions + 1, times);
    let memory = Memory::new(ranks, preemptions + 1, times);
    let allotment = Allotment::<P>::new(2);
    let report = run(policy, &allotment, false, ranks, |_| {
        walker(&books, |turn: &Turn<'_, P>, step| {
            memory.step(turn.rank(), step)
        })
    });
    let report = report.unwrap_or_else(|payload| std::panic::resume_unwind(payload));
    books.all_ran();
    assert_eq!(report.episodes, u64::from(times));
    assert_eq!(
        report.switches,
        u64::from((preemptions + 1) * times) * ranks as u64
    );
    // A turn does not count as a preemption if the worker keeps the rank.
    assert!(report.preemptions <= u64::from(preemptions * times) * ranks as u64);
}

#[test]
fn all_ranks_meet_in_two_episodes() {
    loom_model(Some(1), || episodes::<Loom>(Policy::Fifo, 3, 0, 2));
    loom_model(Some(1), || episodes::<Loom>(Policy::Fifo, 2, 0, 2));
}

#[test]
fn preempted_ranks_continue() {
    loom_model(Some(1), || episodes::<Loom>(Policy::Fifo, 3, 1, 1));
    loom_model(Some(2), || episodes::<Loom>(Policy::Fifo, 2, 1, 1));
}

/// The planner learns in the first interval. The second interval is run by a plan, or in turns.
#[test]
fn learned_intervals_are_planned_or_run_in_turns() {
    loom_model(Some(0), || episodes::<Loom>(Policy::Wrap, 2, 1, 2));
    loom_model(Some(0), || episodes::<Loom>(Policy::RoundRobin, 2, 1, 2));
}

/// In its first step, the last rank takes worker 1's core away. If `gives_back`, it gives the core
/// back in its second step.
fn leaves<P: Platform>(ranks: usize, gives_back: bool, times: u32) {
    let books = Books::new(ranks, 2, times);
    let allotment = Allotment::<P>::new(2);
    let result = run(Policy::Fifo, &allotment, gives_back, ranks, |_| {
        walker(&books, |turn: &Turn<'_, P>, step| {
            match (turn.rank(), step) {
                (rank, 0) if rank + 1 == ranks => allotment.set(1),
                (rank, 1) if rank + 1 == ranks && gives_back => allotment.set(2),
                _ => (),
            }
        })
    });
    assert!(result.is_ok());
    books.all_ran();
}

#[test]
fn a_worker_leaves() {
    loom_model(Some(2), || leaves::<Loom>(2, false, 1));
    loom_model(Some(1), || leaves::<Loom>(3, false, 1));
}

#[test]
fn a_worker_leaves_and_comes_back() {
    loom_model(Some(0), || leaves::<Loom>(2, true, 2));
}

/// No rank passes the barrier after a panic.
#[test]
fn a_rank_panics() {
    loom_model(Some(1), || {
        let allotment = Allotment::<Loom>::new(2);
        let result = run(Policy::Fifo, &allotment, false, 2, |_| {
            let mut step = 0;
            move |turn: &Turn<'_, Loom>| {
                step += 1;
                assert!(step < 3, "a rank has passed the barrier");
                match (turn.rank(), step) {
                    (1, 2) => std::panic::resume_unwind(Box::new("oh")),
                    (_, 1) => Step::Preempted,
                    _ => Step::Arrived(super::Site::START),
                }
            }
        });
        assert_eq!(result.unwrap_err().downcast_ref(), Some(&"oh"));
    });
}

#[test]
fn a_barrier_without_all_ranks_panics() {
    loom_model(Some(1), || {
        let allotment = Allotment::<Loom>::new(2);
        let result = run(Policy::Fifo, &allotment, false, 3, |_| {
            |turn: &Turn<'_, Loom>| match turn.rank() {
                0 => Step::Arrived(super::Site::named("a third rank")),
                _ => Step::Done,
            }
        });
        let why = result.unwrap_err();
        let why: &String = why.downcast_ref().unwrap();
        assert!(why.contains("2 of 3 ranks have ended"), "{why}");
        assert!(why.contains("a third rank"), "{why}");
    });
}

/// Loom's message for a model with the fault `F`.
fn fails<F: Fault>(model: fn()) -> String {
    let why = caught(|| loom_model(Some(1), model));
    println!("{}: {why}", std::any::type_name::<F>());
    why
}

#[test]
fn each_fault_is_caught() {
    fn preempted<F: Fault>() {
        episodes::<Faulty<Loom, F>>(Policy::Fifo, 2, 1, 1);
    }
    fn meet<F: Fault>() {
        episodes::<Faulty<Loom, F>>(Policy::Fifo, 2, 0, 2);
    }
    fn leave<F: Fault>() {
        leaves::<Faulty<Loom, F>>(2, false, 1);
    }
    // An arrival is lost.
    assert!(fails::<TornAdd>(meet::<TornAdd>).contains("deadlock"));
    // Both workers claim the same rank.
    assert!(fails::<TornCas>(meet::<TornCas>).contains("Causality violation"));
    // The opening misses a worker that has fallen asleep.
    assert!(fails::<TornSwap>(meet::<TornSwap>).contains("deadlock"));
    assert!(fails::<Deaf>(meet::<Deaf>).contains("deadlock"));
    // The barrier, or a preemption, does not order memory.
    assert!(fails::<Relaxed>(meet::<Relaxed>).contains("Causality violation"));
    assert!(fails::<Relaxed>(preempted::<Relaxed>).contains("Causality violation"));
    // A worker that leaves puts its rank back, and misses a worker that falls asleep.
    assert!(fails::<NoFence>(leave::<NoFence>).contains("deadlock"));
}
