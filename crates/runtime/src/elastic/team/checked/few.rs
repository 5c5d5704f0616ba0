//! Two workers and three ranks under loom.

use super::super::hand::{Hand, Leave};
use super::super::run::{Payload, Run, Settings};
use super::super::{Body, Policy, Report, Step, Turn};
use super::{Books, walker};
use crate::elastic::Allotment;
use manycore_check::{
    Deaf, Fault, Faulty, Loom, NoFence, Plain, Relaxed, TornAdd, TornCas, TornSwap, caught,
    loom_model, team,
};
use manycore_platform::{Ordering, Platform};
use std::time::Duration;

const RANKS: usize = 3;

fn settings(policy: Policy) -> Settings {
    Settings {
        policy,
        // Whoever has nothing to do sleeps: the shortest way through every step.
        patience: Duration::ZERO,
        switch_cost: Duration::from_nanos(1),
    }
}

/// Two workers run these bodies; the second of them comes back when it has had to go, if it
/// `returns`.
fn run<'a, P: Platform, B: Body<P> + 'a>(
    policy: Policy,
    allotment: &Allotment<P>,
    returns: bool,
    body: impl FnMut(usize) -> B,
) -> Result<Report, Payload> {
    let mut bodies: Vec<B> = (0..RANKS).map(body).collect();
    let pointers = bodies
        .iter_mut()
        .map(|body| &raw mut *body as *mut (dyn Body<P> + '_));
    let stacks = std::sync::Arc::new(crate::elastic::fiber::Stacks::new(1 << 16));
    // SAFETY: they are dropped below, after the run.
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
            let leave = Hand::new(&run, worker).take_part();
            if leave == Leave::Over {
                // Who was taken off the allotment is told.
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

/// Each rank writes memory of its own at each step, which only its next step may read, and
/// memory that all read after the barrier.
struct Memory {
    own: Vec<Plain<u32>>,
    shared: Vec<Vec<Plain<u32>>>,
    per_episode: u32,
}

impl Memory {
    fn new(per_episode: u32, episodes: u32) -> Self {
        let row = || (0..RANKS).map(|_| Plain::new(0)).collect::<Vec<_>>();
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
        if step.is_multiple_of(self.per_episode) {
            self.shared[episode][rank].write(step + 1);
            if episode > 0 {
                for other in &self.shared[episode - 1] {
                    assert_ne!(other.read(), 0);
                }
            }
        }
    }
}

/// All ranks are cut `cuts` times in each of so many episodes.
fn episodes<P: Platform>(policy: Policy, cuts: u32, times: u32) {
    let books = Books::new(RANKS, cuts + 1, times);
    let memory = Memory::new(cuts + 1, times);
    let allotment = Allotment::<P>::new(2);
    let report = run(policy, &allotment, false, |_| {
        walker(&books, |turn: &Turn<'_, P>, step| {
            memory.step(turn.rank(), step)
        })
    });
    let report = report.unwrap_or_else(|payload| std::panic::resume_unwind(payload));
    books.all_ran();
    assert_eq!(report.episodes, u64::from(times));
    assert_eq!(
        report.switches,
        u64::from((cuts + 1) * times) * RANKS as u64
    );
    // Those that were not cut for another are no cuts.
    assert!(report.cuts <= u64::from(cuts * times) * RANKS as u64);
}

#[test]
fn two_episodes() {
    loom_model(Some(2), || episodes::<Loom>(Policy::Wrap, 0, 2));
}

#[test]
fn with_cuts() {
    loom_model(Some(1), || episodes::<Loom>(Policy::Wrap, 1, 2));
}

/// The second interval is run in turns.
#[test]
fn in_turns() {
    loom_model(Some(1), || episodes::<Loom>(Policy::RoundRobin, 1, 2));
}

/// A worker is taken away in the first episode, in the midst of rank 2, and, if somebody
/// gives it back, comes again in the second.
fn leaves<P: Platform>(gives_back: bool, times: u32) {
    let books = Books::new(RANKS, 2, times);
    let allotment = Allotment::<P>::new(2);
    let result = run(Policy::Fifo, &allotment, gives_back, |_| {
        walker(&books, |turn: &Turn<'_, P>, step| {
            match (turn.rank(), step) {
                (2, 0) => allotment.set(1),
                (2, 1) if gives_back => allotment.set(2),
                _ => (),
            }
        })
    });
    assert!(result.is_ok());
    books.all_ran();
}

#[test]
fn a_worker_leaves() {
    loom_model(Some(2), || leaves::<Loom>(false, 1));
}

#[test]
fn a_worker_leaves_and_comes_back() {
    loom_model(Some(1), || leaves::<Loom>(true, 2));
}

/// A rank fails in the midst of the first interval; nobody passes the barrier.
#[test]
fn a_rank_panics() {
    loom_model(Some(2), || {
        let allotment = Allotment::<Loom>::new(2);
        let result = run(Policy::Fifo, &allotment, false, |_| {
            let mut step = 0;
            move |turn: &Turn<'_, Loom>| {
                step += 1;
                assert!(step < 3, "a rank has passed the barrier");
                match (turn.rank(), step) {
                    (1, 2) => std::panic::resume_unwind(Box::new("oh")),
                    (_, 1) => Step::Cut,
                    _ => Step::Arrived(super::Site::START),
                }
            }
        });
        assert_eq!(result.unwrap_err().downcast_ref(), Some(&"oh"));
    });
}

#[test]
fn ranks_that_do_not_meet() {
    loom_model(Some(2), || {
        let allotment = Allotment::<Loom>::new(2);
        let result = run(Policy::Fifo, &allotment, false, |_| {
            |turn: &Turn<'_, Loom>| match turn.rank() {
                0 => Step::Arrived(super::Site::named("nobody else")),
                _ => Step::Done,
            }
        });
        let why = result.unwrap_err();
        let why: &String = why.downcast_ref().unwrap();
        assert!(why.contains("2 of 3 ranks have ended"), "{why}");
        assert!(why.contains("nobody else"), "{why}");
    });
}

/// What loom says of a run with this fault of the platform.
fn fails<F: Fault>(model: fn()) -> String {
    let why = caught(|| loom_model(Some(2), model));
    println!("{}: {why}", std::any::type_name::<F>());
    why
}

#[test]
fn each_fault_is_caught() {
    fn cut<F: Fault>() {
        episodes::<Faulty<Loom, F>>(Policy::Fifo, 1, 1);
    }
    fn meet<F: Fault>() {
        episodes::<Faulty<Loom, F>>(Policy::Fifo, 0, 2);
    }
    fn leave<F: Fault>() {
        leaves::<Faulty<Loom, F>>(false, 1);
    }
    // An arrival is lost.
    assert!(fails::<TornAdd>(meet::<TornAdd>).contains("deadlock"));
    // A rank is claimed by both.
    fails::<TornCas>(cut::<TornCas>);
    // The opening does not see who has fallen asleep.
    assert!(fails::<TornSwap>(meet::<TornSwap>).contains("deadlock"));
    assert!(fails::<Deaf>(meet::<Deaf>).contains("deadlock"));
    assert!(fails::<Relaxed>(meet::<Relaxed>).contains("Causality violation"));
    assert!(fails::<Relaxed>(cut::<Relaxed>).contains("Causality violation"));
    // Who leaves puts its rank back, and does not see who falls asleep.
    assert!(fails::<NoFence>(leave::<NoFence>).contains("deadlock"));
}
