//! The protocol of the words under loom, and the faults that it must catch.
//!
//! A rank here is a list of steps and its progress. The progress is its stack: memory that only the
//! rank's worker may touch. Whatever the workers do, each step is done once, in order, and
//! everything ends. This cannot show the exchange of stacks itself, and that a signal may come at
//! any instruction: `ci/openmp.sh stress` tests these.

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
    /// The rank is made to leave.
    Cut,
    /// It makes a condition true.
    Set(usize),
    /// It waits for one.
    Wait(usize),
}
use Step::{Cut, Set, Wait};

/// A number that only the rank's worker may touch.
trait Own: Sync {
    fn new() -> Self;
    fn read(&self) -> usize;
    fn write(&self, value: usize);
}

/// Loom finds two threads there.
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

/// So does Miri here.
struct Bare(UnsafeCell<usize>);

// SAFETY: the protocol, which is what is tested, gives it to one thread at a time.
unsafe impl Sync for Bare {}

impl Own for Bare {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn read(&self) -> usize {
        // SAFETY: the protocol, which is what is tested, gives it to one thread at a time.
        unsafe { *self.0.get() }
    }

    fn write(&self, value: usize) {
        // SAFETY: the protocol, which is what is tested, gives it to one thread at a time.
        unsafe { *self.0.get() = value };
    }
}

struct Member<P: Platform, C> {
    word: RankWord<P>,
    steps: &'static [Step],
    /// How many are done; its owner's.
    at: C,
}

struct Hall<P: Platform, C> {
    ranks: Vec<Member<P, C>>,
    conditions: [P::AtomicU32; 2],
    ended: P::AtomicU32,
    bell: Bell<P>,
    /// A worker leaves a rank without waking the sleepers: the broken variant.
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

    /// As a worker does.
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
        // It stays with its worker: no other takes it any more.
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

    /// As a spare worker does: one rank, until it leaves.
    fn help(&self) {
        match self.take() {
            Some(rank) => self.run(rank),
            None if self.silent => {}
            None => self.bell.ring(),
        }
    }
}

/// One worker leaves a rank that waits without a bell, and then executes another for ever, as it were;
/// the other worker finds nothing meanwhile. It must not sleep.
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

/// One worker leaves a rank that sleeps until a time; the second worker finds nothing meanwhile. It must know the time
/// when it falls asleep, or be woken.
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

/// A rank that only one worker may run is left; that worker looks for it, and another worker looks at it meanwhile,
/// by what it has read before.
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

/// A worker that looks at such a rank in vain, and wakes no other, keeps it from the worker that
/// may run it.
#[test]
fn looking_in_silence_is_caught() {
    caught(|| loom_model(Some(3), || pinned::<Loom>(true)));
}

/// Two workers, and if there is a `spare` a third one that runs a rank once.
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

/// One rank waits for the other, which is cut before.
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

/// A worker that has asked for the time before it was among the idle ones sleeps past it.
#[test]
fn an_early_question_is_caught() {
    caught(|| {
        loom_model(None, || until_a_time::<Loom>(true));
    });
    caught(|| {
        loom_model(None, || until_a_time::<Faulty<Loom, NoFence>>(false));
    });
}

/// A worker that falls asleep without a look at such ranks sleeps until another bell.
#[test]
fn falling_asleep_blindly_is_caught() {
    caught(|| {
        loom_model(None, || without_a_bell::<Loom>(true));
    });
    caught(|| {
        loom_model(None, || without_a_bell::<Faulty<Loom, NoFence>>(false));
    });
}

/// With threads of the system's: for Miri, which sees every access to plain memory.
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

/// A spare worker that leaves a rank, or looks at one, and wakes no other: the other one sleeps for
/// ever.
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
