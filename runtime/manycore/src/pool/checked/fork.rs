//! Fork-join under shuttle: whole pools, from the builder to the last join. A lost job, or an endless wait,
//! is a deadlock, which shuttle reports.

use super::whole::{Meeting, check, pool, until_asleep};
use crate::pool::search::Found;
use crate::pool::{Pool, Scope};
use manycore_check::{Faulty, Fenced, Shuttle, shuttle_random, team};
use manycore_platform::Platform;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A platform that refuses asymmetric fences.
pub(super) type FencedShuttle = Faulty<Shuttle, Fenced>;

/// A count for the test. It uses the standard library's atomic, so counting is no step of the model.
#[derive(Clone, Default)]
pub(super) struct Count(Arc<AtomicU32>);

impl Count {
    pub(super) fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Forks a tree of joins. Each leaf (a call with depth 0) runs once, on any thread, and before its join returns.
fn tree<P: Platform>(pool: &Pool<P>, depth: u32, leaves: &Count) {
    if depth == 0 {
        return leaves.up();
    }
    let before = leaves.get();
    pool.join(
        || tree(pool, depth - 1, leaves),
        || tree(pool, depth - 1, leaves),
    );
    assert!(
        leaves.get() >= before + (1 << depth),
        "a leaf after its join"
    );
}

/// A join with a second closure that another thread (asleep or awake) must take.
pub(super) fn stolen<P: Platform>(
    pool: &Pool<P>,
    a: impl FnOnce() + Send,
    b: impl FnOnce() + Send,
) {
    let both = Meeting::<P>::of(2);
    pool.join(
        || {
            both.attend();
            a();
        },
        || {
            both.attend();
            b();
        },
    );
}

/// Takes some steps, so that the next action comes at any time.
pub(super) fn dawdle<P: Platform>() {
    for _ in 0..P::now() % 101 {
        P::yield_now();
    }
}

fn trees<P: Platform>(threads: usize) {
    let (pool, leaves) = (pool::<P>(threads), Count::default());
    tree(&pool, 3, &leaves);
    pool.install(|| tree(&pool, 2, &leaves));
    assert_eq!(leaves.get(), 12);
}

#[test]
fn trees_of_joins() {
    shuttle_random(100, || trees::<Shuttle>(1));
    for threads in [2, 3] {
        check(300, move || trees::<Shuttle>(threads));
        check(100, move || trees::<FencedShuttle>(threads));
    }
}

/// The thief has slept, or was about to lie down. The owner waits, awake or asleep.
fn hand_over<P: Platform>() {
    let (pool, done) = (pool::<P>(2), Count::default());
    for asleep in [false, true] {
        if asleep {
            until_asleep(&pool, 1);
        }
        stolen(
            &pool,
            || done.up(),
            || {
                dawdle::<P>();
                done.up();
            },
        );
        dawdle::<P>();
    }
    assert_eq!(done.get(), 4);
}

#[test]
fn a_stolen_closure_is_awaited() {
    check(700, hand_over::<Shuttle>);
    check(200, hand_over::<FencedShuttle>);
}

/// The owner sleeps until its thief forks, and then helps the thief.
fn helps_its_thief<P: Platform>() {
    let pool = pool::<P>(2);
    stolen(
        &pool,
        || (),
        || {
            until_asleep(&pool, 1);
            stolen(&pool, || (), || ());
        },
    );
}

#[test]
fn an_owner_asleep_helps_its_thief() {
    check(500, helps_its_thief::<Shuttle>);
    check(200, helps_its_thief::<FencedShuttle>);
}

/// A worker claims a job that it must not run, gives the job back, and leaves the pool. Then only the owner is left,
/// which waits for this job and takes only descendants of it.
fn gives_back<P: Platform>() {
    let (pool, leaves) = (Arc::new(pool::<P>(2)), Count::default());
    let (inside, counted) = (Arc::clone(&pool), leaves.clone());
    let given = Arc::new(Meeting::<P>::of(2));
    let held = Arc::clone(&given);
    let registry = &pool.registry;
    registry.enter(|worker, _| {
        registry.spawn(move || {
            let (a, b) = (|| held.attend(), || tree(&inside, 1, &counted));
            inside.join(a, b);
        });
        let stack = registry.worker(1).stack();
        let claim = loop {
            // The thief asks. The stack's owner is in a long job, and does not answer.
            stack.request();
            let me = worker.as_thief();
            match stack.steal(0, me).or_else(|| stack.raise(0, me)) {
                Some(claim) => break claim,
                None => P::yield_now(),
            }
        };
        given.attend();
        worker.hand_over(Found::Stolen { victim: 1, claim });
    });
    // Any thread may be the last owner of the pool. The model ends when all threads have ended.
}

#[test]
fn a_job_given_back_is_run() {
    check(700, gives_back::<Shuttle>);
    check(200, gives_back::<FencedShuttle>);
}

fn spawn_into<'scope, P: Platform>(scope: &Scope<'scope, P>, depth: u32, leaves: &'scope Count) {
    if depth == 0 {
        return leaves.up();
    }
    for _ in 0..2 {
        scope.spawn(move |scope| spawn_into(scope, depth - 1, leaves));
    }
}

fn scopes<P: Platform>(threads: usize) {
    let (pool, leaves) = (pool::<P>(threads), Count::default());
    pool.scope(|scope| spawn_into(scope, 2, &leaves));
    pool.in_place_scope(|scope| spawn_into(scope, 1, &leaves));
    pool.scope_fifo(|scope| {
        for _ in 0..2 {
            scope.spawn_fifo(|scope| {
                scope.spawn_fifo(|_| leaves.up());
                pool.scope(|scope| scope.spawn(|_| leaves.up()));
            });
        }
    });
    assert_eq!(leaves.get(), 4 + 2 + 4);
}

#[test]
fn jobs_of_scopes() {
    shuttle_random(100, || scopes::<Shuttle>(1));
    for threads in [2, 3] {
        check(300, move || scopes::<Shuttle>(threads));
        check(100, move || scopes::<FencedShuttle>(threads));
    }
}

/// Threads from outside open scopes, while another such thread is worker 0.
fn scopes_from_outside<P: Platform>() {
    let (pool, leaves) = (pool::<P>(2), Count::default());
    team::<P>(3, |_| {
        pool.in_place_scope(|scope| spawn_into(scope, 1, &leaves));
        pool.scope(|scope| spawn_into(scope, 1, &leaves));
    });
    assert_eq!(leaves.get(), 12);
}

#[test]
fn scopes_of_three_external_threads() {
    check(500, scopes_from_outside::<Shuttle>);
    check(100, scopes_from_outside::<FencedShuttle>);
}

/// Detached jobs, and the jobs that they spawn, have ended when the pool has ended.
fn spawns<P: Platform>(threads: usize) {
    let (pool, ran) = (pool::<P>(threads), Count::default());
    let job = |ran: &Count| {
        let ran = ran.clone();
        move || ran.up()
    };
    pool.spawn(job(&ran));
    let registry = Arc::clone(&pool.registry);
    let (one, two) = (job(&ran), job(&ran));
    pool.spawn_fifo(move || {
        registry.spawn(one);
        registry.spawn_fifo(two);
    });
    pool.install(|| pool.spawn(job(&ran)));
    let each = ran.clone();
    pool.spawn_broadcast(move |_| each.up());
    drop(pool);
    assert_eq!(ran.get(), 4 + threads as u32);
}

#[test]
fn a_pool_ends_after_its_jobs() {
    for threads in [1, 2, 3] {
        check(400, move || spawns::<Shuttle>(threads));
        check(100, move || spawns::<FencedShuttle>(threads));
    }
}

fn broadcasts<P: Platform>() {
    let (pool, calls) = (pool::<P>(3), Count::default());
    pool.broadcast(|_| calls.up());
    until_asleep(&pool, 2);
    // A broadcast from the thief of a closure, while the owner waits for the thief.
    stolen(&pool, || (), || drop(pool.broadcast(|_| calls.up())));
    team::<P>(2, |_| {
        pool.broadcast(|_| pool.broadcast(|_| calls.up()));
    });
    assert_eq!(calls.get(), 3 + 3 + 2 * 9);
}

#[test]
fn broadcasts_reach_everybody() {
    check(400, broadcasts::<Shuttle>);
    check(100, broadcasts::<FencedShuttle>);
}

fn external_threads<P: Platform>(threads: usize) {
    let (pool, leaves) = (pool::<P>(threads), Count::default());
    team::<P>(3, |_| {
        pool.install(|| tree(&pool, 1, &leaves));
        tree(&pool, 1, &leaves);
    });
    assert_eq!(leaves.get(), 12);
}

#[test]
fn three_external_threads() {
    for threads in [1, 2] {
        check(400, move || external_threads::<Shuttle>(threads));
        check(100, move || external_threads::<FencedShuttle>(threads));
    }
}

/// Callers come and go while calls of other threads wait. No two threads have the same permit (right to run jobs).
fn permits_of_external_threads<P: Platform>() {
    let pool = pool::<P>(2);
    let taken = [const { AtomicU32::new(0) }; 2];
    team::<P>(4, |_| {
        for _ in 0..3 {
            pool.registry.enter(|worker, _| {
                let permit = &taken[worker.index()];
                assert_eq!(
                    permit.fetch_add(1, Ordering::Relaxed),
                    0,
                    "two with one permit"
                );
                dawdle::<P>();
                permit.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
}

#[test]
fn external_threads_have_a_permit_each() {
    check(2_000, permits_of_external_threads::<Shuttle>);
}

/// Runs a tree of joins. Each level runs in the next pool of a ring.
fn around<P: Platform>(ring: &[&Pool<P>], depth: usize, leaves: &Count) {
    if depth == 0 {
        return leaves.up();
    }
    let pool = ring[depth % ring.len()];
    let next = || around(ring, depth - 1, leaves);
    match depth % 2 {
        0 => drop(pool.join(next, next)),
        _ => pool.scope(|scope| (0..2).for_each(|_| scope.spawn(|_| next()))),
    }
}

fn rings<P: Platform>(sizes: &[usize]) {
    let pools: Vec<_> = sizes.iter().map(|&threads| pool::<P>(threads)).collect();
    let ring: Vec<_> = pools.iter().collect();
    let leaves = Count::default();
    team::<P>(2, |rank| {
        let mut ring = ring.clone();
        ring.rotate_left(rank);
        around(&ring, 3, &leaves);
    });
    assert_eq!(leaves.get(), 16);
}

#[test]
fn pools_that_call_each_other() {
    for sizes in [&[1, 1][..], &[2, 1], &[2, 2], &[1, 1, 1]] {
        check(300, move || rings::<Shuttle>(sizes));
        check(50, move || rings::<FencedShuttle>(sizes));
    }
}

fn broadcasts_across<P: Platform>() {
    let (a, b, calls) = (pool::<P>(2), pool::<P>(2), Count::default());
    let cast = || drop(a.broadcast(|_| calls.up()));
    stolen(&a, || (), || stolen(&b, || (), cast));
    stolen(&a, || b.install(cast), || b.install(cast));
    assert_eq!(calls.get(), 6);
}

#[test]
fn broadcasts_to_a_pool_that_waits() {
    check(300, broadcasts_across::<Shuttle>);
    check(50, broadcasts_across::<FencedShuttle>);
}

/// One thread runs joins in a loop, while another runs loops in a join.
fn loops_and_joins<P: Platform>() {
    let (pool, leaves) = (pool::<P>(3), Count::default());
    let split = pool.with(crate::Partitioner::default());
    team::<P>(2, |rank| match rank {
        0 => pool
            .with(crate::Partitioner::fixed_block(1))
            .parallel_for(0..3, |_| tree(&pool, 1, &leaves)),
        _ => drop(pool.join(
            || split.parallel_for(0..3, |_| leaves.up()),
            || split.parallel_for(0..3, |_| tree(&pool, 1, &leaves)),
        )),
    });
    assert_eq!(leaves.get(), 6 + 3 + 6);
}

#[test]
fn loops_among_joins() {
    check(400, loops_and_joins::<Shuttle>);
    check(100, loops_and_joins::<FencedShuttle>);
}

/// If the first closure panics, the join still waits for the second one.
fn panics<P: Platform>() {
    let (pool, done) = (pool::<P>(2), Count::default());
    let thrown = catch_unwind(AssertUnwindSafe(|| {
        stolen(
            &pool,
            || resume_unwind(Box::new("a")),
            || {
                dawdle::<P>();
                done.up();
            },
        );
    }));
    assert_eq!(thrown.unwrap_err().downcast_ref(), Some(&"a"));
    assert_eq!(done.get(), 1);
    let thrown = catch_unwind(AssertUnwindSafe(|| {
        pool.scope(|scope| {
            scope.spawn(|_| resume_unwind(Box::new("job")));
            scope.spawn(|_| done.up());
        });
    }));
    assert_eq!(thrown.unwrap_err().downcast_ref(), Some(&"job"));
    assert_eq!(done.get(), 2);
    tree(&pool, 1, &done);
}

#[test]
fn panics_wait_for_the_others() {
    check(500, panics::<Shuttle>);
    check(100, panics::<FencedShuttle>);
}
