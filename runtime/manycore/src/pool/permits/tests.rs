//! Random walks through the transitions, without a pool. They check that a permit (a right to run jobs) has one holder
//! at a time, and that the pool attends to each job and each worker that waits for a permit.

use super::state::{Left, Listed, Lost, Permits, State, Successor};
use super::word::CallerSlot;
use fastrand::Rng;
use manycore_platform::Native;
use std::panic::catch_unwind;

#[test]
fn the_lowest_spare_worker_is_taken() {
    let (permits, slot) = (Permits::<Native>::new(), CallerSlot::new());
    let mut state = permits.begin(&slot);
    [5, 3, 9].into_iter().for_each(|id| state.keep_spare(id));
    assert_eq!(
        [(); 4].map(|()| state.take_spare()),
        [Some(3), Some(5), Some(9), None]
    );
    state.end(|_| ());
}

/// A worker's activity.
#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    Permit(usize),
    Idle,
    /// The worker has what it waited for, and is on the ready list.
    Ready,
    /// The worker waits, and has no permit.
    Waits,
    /// Worker 0 while no caller has its stack.
    Nowhere,
}

/// A mistake in the driver of the transitions.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    /// A caller that has permit 0 again does not say so.
    NoRegain,
    /// A worker gives its permit away and keeps it.
    KeepsPlace,
    /// The end of the last job leaves the slot unchanged.
    NoEnd,
    /// A job is posted without the transition `post`.
    NoPost,
}

/// A pool's permits, as its threads would drive them.
struct Walk {
    permits: Permits<Native>,
    slot: CallerSlot<Native>,
    workers: Vec<At>,
    /// The number of permits.
    threads: usize,
    caller: bool,
    jobs: usize,
    /// Whether a permit was lost. Then a job may stay unattended.
    lost: bool,
    /// Whether the slot may be vacant for a worker that was ready but has got another permit since.
    listed: bool,
    announced: bool,
    random: Rng,
    mistake: Option<Mistake>,
    /// Whether threads can be refused.
    refuses: bool,
}

impl Walk {
    fn new(seed: u64, mistake: Option<Mistake>) -> Self {
        let mut random = Rng::with_seed(seed);
        let threads = random.usize(1..5);
        let workers = (0..threads).map(|id| if id == 0 { At::Nowhere } else { At::Permit(id) });
        Self {
            permits: Permits::new(),
            slot: CallerSlot::new(),
            workers: workers.collect(),
            threads,
            caller: false,
            jobs: 0,
            lost: false,
            listed: false,
            announced: false,
            refuses: random.u8(..) < 64,
            random,
            mistake,
        }
    }

    fn change<R>(&mut self, section: impl FnOnce(&mut State<'_, Native>) -> R) -> R {
        let announced = &mut self.announced;
        let mut state = self.permits.begin(&self.slot);
        let result = section(&mut state);
        state.end(|vacancy| *announced = vacancy.any);
        result
    }

    /// A worker in the state `at`, at random.
    fn any(&mut self, at: impl Fn(usize, At) -> bool) -> Option<usize> {
        let workers = self.workers.iter().enumerate();
        let fitting: Vec<usize> = workers
            .filter(|&(id, &now)| at(id, now))
            .map(|(id, _)| id)
            .collect();
        self.random.choice(fitting)
    }

    fn grant(&mut self, permit: usize, id: usize) {
        let before = self.workers[id];
        assert!(matches!(before, At::Idle | At::Ready), "{id}: {before:?}");
        if (permit, id) == (0, 0) && self.mistake != Some(Mistake::NoRegain) {
            self.change(|permits| permits.regain());
        }
        self.workers[id] = At::Permit(permit);
    }

    /// Returns `false` if the system refuses a thread.
    fn pass_on(&mut self, permit: usize, successor: &Successor) -> bool {
        match *successor {
            Successor::Worker(id) => self.grant(permit, id),
            Successor::New if self.refuses && self.random.bool() => return false,
            Successor::New => self.workers.push(At::Permit(permit)),
        }
        true
    }

    fn pass_on_or_lose(&mut self, permit: usize, successor: &Successor) {
        if !self.pass_on(permit, successor) {
            // A worker may have joined a list while the system refused the thread.
            match self.random.u8(..3) {
                0 => self.wait_idle(),
                1 => self.list(),
                _ => {}
            }
            self.lost = true;
            match self.change(|permits| permits.lose(permit)) {
                Lost::Found(id) => self.grant(permit, id),
                Lost::Free => {}
                Lost::Deserted => panic!("the pool does not end"),
            }
        }
        self.deregister(successor);
    }

    fn deregister(&mut self, successor: &Successor) {
        if *successor == Successor::New {
            self.change(|permits| permits.deregister());
        }
    }

    /// A worker that has no permit joins the idle list.
    fn wait_idle(&mut self) {
        let Some(id) = self.any(|id, at| id != 0 && at == At::Waits) else {
            return;
        };
        let listed = self.change(|permits| permits.join_idle(id, usize::MAX));
        self.join_list(id, &listed.expect("the pool does not end"), At::Idle);
    }

    fn join_list(&mut self, id: usize, listed: &Listed, list: At) {
        self.workers[id] = match *listed {
            Listed::Placed(permit) => At::Permit(permit),
            Listed::Waiting => list,
        };
    }

    fn fill(&mut self) {
        if let Some(successor) = self.change(|permits| permits.fill()) {
            self.pass_on_or_lose(0, &successor);
        }
    }

    fn step(&mut self) {
        match self.random.u8(..11) {
            0 if !self.caller => {
                if self.slot.take() {
                    self.caller = true;
                    self.workers[0] = At::Permit(0);
                }
            }
            1 => self.leave(),
            2 => {
                self.jobs += 1;
                if self.mistake == Some(Mistake::NoPost) {
                    return;
                }
                if self.change(|permits| permits.post()) && self.random.bool() {
                    self.fill();
                }
            }
            3 if self.jobs > 0 => {
                self.jobs -= 1;
                if self.jobs == 0 && self.mistake != Some(Mistake::NoEnd) {
                    self.change(|permits| permits.end_posts());
                }
            }
            4 => self.fill(),
            5 => {
                if let Some(successor) = self.change(|permits| permits.summon()) {
                    self.pass_on_or_lose(0, &successor);
                }
            }
            6 => self.give(),
            7 => self.list(),
            8 => {
                let idle = self.any(|id, at| id != 0 && matches!(at, At::Permit(_)));
                let Some(id) = idle else { return };
                let At::Permit(permit) = self.workers[id] else {
                    return;
                };
                if let Some((next, stays)) =
                    self.change(|permits| permits.make_way(id, false, || ()))
                {
                    assert!(stays);
                    self.workers[id] = At::Idle;
                    self.grant(permit, next);
                }
            }
            9 => {
                if let Some((permit, successor)) =
                    self.change(|permits| permits.fill_lost(|_| true))
                {
                    self.pass_on_or_lose(permit, &successor);
                }
            }
            _ => {
                let holder = self.any(|id, at| id != 0 && at == At::Permit(0));
                let Some(id) = holder.filter(|_| self.jobs == 0) else {
                    return;
                };
                if let Some(listed) =
                    self.change(|permits| permits.give_back(id, usize::MAX, || ()))
                {
                    self.join_list(id, &listed, At::Idle);
                }
            }
        }
    }

    /// A worker that has waited wants a permit.
    fn list(&mut self) {
        let Some(id) = self.any(|_, at| at == At::Waits) else {
            return;
        };
        let listed = if self.random.bool() {
            self.listed = true;
            self.change(|permits| permits.list_first(id))
        } else {
            self.change(|permits| permits.list(id))
        };
        // A caller has the slot, so permit 0 cannot go to the caller at once.
        assert!(
            (id, &listed) != (0, &Listed::Placed(0)),
            "an empty slot beside its caller"
        );
        self.join_list(id, &listed, At::Ready);
    }

    fn leave(&mut self) {
        let (true, At::Permit(permit)) = (self.caller, self.workers[0]) else {
            return;
        };
        self.caller = false;
        self.workers[0] = At::Nowhere;
        if permit == 0 && self.slot.leave() {
            return;
        }
        let (waits, jobs) = (self.random.bool(), self.jobs);
        match self.change(|permits| permits.leave(permit, || waits, || jobs > 0)) {
            Left::Nothing => assert_eq!(jobs, 0, "jobs that no thread comes for"),
            Left::Vacancy => {}
            Left::Permit(permit, successor) => self.pass_on_or_lose(permit, &successor),
        }
    }

    fn give(&mut self) {
        let Some(id) = self.any(|_, at| matches!(at, At::Permit(_))) else {
            return;
        };
        let At::Permit(permit) = self.workers[id] else {
            return;
        };
        let from_slot = (permit, id) == (0, 0);
        let successor = self.change(|permits| permits.give(from_slot));
        let before = std::mem::replace(&mut self.workers[id], At::Waits);
        if self.mistake == Some(Mistake::KeepsPlace) {
            self.workers[id] = before;
        }
        if !self.pass_on(permit, &successor) {
            // The worker keeps its permit after all.
            if from_slot {
                self.change(|permits| permits.regain());
            }
            self.workers[id] = before;
        }
        self.deregister(&successor);
    }

    fn check(&mut self) {
        let holders = |permit| {
            self.workers
                .iter()
                .filter(move |&&at| at == At::Permit(permit))
        };
        for permit in 0..self.workers.len() {
            assert!(holders(permit).count() <= 1, "permit {permit} is shared");
        }
        let word = self.slot.word();
        let held = self.workers.iter().enumerate();
        let held = { held }.any(|(id, &at)| at == At::Permit(0) && (id, self.caller) != (0, true));
        assert_eq!(word.has_caller(), self.caller, "{word:?}");
        assert_eq!(word.is_held(), held, "{word:?}: who holds permit 0");
        assert_eq!(
            word.is_vacant(),
            self.announced,
            "{word:?}: what posters learn"
        );
        let ready = self.workers.contains(&At::Ready);
        assert_eq!(self.permits.has_ready(), ready);
        let lost = (1..self.threads).any(|permit| holders(permit).count() == 0);
        let listed = ready || self.workers.contains(&At::Idle);
        assert!(!lost || !listed, "a worker waits beside a lost permit");
        let waits = ready || self.jobs > 0;
        assert!(
            self.lost || !waits || word.is_attended(),
            "{word:?}: unattended"
        );
        assert!(
            waits || self.listed || !word.is_vacant(),
            "{word:?}: vacant for nothing"
        );
        self.listed &= word.is_vacant();
    }

    fn go(seed: u64, mistake: Option<Mistake>) {
        let mut walk = Self::new(seed, mistake);
        for _ in 0..60 {
            walk.step();
            walk.check();
        }
    }
}

#[test]
fn a_permit_is_one_threads_and_jobs_are_attended() {
    for seed in 0..if cfg!(miri) { 20 } else { 20_000 } {
        if catch_unwind(|| Walk::go(seed, None)).is_err() {
            panic!("seed {seed}");
        }
    }
}

// Thousands of walks, without unsafe code.
#[test]
#[cfg_attr(miri, ignore)]
fn each_mistake_is_caught() {
    use Mistake::*;
    for mistake in [NoRegain, KeepsPlace, NoEnd, NoPost] {
        let caught = |seed| catch_unwind(|| Walk::go(seed, Some(mistake))).is_err();
        assert!((0..2_000).any(caught), "{mistake:?}");
    }
}
