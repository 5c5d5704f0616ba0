//! Tests of the layout, of the modes' arithmetic, and of sleeping workers on this machine.

use super::discipline::Discipline;
use super::variants::Variant;
use super::*;
use crate::sleep::Mode;
use crate::sleep::{policies, policy as named};
use manycore::seam::{Idle, Latch, Policy, Scan, Seen, Setup, Sleep, Tally};
use manycore_platform::{Native, Platform};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn policy<V: Variant, M: Discipline>(workers: usize) -> Published<Native, V, M> {
    Published::new(&Setup {
        clusters: &vec![0; workers],
        idle: &Arc::new(Idle::new(Duration::ZERO, None, 1)),
    })
}

/// The line of 64 bytes that `word` is on.
fn line<T>(word: &T) -> usize {
    (&raw const *word).addr() / 64
}

/// The lines of the words of a split policy, after the policy's own line.
fn lines<V>() -> [usize; 4]
where
    V: Variant<Counters<Native> = three_words::ThreeWords<Native, V>> + three_words::Shape,
{
    let policy = policy::<V, Sound>(2);
    let words = &policy.counters;
    [
        line(&policy),
        line(&*words.jec),
        line(&*words.inactive),
        line(&*words.sleeping),
    ]
}

#[test]
fn unpadded_words_share_the_policys_one_line() {
    fn share<V>()
    where
        V: Variant<Counters<Native> = three_words::ThreeWords<Native, V>> + three_words::Shape,
    {
        let [first, others @ ..] = lines::<V>();
        assert_eq!(others, [first; 3], "{}", V::NAME);
        assert_eq!(size_of::<Published<Native, V, Sound>>(), 64);
    }
    share::<Split>();
    share::<SplitSleepers>();
    share::<NoJec>();
    share::<NoJecSleepers>();
    let packed = policy::<Packed, Sound>(2);
    assert_eq!(line(&packed), line(&*packed.counters.word));
    assert_eq!(size_of_val(&packed), 64);
}

#[test]
fn padded_words_share_no_line() {
    fn apart<V>()
    where
        V: Variant<Counters<Native> = three_words::ThreeWords<Native, V>> + three_words::Shape,
    {
        assert_eq!(BTreeSet::from(lines::<V>()).len(), 4, "{}", V::NAME);
    }
    apart::<SplitPadded>();
    apart::<SplitSleepersPadded>();
    apart::<NoJecPadded>();
    apart::<NoJecSleepersPadded>();
    apart::<LazyInactive>();
    apart::<NoInactive>();
    let packed = policy::<PackedPadded, Sound>(2);
    assert_ne!(line(&packed), line(&*packed.counters.word));
}

#[test]
fn more_asleep_than_inactive_means_four_billion_awake_as_published_only() {
    assert_eq!(AsPublished::awake(3, 2), 1);
    assert_eq!(AsPublished::awake(1, 2), u32::MAX);
    assert_eq!(Sound::awake(3, 2), 1);
    assert_eq!(Sound::awake(1, 2), 0);
}

#[test]
fn every_policy_has_a_name_and_a_maker_of_its_own() {
    let all = policies();
    assert_eq!(
        BTreeSet::from_iter(all.iter().map(|(name, mode)| (*name, mode.to_string()))).len(),
        25
    );
    let makers = all.iter().map(|&(name, mode)| {
        named::<Native>(name, mode)
            .unwrap()
            .map(|make| make as usize)
    });
    assert_eq!(BTreeSet::from_iter(makers).len(), 25);
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let error = named::<Native>("pack", Mode::Sound).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("no sleep policy of mode sound is called `pack`"));
    assert!(text.contains("nojec-sleepers-padded") && text.contains("no-inactive"));
}

/// A job that any worker may see.
struct OneJob(AtomicBool);

impl Scan for OneJob {
    fn injected(&self) -> bool {
        false
    }

    fn anything(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    fn seen(&self) -> Seen {
        Seen::default()
    }

    fn is_free(&self) -> bool {
        true
    }
}

/// Runs a worker until it sees `job`, or until its latch is set. Calls `then` once the worker sleeps.
fn asleep<M: Discipline>(
    policy: &Published<Native, NoJec, M>,
    job: &OneJob,
    latch: &Latch<Native>,
    then: impl FnOnce(),
) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut looking = policy.start_looking(0);
            while !latch.is_set() && !job.anything() {
                policy.no_work_found(0, &mut looking, latch, job);
            }
            policy.work_found(0, looking);
        });
        while policy.tally().sleeps == 0 {
            Native::yield_now();
        }
        then();
    });
    assert_eq!(policy.sleepers(), 0);
}

#[test]
fn the_watchdog_recovers_forgotten_workers() {
    let policy = policy::<NoJec, AsPublished>(1);
    let job = OneJob(AtomicBool::new(false));
    asleep(&policy, &job, &Latch::new(), || {
        // No thread is woken.
        job.0.store(true, Ordering::SeqCst);
    });
    let tally = policy.tally();
    assert_eq!((tally.sleeps, tally.wakeups, tally.recovered), (1, 0, 1));
}

#[test]
fn a_post_wakes_a_sleeper() {
    let policy = policy::<NoJec, Sound>(1);
    let job = OneJob(AtomicBool::new(false));
    asleep(&policy, &job, &Latch::new(), || {
        job.0.store(true, Ordering::SeqCst);
        policy.posted(0, true);
    });
    let tally = policy.tally();
    assert_eq!((tally.sleeps, tally.wakeups, tally.recovered), (1, 1, 0));
}

#[test]
fn a_latch_wakes_its_owner() {
    let policy = policy::<NoJec, Sound>(1);
    let latch = Latch::new();
    asleep(&policy, &OneJob(AtomicBool::new(false)), &latch, || {
        if latch.set() {
            policy.notify(0);
        }
    });
    let tally = policy.tally();
    assert_eq!((tally.sleeps, tally.wakeups), (1, 1));
}

/// The step by which the moment of worker 0's push changes, in spins. The latest moment is about 50 us.
const STEP: u32 = 16;
const LATEST: u32 = 1 << 12;

/// Worker 1 looks for the jobs that worker 0 pushes. Worker 0 never looks for them. Without a watchdog one lost wake-up
/// hangs the test.
///
/// Worker 0 aims at the moment in which worker 1 falls asleep. If worker 1 already slept, the next push is
/// earlier, otherwise later.
fn push(policy: &Policy<Native>, pushes: u32) -> Tally {
    let job = OneJob(AtomicBool::new(false));
    let never = Latch::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..pushes {
                let mut looking = policy.start_looking(1);
                while !job.0.swap(false, Ordering::Acquire) {
                    policy.no_work_found(1, &mut looking, &never, &job);
                }
                let _ = policy.work_found(1, looking);
            }
        });
        let mut moment = 0_u32;
        for round in 0..pushes {
            (0..moment + round % (4 * STEP)).for_each(|_| Native::relax());
            // Every 64th round waits until worker 1 sleeps, on any machine.
            while round % 64 == 0 && policy.sleepers() == 0 {
                Native::yield_now();
            }
            moment = match policy.sleepers() {
                0 => (moment + STEP).min(LATEST),
                _ => moment.saturating_sub(STEP),
            };
            job.0.store(true, Ordering::Release);
            let _ = policy.posted_by(|| 0, true);
            while job.0.load(Ordering::Relaxed) {
                Native::yield_now();
            }
        }
    });
    assert_eq!(policy.sleepers(), 0);
    policy.tally()
}

#[test]
fn no_job_is_forgotten_for_good_on_this_machine() {
    let pushes = 1_000;
    for (name, mode) in policies() {
        let setup = Setup {
            clusters: &[0; 2],
            idle: &Arc::new(Idle::new(Duration::ZERO, None, 1)),
        };
        let tally = push(&Policy::new(&setup, named(name, mode).unwrap()), pushes);
        assert!(tally.wakeups + tally.recovered > 0, "{name}, {mode}");
        assert!(mode == Mode::AsPublished || tally.recovered == 0);
    }
}
