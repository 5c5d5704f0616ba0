//! What each checker sees of weak memory, and what it does not. `README.md` draws the consequences.

use manycore_check::{
    Buffered, Faulty, Loom, NoFence, Plain, Shuttle, caught, caught_at_random, loom_model,
    shuttle_random, team,
};
use manycore_platform::{Atomic, Ordering, Platform};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

/// Store buffering: each thread raises its flag and reads the other's. If something orders store and load, at
/// least one thread sees the other's flag.
fn store_buffering<P: Platform>(access: Ordering, fence: bool) {
    let flags = [P::AtomicBool::new(false), P::AtomicBool::new(false)];
    let missed = AtomicU32::new(0);
    team::<P>(2, |rank| {
        let write = if access == Ordering::SeqCst {
            access
        } else {
            Ordering::Relaxed
        };
        flags[rank].store(true, write);
        if fence {
            P::fence(Ordering::SeqCst);
        }
        if !flags[1 - rank].load(write) {
            missed.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert!(missed.into_inner() < 2, "both missed the other");
}

/// A message and the flag that announces it.
fn message<P: Platform>(announce: Ordering, look: Ordering) {
    let (data, ready) = (P::AtomicU32::new(0), P::AtomicBool::new(false));
    team::<P>(2, |rank| {
        if rank == 0 {
            data.store(1, Ordering::Relaxed);
            ready.store(true, announce);
        } else if ready.load(look) {
            assert_eq!(data.load(Ordering::Relaxed), 1, "announced, not there");
        }
    });
}

#[test]
fn loom_sees_weak_orderings() {
    loom_model(None, || {
        message::<Loom>(Ordering::Release, Ordering::Acquire)
    });
    for (announce, look) in [
        (Ordering::Relaxed, Ordering::Acquire),
        (Ordering::Release, Ordering::Relaxed),
    ] {
        let why = caught(|| loom_model(None, move || message::<Loom>(announce, look)));
        assert!(why.contains("announced, not there"), "{why}");
    }
}

#[test]
fn loom_knows_fences() {
    loom_model(None, || store_buffering::<Loom>(Ordering::Relaxed, true));
    let why = caught(|| {
        loom_model(None, || {
            store_buffering::<Faulty<Loom, NoFence>>(Ordering::Relaxed, true);
        })
    });
    assert!(why.contains("both missed"), "{why}");
}

/// A false alarm: sequentially consistent accesses order the store before the load, but loom treats them as
/// acquire and release. So the runtime's sleep protocols use fences.
#[test]
fn loom_does_not_know_sequentially_consistent_accesses() {
    let why = caught(|| loom_model(None, || store_buffering::<Loom>(Ordering::SeqCst, false)));
    assert!(why.contains("both missed"), "{why}");
}

/// Two threads take a lock by a swap and release it by a store. If `looks_first`, they read it first.
fn lock_twice(looks_first: bool) {
    let taken = <Loom as Platform>::AtomicBool::new(false);
    let inside = Plain::new(());
    team::<Loom>(2, |_| {
        for _ in 0..2 {
            let looks_taken = looks_first && taken.load(Ordering::Relaxed);
            if !looks_taken && !taken.swap(true, Ordering::Acquire) {
                inside.write(());
                taken.store(false, Ordering::Release);
            }
        }
    });
}

/// A false alarm: no two swaps read the same store, but loom's order of stores has a gap. After a look at a
/// stale value, a second swap may read a store that another swap has replaced.
#[test]
fn loom_loses_track_of_a_lock_taken_again() {
    loom_model(None, || lock_twice(false));
    let why = caught(|| loom_model(None, || lock_twice(true)));
    assert!(why.contains("Concurrent write accesses"), "{why}");
}

/// Load buffering: each thread reads one word and then writes the other. On Arm processors both may read the
/// other's write; in loom they never do.
#[test]
fn loom_does_not_know_load_buffering() {
    let seen = Arc::new(AtomicBool::new(false));
    let shown = Arc::clone(&seen);
    loom_model(None, move || {
        let words = [
            <Loom as Platform>::AtomicU32::new(0),
            <Loom as Platform>::AtomicU32::new(0),
        ];
        let both = AtomicU32::new(0);
        team::<Loom>(2, |rank| {
            let read = words[rank].load(Ordering::Relaxed);
            words[1 - rank].store(1, Ordering::Relaxed);
            both.fetch_add(read, Ordering::Relaxed);
        });
        shown.fetch_or(both.into_inner() == 2, Ordering::Relaxed);
    });
    assert!(
        !seen.load(Ordering::Relaxed),
        "loom has learned it: say so in README.md"
    );
}

/// Shuttle runs one step at a time: it accepts programs that only have wrong orderings.
#[test]
fn shuttle_knows_no_weak_orderings() {
    shuttle_random(500, || {
        message::<Shuttle>(Ordering::Relaxed, Ordering::Relaxed)
    });
    shuttle_random(500, || store_buffering::<Shuttle>(Ordering::Relaxed, false));
}

#[test]
fn stores_in_buffers_are_seen_late_and_in_their_order() {
    let why = caught_at_random(|| store_buffering::<Buffered>(Ordering::Relaxed, false));
    assert!(why.contains("both missed the other"), "{why}");
    shuttle_random(2_000, || {
        store_buffering::<Buffered>(Ordering::Relaxed, true);
        store_buffering::<Buffered>(Ordering::SeqCst, false);
        // This checker does not model weaker orderings.
        message::<Buffered>(Ordering::Relaxed, Ordering::Relaxed);
    });
}
