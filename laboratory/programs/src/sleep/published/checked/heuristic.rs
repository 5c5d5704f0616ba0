//! A poster that sees an awake, idle thread wakes no thread and relies on that thread. It also relies on a thread that
//! it wakes. If such a thread leaves for another reason than the job, the thread must wake others.

use super::super::counters::Counters;
use super::super::discipline::Sound;
use super::super::variants::{
    LazyInactive, NoInactive, NoJec, NoJecSleepers, Packed, Split, SplitSleepers, Variant,
};
use super::Pool;
use super::between::Brief;
use super::wrapped::{Altered, As};
use manycore::seam::Latch;
use manycore::seam::Sleep;
use manycore_check::{Loom, caught, loom_model, team};
use manycore_platform::{Atomic, Futex, Ordering, Platform};
use std::marker::PhantomData;

/// Thread 0 pushes a job. Thread 1 is idle and takes another job, which ends only when thread 0's job is done. Thread 2
/// looks for thread 0's job, and may sleep.
///
/// In a real program, thread 1's job is a `join`: its caller waits without looking for work, or its
/// closure blocks.
fn one_is_awake_and_busy_elsewhere<V: Variant>() {
    loom_model(Some(3), || {
        let pool = Pool::<Loom, V, Brief<Sound>>::new(3, false);
        let done = <<Loom as Platform>::Futex as Atomic<u32>>::new(0);
        let never = Latch::new();
        team::<Loom>(3, |rank| match rank {
            0 => pool.push(0),
            1 => {
                let idle = pool.policy.start_looking(1);
                pool.policy.work_found(1, idle);
                while done.load(Ordering::Acquire) == 0 {
                    done.wait(0, None);
                }
            }
            _ => {
                assert!(pool.look(2, &never));
                done.store(1, Ordering::Release);
                done.wake(1);
            }
        });
        assert_eq!(pool.policy.sleepers(), 0);
    });
    println!("  {}", V::NAME);
}

#[test]
fn who_leaves_wakes_others() {
    one_is_awake_and_busy_elsewhere::<Packed>();
    one_is_awake_and_busy_elsewhere::<Split>();
    one_is_awake_and_busy_elsewhere::<SplitSleepers>();
    one_is_awake_and_busy_elsewhere::<NoJec>();
    one_is_awake_and_busy_elsewhere::<NoJecSleepers>();
    one_is_awake_and_busy_elsewhere::<LazyInactive>();
    one_is_awake_and_busy_elsewhere::<NoInactive>();
}

#[test]
fn who_leaves_silently_is_caught_where_posters_count_on_it() {
    fn is_caught<V: Variant>() {
        let why = caught(one_is_awake_and_busy_elsewhere::<Silent<V>>);
        assert!(why.contains("deadlock"), "{}: {why}", V::NAME);
    }
    is_caught::<Packed>();
    is_caught::<Split>();
    is_caught::<NoJec>();
    is_caught::<LazyInactive>();
    // Posts that do not read the idle count rely on no idle thread.
    one_is_awake_and_busy_elsewhere::<Silent<NoJecSleepers>>();
}

/// Thread 2 pushes a job, and sets thread 0's latch. Thread 0 is the first to be woken for the job, and may
/// leave without it. Thread 1 needs the job.
fn one_is_woken_and_leaves<V: Variant>() {
    loom_model(Some(2), || {
        let pool = Pool::<Loom, V, Brief<Sound>>::new(3, false);
        let (latch, never) = (Latch::new(), Latch::new());
        team::<Loom>(3, |rank| match rank {
            0 => {
                if pool.look(0, &latch) {
                    pool.push(0); // It is for thread 1.
                }
            }
            1 => assert!(pool.look(1, &never)),
            _ => {
                pool.push(2);
                pool.set(&latch, 0);
            }
        });
    });
    println!("  {}", V::NAME);
}

#[test]
fn who_is_woken_for_a_job_and_leaves_without_it_wakes_others() {
    one_is_woken_and_leaves::<Packed>();
    one_is_woken_and_leaves::<Split>();
    one_is_woken_and_leaves::<NoJecSleepers>();
    one_is_woken_and_leaves::<NoInactive>();
    let why = caught(one_is_woken_and_leaves::<Silent<NoJecSleepers>>);
    assert!(why.contains("deadlock"), "{why}");
}

/// The variant `V`, whose threads wake no other thread when they leave.
struct Silent<V>(PhantomData<V>);

impl<V: Variant> Variant for Silent<V> {
    const NAME: &'static str = V::NAME;
    type Counters<P: Platform> = As<P, Self>;
}

impl<P: Platform, V: Variant> Altered<P> for Silent<V> {
    type Original = V::Counters<P>;

    fn leave(original: &Self::Original) -> u32 {
        original.leave();
        0
    }
}
