//! The bell under loom: no wake-up is lost, and each step of the argument is needed.

use crate::channel::bell::{Bell, wait_for};
use crate::channel::sender_count::{HANDLE, PORT, SenderCount};
use manycore_check::{Deaf, Faulty, Loom, NoFence, NoHeavyFence, caught, loom_model, team};
use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform};

/// The operations that the check needs, of a sound or a broken bell.
trait Rings: Sync {
    fn ring(&self);
    fn wait(&self, look: impl FnMut() -> Option<()>);
}

impl<P: Platform> Rings for Bell<P> {
    fn ring(&self) {
        self.ring();
    }

    fn wait(&self, look: impl FnMut() -> Option<()>) {
        wait_for(self, look);
    }
}

/// Each ringer publishes one piece of news, and each sleeper waits for all the news. Loom reports a
/// sleeper that never wakes up.
fn news_arrive<R: Rings>(bell: R, ringers: usize, sleepers: usize) {
    let news = <Loom as Platform>::AtomicU32::new(0);
    team::<Loom>(ringers + sleepers, |rank| {
        if rank < ringers {
            // Relaxed: the bell orders this addition.
            news.fetch_add(1, Ordering::Relaxed);
            bell.ring();
        } else {
            bell.wait(|| (news.load(Ordering::Relaxed) as usize == ringers).then_some(()));
        }
    });
}

#[test]
fn one_ringer_wakes_one_sleeper() {
    loom_model(None, || news_arrive(Bell::<Loom>::new(), 1, 1));
}

#[test]
fn two_ringers_wake_one_sleeper() {
    loom_model(Some(3), || news_arrive(Bell::<Loom>::new(), 2, 1));
}

#[test]
fn one_ringer_wakes_two_sleepers() {
    loom_model(Some(3), || news_arrive(Bell::<Loom>::new(), 1, 2));
}

#[test]
fn each_fault_of_the_platform_is_caught() {
    fn check<P: Platform>() -> String {
        caught(|| loom_model(None, || news_arrive(Bell::<P>::new(), 1, 1)))
    }
    for why in [
        check::<Faulty<Loom, NoFence>>(),
        check::<Faulty<Loom, NoHeavyFence>>(),
        check::<Faulty<Loom, Deaf>>(),
    ] {
        assert!(why.contains("deadlock"), "{why}");
    }
}

/// A step of the argument that a [`Sketch`] leaves out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    /// The sleeper does not look again before it sleeps.
    LooksNoMore,
    /// The sleeper looks before it makes the word odd, and not afterwards.
    LooksTooEarly,
    /// The ringer leaves the word as it is.
    DoesNotChangeTheWord,
    /// The ringer makes the word even again without counting.
    DoesNotCount,
}

/// A copy of the bell that can make one mistake.
struct Sketch {
    word: <Loom as Platform>::Futex,
    mistake: Option<Mistake>,
}

impl Sketch {
    fn with(mistake: Option<Mistake>) -> Self {
        let word = Atomic::new(0);
        Self { word, mistake }
    }
}

impl Rings for Sketch {
    fn ring(&self) {
        Loom::light_fence();
        let word = self.word.load(Ordering::Relaxed);
        if word & 1 == 0 {
            return;
        }
        let to = match self.mistake {
            Some(Mistake::DoesNotChangeTheWord) => word,
            Some(Mistake::DoesNotCount) => word - 1,
            _ => word + 1,
        };
        let swap = (self.word).compare_exchange(word, to, Ordering::Relaxed, Ordering::Relaxed);
        if swap.is_ok() {
            self.word.wake(u32::MAX);
        }
    }

    fn wait(&self, mut look: impl FnMut() -> Option<()>) {
        while look().is_none() {
            if self.mistake == Some(Mistake::LooksTooEarly) && look().is_some() {
                return;
            }
            let left = self.word.fetch_or(1, Ordering::Relaxed) | 1;
            Loom::heavy_fence();
            let looks = !matches!(
                self.mistake,
                Some(Mistake::LooksNoMore | Mistake::LooksTooEarly)
            );
            if looks && look().is_some() {
                return;
            }
            self.word.wait(left, None);
        }
    }
}

#[test]
fn each_step_left_out_is_caught() {
    let check = |mistake| {
        // The count matters only if a second thread goes to sleep between the ring and the sleep.
        let sleepers = if mistake == Some(Mistake::DoesNotCount) {
            2
        } else {
            1
        };
        let bound = (sleepers > 1).then_some(4);
        loom_model(bound, move || {
            news_arrive(Sketch::with(mistake), 1, sleepers);
        })
    };
    check(None);
    for mistake in [
        Mistake::LooksNoMore,
        Mistake::LooksTooEarly,
        Mistake::DoesNotChangeTheWord,
        Mistake::DoesNotCount,
    ] {
        let why = caught(|| check(Some(mistake)));
        assert!(why.contains("deadlock"), "{mistake:?}: {why}");
    }
}

/// How a channel ends, soundly or wrongly.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Sound,
    /// The receiver looks for a message before it looks whether the channel is closed.
    LooksLate,
    /// The last port rings before it is counted as gone.
    RingsEarly,
    /// No thread rings.
    Silent,
}

/// A sender sends a word and leaves. The receiver takes the word and then learns that the channel
/// ended.
fn the_end_comes(ending: Ending) {
    let (bell, ends) = (Bell::<Loom>::new(), SenderCount::<Loom>::with_handle());
    ends.add(PORT);
    ends.add(PORT);
    assert!(!ends.leave(HANDLE));
    let word = <Loom as Platform>::AtomicU32::new(0);
    team::<Loom>(2, |rank| {
        if rank == 0 {
            word.store(1, Ordering::Relaxed);
            if ending == Ending::RingsEarly {
                bell.ring();
            }
            if ends.leave(PORT) && ending != Ending::Silent && ending != Ending::RingsEarly {
                bell.ring();
            }
        } else {
            wait_for(&bell, || {
                let early = ending == Ending::LooksLate && word.load(Ordering::Relaxed) == 1;
                let is_closed = ends.is_closed();
                let found = match ending {
                    Ending::LooksLate => early,
                    _ => word.load(Ordering::Relaxed) == 1,
                };
                assert!(
                    found || !is_closed,
                    "the receiver overlooks a message of a closed channel"
                );
                is_closed.then_some(())
            });
        }
    });
}

#[test]
fn the_end_comes_after_the_last_message() {
    loom_model(None, || the_end_comes(Ending::Sound));
}

#[test]
fn each_wrong_ending_is_caught() {
    let check = |ending| caught(move || loom_model(None, move || the_end_comes(ending)));
    assert!(check(Ending::LooksLate).contains("overlooks"));
    assert!(check(Ending::RingsEarly).contains("deadlock"));
    assert!(check(Ending::Silent).contains("deadlock"));
}
