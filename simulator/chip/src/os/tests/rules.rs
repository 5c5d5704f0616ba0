//! Tests each rule alone.

use super::super::scheduler::Picked;
use super::super::*;
use super::{linux, only};
use crate::core_set::CoreSet;

/// A scheduler with `threads` threads, spawned from core 0 and running or queued.
fn busy(cores: u32, group_cores: u32, threads: u32) -> Scheduler {
    let mut os = Scheduler::new(&linux(), cores, group_cores);
    for thread in 0..threads {
        let placed = os.spawn(thread, CoreSet::below(cores), 0);
        if placed.idle {
            assert_eq!(
                os.pick(0, placed.core),
                Some(Picked {
                    thread,
                    migrated: false
                })
            );
        }
    }
    os
}

#[test]
fn spawn_takes_the_group_with_most_idle_cores() {
    let os = busy(8, 4, 5);
    // The first thread goes to core 0. Then group 1 has more idle cores. After that, the groups take turns. The
    // parent's group comes first when both groups have equally many idle cores.
    let running: Vec<_> = (0..8).map(|core| os.running(core)).collect();
    let expected = [
        Some(0),
        Some(2),
        Some(4),
        None,
        Some(1),
        Some(3),
        None,
        None,
    ];
    assert_eq!(running, expected);
}

#[test]
fn spawn_without_idle_cores_takes_the_least_loaded() {
    let mut os = busy(4, 4, 5);
    assert_eq!(os.runnable(0), 2);
    let placed = os.spawn(5, CoreSet::below(4), 0);
    assert_eq!(
        placed,
        Placement {
            core: 1,
            idle: false,
            preempts: false
        }
    );
    assert_eq!(os.spawn(6, only(0), 3).core, 0);
}

#[test]
fn wake_prefers_its_core_then_its_group_and_never_another_group() {
    let mut os = busy(8, 4, 8);
    for core in [1, 2, 6] {
        os.block(10, core);
        assert_eq!(os.pick(10, core), None);
    }
    // Cores 1 and 2 of group 0 and core 6 of group 1 are idle.
    let threads = |os: &Scheduler, core: usize| {
        (0..8)
            .find(|&t| os.threads[t as usize].core == core as u32)
            .unwrap()
    };
    let (one, two, six) = (threads(&os, 1), threads(&os, 2), threads(&os, 6));
    assert_eq!(
        os.wake(two, 0),
        Placement {
            core: 2,
            idle: true,
            preempts: false
        }
    );
    assert!(!os.is_idle(2) && os.idle_since(2) == Some(10));
    os.pick(20, 2);
    assert_eq!(os.idle_since(2), None);
    os.block(20, 0);
    os.pick(20, 0);
    os.wake(one, 3);
    os.pick(20, 1);
    os.block(30, 1);
    let zero = threads(&os, 0);
    os.wake(zero, 3);
    os.pick(30, 0);
    // Core 1 is about to pick a thread, so it is not idle, and no core of group 0 is idle.
    let placed = os.wake(one, 3);
    assert_eq!((placed.core, placed.idle), (1, false));
    assert_eq!(os.wake(six, 0).core, 6);
}

#[test]
fn wake_follows_a_less_loaded_waker_to_its_group() {
    let mut os = busy(4, 2, 4);
    let sleeper = os.running(0).unwrap();
    os.block(0, 0);
    os.spawn(4, only(0), 0);
    os.spawn(5, only(0), 0);
    os.pick(0, 0);
    let waker = 2;
    os.block(0, 3);
    os.pick(0, 3);
    // The sleeper's core has two threads, the waker's core has one, and core 3 is idle.
    assert_eq!(
        os.wake(sleeper, waker),
        Placement {
            core: 3,
            idle: true,
            preempts: false
        }
    );
}

#[test]
fn a_sleeper_preempts_but_gains_no_more_than_half_a_latency() {
    let mut os = Scheduler::new(&linux(), 1, 1);
    os.spawn(0, only(0), 0);
    os.pick(0, 0);
    os.block(0, 0);
    os.spawn(1, only(0), 0);
    os.pick(0, 0);
    os.ran(0, 1_000_000);
    assert!(os.wake(0, 0).preempts);
    let behind = os.threads[1].vruntime - os.threads[0].vruntime;
    assert_eq!(behind, 12_000);
    os.requeue(1_000_000, 0);
    assert_eq!(os.pick(1_000_000, 0).unwrap().thread, 0);
    // A thread that slept only briefly keeps its vruntime, so it does not preempt.
    os.ran(0, 12_000);
    os.block(1_012_000, 0);
    os.pick(1_012_000, 0);
    os.ran(0, 4_000);
    assert!(!os.wake(0, 0).preempts);
}

#[test]
fn a_slice_is_latency_over_runnable_but_not_too_short() {
    let mut os = busy(1, 1, 2);
    for used in [4_000, 8_000, 12_000] {
        assert!(!os.tick(0), "after {used}");
        os.ran(0, 4_000);
    }
    // The second thread started a slice later, so this thread is not ahead of it.
    assert!(!os.tick(0));
    os.ran(0, 12_000);
    assert!(os.tick(0));
    let mut os = busy(1, 1, 20);
    // The last thread started 3 ms behind, which is a slice.
    os.ran(0, 2_999);
    assert!(!os.tick(0));
    os.ran(0, 2);
    assert!(os.tick(0));
}

#[test]
fn yield_lets_the_next_run_unless_it_is_far_ahead() {
    let mut os = busy(1, 1, 2);
    let ahead = os.threads[1].vruntime - os.threads[0].vruntime;
    os.ran(0, ahead as u64 - 4_001);
    os.yield_now(0, 0);
    assert_eq!(os.pick(0, 0).unwrap().thread, 0);
    os.ran(0, 1);
    os.yield_now(0, 0);
    assert_eq!(os.pick(0, 0).unwrap().thread, 1);
    // Thread 0 kept its vruntime and is skipped only once.
    os.requeue(0, 0);
    assert_eq!(os.pick(0, 0).unwrap().thread, 0);
}

#[test]
fn an_idle_core_pulls_at_once_and_first_from_its_group() {
    let mut os = busy(4, 2, 4);
    os.spawn(4, only(2), 0);
    os.spawn(5, CoreSet::below(4), 3);
    os.spawn(6, CoreSet::below(4), 1);
    let waiting: Vec<_> = (0..4).map(|core| os.runnable(core)).collect();
    assert_eq!(waiting, [2, 1, 2, 2]);
    os.exit(50_000, 1);
    assert_eq!(
        os.pick(50_000, 1),
        Some(Picked {
            thread: 6,
            migrated: false
        })
    );
    assert_eq!(os.runnable(0), 1);
    // No other thread of the group waits any more, and thread 4 may not leave core 2.
    os.exit(50_000, 1);
    assert_eq!(os.pick(50_000, 1).map(|picked| picked.thread), Some(5));
    os.exit(50_000, 1);
    assert_eq!(os.pick(50_000, 1), None);
    assert!(os.is_idle(1) && os.idle_since(1) == Some(50_000));
}

#[test]
fn hot_threads_and_restless_cores_do_not_pull() {
    let mut os = busy(2, 2, 3);
    os.ran(0, 20_000);
    os.requeue(1_000, 0);
    os.pick(1_000, 0);
    os.block(1_400, 1);
    // A thread of core 0 ran until 400 us ago.
    assert_eq!(os.pick(1_400, 1), None);
    let due = os.next_balance(1_400, 1);
    assert_eq!(due, 3_000);
    assert_eq!(os.balance(1_400, due, 1).map(|pulled| pulled.from), Some(0));

    let mut os = busy(2, 2, 2);
    let sleeper = os.running(1).unwrap();
    let mut now = 0;
    for _ in 0..20 {
        os.block(now, 1);
        assert_eq!(os.pick(now, 1), None);
        now += 100;
        os.wake(sleeper, 0);
        os.pick(now, 1);
    }
    os.spawn(2, CoreSet::below(2), 0);
    assert_eq!(os.runnable(0), 2);
    os.block(now, 1);
    assert_eq!(os.pick(now, 1), None);
}

#[test]
fn a_difference_of_two_threads_is_evened_at_once_and_of_one_after_failures() {
    let mut os = Scheduler::new(&linux(), 2, 2);
    for thread in 0..4 {
        os.spawn(thread, only(u32::from(thread == 3)), 0);
    }
    os.pick(0, 0);
    os.pick(0, 1);
    for thread in 0..3 {
        os.set_affinity(0, thread, CoreSet::below(2));
    }
    assert_eq!((os.runnable(0), os.runnable(1)), (3, 1));
    assert_eq!(os.balance(0, 16_000, 0), None);
    let pulled = os.balance(0, 32_000, 1).unwrap();
    assert_eq!((pulled.from, pulled.to.core, pulled.to.idle), (0, 1, false));
    assert_eq!(os.balance(32_000, 64_000, 1), None);

    // The queues have 2 threads and 1 thread. Half a thread is in excess, so one failure is enough.
    os.exit(64_000, 1);
    os.pick(64_000, 1);
    assert_eq!((os.runnable(0), os.runnable(1)), (2, 1));
    assert_eq!(os.balance(64_000, 96_000, 1), None);
    assert!(os.balance(96_000, 128_000, 1).is_some());
    assert_eq!((os.runnable(0), os.runnable(1)), (1, 2));
}

#[test]
fn affinity_moves_running_and_waiting_threads() {
    let mut os = busy(4, 4, 4);
    os.spawn(4, only(0), 0);
    os.block(10, 2);
    os.pick(10, 2);
    let running = os.running(0).unwrap();
    assert_eq!(os.set_affinity(20, running, CoreSet::below(3)), None);
    let moved = os
        .set_affinity(20, running, CoreSet::from_iter([2, 3]))
        .unwrap();
    // Core 2 pulled no thread, since thread 4 is pinned, so it is idle.
    assert_eq!((moved.from, moved.was_running), (0, true));
    assert_eq!(
        moved.to,
        Placement {
            core: 2,
            idle: true,
            preempts: false
        }
    );
    assert_eq!(
        os.pick(20, 2),
        Some(Picked {
            thread: running,
            migrated: true
        })
    );
    let moved = os.set_affinity(20, 4, only(3)).unwrap();
    assert_eq!(
        (moved.from, moved.was_running, moved.to.core),
        (0, false, 3)
    );
    assert_eq!(os.pick(20, 0), None);
}
