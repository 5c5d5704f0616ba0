//! Tests under loom: the protocol with which workers take ranks and let go of them, and faults that
//! loom must catch.
//!
//! In this model a rank (a thread that workers execute) is a list of steps, and the number of steps done. This number
//! stands for the rank's stack: only the rank's owner may touch it. Whatever the workers do, each step is done once, in
//! order, and all ranks end. The model does not exchange stacks, and has no signals that come at any instruction:
//! `ci/openmp.sh stress` tests both.

use super::ownership::{Polled, RankWord};
use manycore_check::{
    Deaf, Fault, Faulty, Loom, NoFence, Plain, Relaxed, TornCas, caught, loom_model, team,
};
use manycore_cores::sync::Bell;
use manycore_platform::{Atomic, AtomicInteger, Native, Ordering, Platform};
use std::cell::UnsafeCell;
use std::time::Duration;

#[derive(Clone, Copy)]
enum Step {
    /// An alarm makes the rank leave.
    Cut,
    /// The rank makes a condition true.
    Set(usize),
    /// The rank waits for a condition.
    Wait(usize),
}
use Step::{Cut, Set, Wait};

/// A number that only the rank's owner may touch.
trait Own: Sync {
    fn new() -> Self;
    fn read(&self) -> usize;
    fn write(&self, value: usize);
}

/// Loom reports two threads that touch this number at once.
type Checked = Plain<usize>;

impl Own for Checked {
    fn new() -> Self {
        Self::new(0)
    }

    fn read(&self) -> usize {
        self.read()
    }

    fn write(&self, value: usize) {
        self.write(value);
    }
}

/// Miri reports two threads that touch this number at once.
struct Bare(UnsafeCell<usize>);

// SAFETY: the protocol under test gives the number to one thread at a time.
unsafe impl Sync for Bare {}

impl Own for Bare {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn read(&self) -> usize {
        // SAFETY: the protocol under test gives the number to one thread at a time.
        unsafe { *self.0.get() }
    }

    fn write(&self, value: usize) {
        // SAFETY: the protocol under test gives the number to one thread at a time.
        unsafe { *self.0.get() = value };
    }
}

struct Member<P: Platform, C> {
    word: RankWord<P>,
    steps: &'static [Step],
    /// The number of steps done. Only the owner touches this.
    at: C,
}

struct Hall<P: Platform, C> {
    ranks: Vec<Member<P, C>>,
    conditions: [P::AtomicU32; 2],
    ended: P::AtomicU32,
    bell: Bell<P>,
    /// Whether this is the broken variant, in which a worker leaves a rank without waking the sleepers.
    silent: bool,
}

impl<P: Platform, C: Own> Hall<P, C> {
    fn new(programs: &[&'static [Step]], silent: bool) -> Self {
        let bell = Bell::new();
        let member = |&steps: &&'static [Step]| {
            let word = RankWord::running();
            word.leave(&bell);
            let at = C::new();
            Member { word, steps, at }
        };
        Self {
            ranks: programs.iter().map(member).collect(),
            conditions: [P::AtomicU32::new(0), P::AtomicU32::new(0)],
            ended: P::AtomicU32::new(0),
            bell,
            silent,
        }
    }

    fn holds(&self, condition: usize) -> bool {
        self.conditions[condition].load(Ordering::SeqCst) != 0
    }

    fn set(&self, word: &P::AtomicU32) {
        word.fetch_add(1, Ordering::SeqCst);
        P::fence_after_rmw();
        self.bell.ring_after_fence();
    }

    /// Takes a rank that can continue, like a worker.
    fn take(&self) -> Option<&Member<P, C>> {
        self.ranks.iter().find(|rank| {
            if !rank.word.claim() {
                return false;
            }
            let goes_on = match rank.steps[rank.at.read()] {
                Wait(condition) => self.holds(condition),
                _ => true,
            };
            if !goes_on {
                rank.word.put_back();
            }
            goes_on
        })
    }

    /// Executes the rank until it leaves.
    fn run(&self, rank: &Member<P, C>) {
        while let Some(step) = rank.steps.get(rank.at.read()) {
            match *step {
                Wait(condition) if !self.holds(condition) => return self.leave(rank),
                Set(condition) => self.set(&self.conditions[condition]),
                _ => {}
            }
            rank.at.write(rank.at.read() + 1);
            if rank.at.read() < rank.steps.len() && matches!(step, Cut) {
                return self.leave(rank);
            }
        }
        // The rank stays with its worker: no other worker takes it again.
        self.set(&self.ended);
    }

    fn leave(&self, rank: &Member<P, C>) {
        if self.silent {
            rank.word.put_back();
        } else {
            rank.word.leave(&self.bell);
        }
    }

    fn is_over(&self) -> bool {
        self.ended.load(Ordering::SeqCst) as usize == self.ranks.len()
    }

    fn work(&self) {
        while !self.is_over() {
            let look = || {
                self.is_over()
                    .then_some(None)
                    .or_else(|| self.take().map(Some))
            };
            let found = self
                .take()
                .map(Some)
                .or_else(|| self.bell.sleep(look, || None));
            if let Some(Some(rank)) = found {
                self.run(rank);
            }
        }
    }

    /// The whole life of a spare worker: executes one rank until the rank leaves.
    fn help(&self) {
        match self.take() {
            Some(rank) => self.run(rank),
            None if self.silent => {}
            None => self.bell.ring(),
        }
    }
}

/// One worker leaves a rank for which no bell rings, and then does nothing, as if it executed another rank for ever.
/// The other worker finds no rank meanwhile, and must not sleep.
fn without_a_bell<P: Platform>(is_blind: bool) {
    let bell = Bell::<P>::new();
    let (word, polled) = (RankWord::<P>::running(), Polled::<P>::new());
    team::<P>(2, |index| {
        if index == 0 {
            polled.set(true);
            word.leave(&bell);
        } else {
            let look = || !is_blind && polled.time() == 0;
            bell.sleep(|| look().then_some(()), || None);
        }
    });
    assert!(polled.time() == 0 && word.is_waiting());
}

/// One worker leaves a rank that sleeps until a time. The other worker finds no rank meanwhile.
/// When this worker falls asleep, it must know that time or be woken later.
fn until_a_time<P: Platform>(is_early: bool) {
    let bell = Bell::<P>::new();
    let (word, polled) = (RankWord::<P>::running(), Polled::<P>::new());
    let timeout = || (polled.time() == 7).then_some(Duration::from_millis(7));
    team::<P>(2, |index| {
        if index == 0 {
            polled.set_time(7);
            word.leave(&bell);
        } else if is_early {
            let early = timeout();
            bell.sleep(|| None::<()>, || early);
        } else {
            bell.sleep(|| None::<()>, timeout);
        }
    });
    assert!(polled.time() == 7 && word.is_waiting());
}

/// A worker leaves a rank that only worker 1 may run. Worker 1 looks for the rank. Meanwhile another worker looks at
/// the rank, after it has read an old value of `pinned`.
fn pinned<P: Platform>(is_silent: bool) {
    let bell = Bell::<P>::new();
    let (word, pinned) = (RankWord::<P>::running(), P::AtomicU32::new(0));
    let may = || pinned.load(Ordering::Relaxed) == 0;
    team::<P>(3, |index| match index {
        0 => {
            pinned.store(1, Ordering::Relaxed);
            word.leave(&bell);
        }
        1 => {
            let look = || word.take(&bell, || true, || true).then_some(());
            while look().or_else(|| bell.sleep(look, || None)).is_none() {}
        }
        _ if is_silent => {
            if word.claim() && !may() {
                word.put_back();
            }
        }
        _ => assert!(!word.take(&bell, may, || true)),
    });
    assert!(!word.is_waiting());
}

#[test]
fn a_rank_that_goes_home() {
    loom_model(Some(3), || pinned::<Loom>(false));
}

/// If a worker looks at such a rank without taking it, and wakes no other worker, then worker 1 sleeps, although it may
/// run the rank.
#[test]
fn looking_in_silence_is_caught() {
    caught(|| loom_model(Some(3), || pinned::<Loom>(true)));
}

/// Two workers execute the ranks. If `spare`, the second one executes one rank once.
fn ranks<P: Platform, C: Own>(programs: &[&'static [Step]], spare: bool, silent: bool) {
    let hall = Hall::<P, C>::new(programs, silent);
    team::<P>(2, |index| match (index, spare) {
        (1, true) => hall.help(),
        _ => hall.work(),
    });
    assert!(hall.is_over());
    for rank in &hall.ranks {
        assert_eq!(rank.at.read(), rank.steps.len());
    }
}

/// Each of two ranks waits for the other, and one is cut before that.
fn meet<P: Platform, C: Own>() {
    ranks::<P, C>(&[&[Set(0), Wait(1)], &[Cut, Wait(0), Set(1)]], false, false);
}

fn are_cut<P: Platform, C: Own>() {
    ranks::<P, C>(&[&[Cut, Cut, Set(0)], &[Wait(0), Cut]], false, false);
}

fn with_spare<P: Platform, C: Own>() {
    ranks::<P, C>(&[&[Cut, Set(0)], &[Wait(0), Cut]], true, false);
}

#[test]
fn ranks_that_meet() {
    loom_model(Some(2), meet::<Loom, Checked>);
}

#[test]
fn ranks_that_are_cut() {
    loom_model(Some(2), are_cut::<Loom, Checked>);
}

#[test]
fn a_spare_worker_helps() {
    loom_model(Some(2), with_spare::<Loom, Checked>);
}

#[test]
fn a_rank_that_waits_without_a_bell() {
    loom_model(None, || without_a_bell::<Loom>(false));
}

#[test]
fn a_rank_that_sleeps() {
    loom_model(None, || until_a_time::<Loom>(false));
}

/// A worker that reads the time before it is counted as a sleeper sleeps past that time.
#[test]
fn an_early_question_is_caught() {
    caught(|| {
        loom_model(None, || until_a_time::<Loom>(true));
    });
    caught(|| {
        loom_model(None, || until_a_time::<Faulty<Loom, NoFence>>(false));
    });
}

/// If a worker falls asleep without a look at ranks that need no ring, it sleeps until the next
/// ring.
#[test]
fn falling_asleep_blindly_is_caught() {
    caught(|| {
        loom_model(None, || without_a_bell::<Loom>(true));
    });
    caught(|| {
        loom_model(None, || without_a_bell::<Faulty<Loom, NoFence>>(false));
    });
}

/// Runs with threads of the system, for Miri, which sees each access to plain memory.
#[test]
fn natively() {
    for _ in 0..if cfg!(miri) { 3 } else { 300 } {
        meet::<Native, Bare>();
        are_cut::<Native, Bare>();
        with_spare::<Native, Bare>();
    }
}

#[test]
fn faults_are_caught() {
    fn fails<F: Fault>() {
        caught(|| {
            loom_model(Some(3), meet::<Faulty<Loom, F>, Checked>);
            loom_model(Some(3), are_cut::<Faulty<Loom, F>, Checked>);
            loom_model(Some(3), with_spare::<Faulty<Loom, F>, Checked>);
        });
    }
    fails::<Deaf>();
    fails::<NoFence>();
    fails::<Relaxed>();
    fails::<TornCas>();
}

/// If a spare worker leaves a rank, or looks at one, and wakes no other worker, the other worker sleeps for ever.
#[test]
fn leaving_in_silence_is_caught() {
    caught(|| {
        loom_model(Some(3), || {
            ranks::<Loom, Checked>(&[&[Cut, Set(0)]], true, true)
        })
    });
    caught(|| {
        loom_model(Some(3), || {
            ranks::<Loom, Checked>(&[&[Set(0)], &[Wait(0)]], true, true)
        })
    });
}
