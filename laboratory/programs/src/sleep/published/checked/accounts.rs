//! Checks of the counters. They stay between zero and the number of workers, also if a worker is roused before it is
//! counted, and if the JEC (jobs event counter) wraps. A JEC of one bit wraps too soon and deceives a sleeper.

use super::super::counters::{Counters, OwnLine, Seen};
use super::super::discipline::{Discipline, Sound};
use super::super::one_word::{OneWord, jec};
use super::super::variants::{LazyInactive, NoJecSleepers, Packed, Split, Variant};
use super::between::{Brief, FencedPoster};
use super::wrapped::{Altered, As};
use super::{Pool, WithFault};
use manycore::seam::Latch;
use manycore_check::{Loom, TornAdd, caught, loom_model, team};
use manycore_platform::{Atomic, Ordering, Platform};
use std::marker::PhantomData;

/// Thread 0 pushes a job and sets the latches of the other threads. At most one of them finds the job.
fn jobs_and_latches<P: Platform, V: Variant, D: Discipline>(workers: usize) {
    let preemptions = if workers > 2 { Some(3) } else { None };
    loom_model(preemptions, move || {
        let pool = Pool::<P, V, Brief<D>>::new(workers, true);
        let latches: Vec<_> = (0..workers).map(|_| Latch::new()).collect();
        team::<P>(workers, |rank| {
            if rank == 0 {
                pool.push(0);
                for (owner, latch) in latches.iter().enumerate().skip(1) {
                    pool.set(latch, owner);
                }
            } else {
                pool.look(rank, &latches[rank]);
            }
        });
        let seen = pool.policy.counters.post();
        assert_eq!(seen.sleeping, 0, "somebody sleeps in the end");
        assert_eq!(pool.policy.counters.inactive(seen).unwrap_or(0), 0);
    });
    println!("  {}", V::NAME);
}

#[test]
fn counts_stay_between_none_and_all() {
    jobs_and_latches::<Loom, Watched<Packed, true>, Sound>(2);
    jobs_and_latches::<Loom, Watched<Split, false>, Sound>(2);
    jobs_and_latches::<Loom, Watched<NoJecSleepers, false>, Sound>(2);
    jobs_and_latches::<Loom, Watched<Packed, true>, Sound>(3);
    jobs_and_latches::<Loom, Watched<LazyInactive, false>, Sound>(3);
}

#[test]
fn torn_counts_are_caught() {
    caught(|| jobs_and_latches::<WithFault<TornAdd>, Watched<Packed, true>, Sound>(3));
    caught(|| jobs_and_latches::<WithFault<TornAdd>, Watched<LazyInactive, false>, Sound>(3));
}

/// More workers than any model here has.
const MANY: u32 = 4;

/// The variant `V` with assertions on its counts. `AT_ONCE` says whether it reads all counts at once.
struct Watched<V, const AT_ONCE: bool>(PhantomData<V>);

impl<V: Variant, const AT_ONCE: bool> Variant for Watched<V, AT_ONCE> {
    const NAME: &'static str = V::NAME;
    type Counters<P: Platform> = As<P, Self>;
}

impl<P: Platform, V: Variant, const AT_ONCE: bool> Altered<P> for Watched<V, AT_ONCE> {
    type Original = V::Counters<P>;

    fn leave(original: &Self::Original) -> u32 {
        let sleeping = original.leave();
        assert!(sleeping < MANY, "{sleeping} sleep");
        sleeping
    }

    fn lie_down(original: &Self::Original, announced: u32) -> bool {
        let counted = original.lie_down(announced);
        <Self as Altered<P>>::post(original);
        counted
    }

    fn get_up(original: &Self::Original) {
        original.get_up();
        <Self as Altered<P>>::post(original);
    }

    fn post(original: &Self::Original) -> Seen {
        let seen = original.post();
        let inactive = original.inactive(seen).unwrap_or(seen.sleeping);
        assert!(seen.sleeping < MANY && inactive < MANY, "{seen:?}");
        if AT_ONCE {
            assert!(seen.sleeping <= inactive, "{seen:?}");
        }
        seen
    }
}

/// One job is pushed. No latch is set, so only the job ends the sleep of the other worker.
fn one_job<V: Variant, D: Discipline>() {
    loom_model(None, || {
        let pool = Pool::<Loom, V, Brief<D>>::new(2, true);
        let never = Latch::new();
        team::<Loom>(2, |rank| match rank {
            0 => pool.push(0),
            _ => assert!(pool.look(1, &never)),
        });
    });
    println!("  {}", V::NAME);
}

#[test]
fn the_jec_may_wrap() {
    one_job::<Worn, FencedPoster>();
    one_job::<Worn, Sound>();
    jobs_and_latches::<Loom, Watched<Worn, true>, Sound>(2);
}

/// `packed-padded` after 2^32 - 1 events.
struct Worn;

impl Variant for Worn {
    const NAME: &'static str = "a JEC about to wrap";
    type Counters<P: Platform> = As<P, Self>;
}

impl<P: Platform> Altered<P> for Worn {
    type Original = OneWord<P, OwnLine>;

    fn begin(original: &Self::Original) {
        let events = u64::from(u32::MAX) << 32;
        original.word.store(events, Ordering::Relaxed);
    }
}

/// Thread 2 pushes a job and sets thread 1's latch. Thread 1 may have announced itself after the push,
/// which makes the JEC even again. Thread 0 must find the job.
fn another_announces_and_leaves<V: Variant, D: Discipline>() {
    loom_model(Some(3), || {
        let pool = Pool::<Loom, V, Brief<D>>::new(3, true);
        let (never, latch) = (Latch::new(), Latch::new());
        team::<Loom>(3, |rank| match rank {
            0 => assert!(pool.look(0, &never)),
            1 => {
                if pool.look(1, &latch) {
                    pool.push(1); // It is for thread 0.
                }
            }
            _ => {
                pool.push(2);
                pool.set(&latch, 1);
            }
        });
    });
    println!("  {}", V::NAME);
}

#[test]
fn a_jec_of_one_bit_deceives_a_sleeper_that_looks_once() {
    another_announces_and_leaves::<Packed, FencedPoster>();
    let deceived = || another_announces_and_leaves::<OneBit, FencedPoster>();
    assert!(caught(deceived).contains("deadlock"));
    another_announces_and_leaves::<OneBit, Sound>();
}

/// `packed-padded` with a JEC of one bit. It has its old value after two events instead of 2^32.
struct OneBit;

impl Variant for OneBit {
    const NAME: &'static str = "a JEC of one bit";
    type Counters<P: Platform> = As<P, Self>;
}

impl<P: Platform> Altered<P> for OneBit {
    type Original = OneWord<P, OwnLine>;

    fn lie_down(original: &Self::Original, announced: u32) -> bool {
        let now = jec(original.word.load(Ordering::SeqCst));
        now % 2 == announced % 2 && original.lie_down(now)
    }
}
