//! A permit belongs to one thread at a time, on real threads. Random bodies wait in every kind of call, from
//! two callers, in two pools. One pool follows an allotment that changes.
//!
//! A stretch is the part of a body between two calls of a pool. Each stretch adds to a plain number of its
//! permit. So ThreadSanitizer (`ci/tsan.sh`) sees two threads with one permit, and a permit that changes
//! hands without an order. Each iteration runs once, and results are those of a plain loop. A failure names
//! its seed.
//!
//! `MANYCORE_SCHEDULES=100 cargo test -p manycore --test permits` runs a hundred times as many mixtures.
//! `MANYCORE_SEED=7` runs only that of seed 7.

#[path = "support/eventually.rs"]
mod eventually;
#[path = "contract/live.rs"]
mod live;
#[path = "support/visits.rs"]
mod visits;

use fastrand::Rng;
use live::ends;
use manycore::Pool;
use manycore::elastic::Allotment;
use manycore::prelude::*;
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use visits::Visits;

/// The number of mixtures in one run of the test.
const MIXTURES: u64 = 30;
/// The number of threads of each pool.
const THREADS: [usize; 2] = [3, 2];
/// The greatest depth of nested calls.
const DEPTH: usize = 3;

/// The stretches that ran with one permit.
#[derive(Default)]
struct Permit {
    /// The thread inside a stretch, or 0. Relaxed everywhere: it must not order anything itself.
    holder: AtomicU64,
    stretches: UnsafeCell<u64>,
}

// SAFETY: only a thread with the permit reads or writes `stretches`, and one thread at a time has the permit:
// the test checks exactly this.
unsafe impl Sync for Permit {}

struct World {
    pools: [Pool; 2],
    permits: [Vec<Permit>; 2],
    /// The number of detached jobs that have not ended.
    detached: AtomicU64,
    /// Whether a check has failed. Reported at the end, since bodies of detached jobs must not panic.
    broken: AtomicBool,
}

/// Returns a number that is this thread's own.
fn this_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local!(static THIS: u64 = NEXT.fetch_add(1, Relaxed));
    THIS.with(|this| *this)
}

/// Keeps the core busy for `us` microseconds.
fn work(us: u64) {
    let end = Instant::now() + Duration::from_micros(us);
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

impl World {
    fn check(&self, what: &str, is_right: bool) {
        if !is_right {
            eprintln!("{what}");
            self.broken.store(true, Relaxed);
        }
    }

    fn permit(&self, pool: usize) -> Option<&Permit> {
        let permit = self.pools[pool].current_thread_index();
        self.check("a body runs with no permit", permit.is_some());
        permit.map(|permit| &self.permits[pool][permit])
    }

    fn begin_stretch(&self, pool: usize) {
        let Some(permit) = self.permit(pool) else {
            return;
        };
        let before = permit.holder.swap(this_thread(), Relaxed);
        self.check("two threads are with one permit", before == 0);
        // SAFETY: see `Sync`.
        unsafe { *permit.stretches.get() += 1 };
    }

    fn end_stretch(&self, pool: usize) {
        let Some(permit) = self.permit(pool) else {
            return;
        };
        // SAFETY: see `Sync`.
        unsafe { *permit.stretches.get() += 1 };
        let before = permit.holder.swap(0, Relaxed);
        self.check(
            "another thread is with this permit",
            before == this_thread(),
        );
    }
}

/// A body of a pool that runs now.
#[derive(Clone, Copy)]
struct Body<'a> {
    world: &'a Arc<World>,
    pool: usize,
    depth: usize,
}

impl<'a> Body<'a> {
    /// Runs a body of `pool`, which may nest `depth` further calls.
    fn run<R>(world: &'a Arc<World>, pool: usize, depth: usize, body: impl FnOnce(Self) -> R) -> R {
        world.begin_stretch(pool);
        let result = body(Self { world, pool, depth });
        world.end_stretch(pool);
        result
    }

    /// Makes a call of a pool, in which this thread may give its permit away.
    fn call<R>(self, call: impl FnOnce(&'a Pool) -> R) -> R {
        self.world.end_stretch(self.pool);
        let result = call(&self.world.pools[self.pool]);
        self.world.begin_stretch(self.pool);
        result
    }

    /// A body within a call of this one: it works, and then takes some steps.
    fn inner(self, seed: u64) {
        Self::run(self.world, self.pool, self.depth - 1, |body| {
            body.steps(seed)
        });
    }

    fn steps(self, seed: u64) {
        let mut rng = Rng::with_seed(seed);
        for _ in 0..rng.usize(1..3) {
            work(rng.u64(1..300));
            if self.depth > 0 {
                self.step(&mut rng);
            }
        }
    }

    fn step(self, rng: &mut Rng) {
        let seeds = [rng.u64(..), rng.u64(..)];
        let other = 1 - self.pool;
        match rng.u8(..12) {
            0..5 => self.a_loop(rng),
            5..7 => {
                _ = self.call(|pool| pool.join(|| self.inner(seeds[0]), || self.inner(seeds[1])))
            }
            7 => self.call(|pool| {
                pool.scope(|scope| seeds.map(|seed| scope.spawn(move |_| self.inner(seed))));
            }),
            8..10 => {
                let job = self.detached(1, rng.u64(100..2_000), seeds[0]);
                self.call(|pool| pool.spawn(job));
            }
            10 if rng.bool() => {
                let job = self.detached(THREADS[self.pool] as u64, 100, seeds[0]);
                self.call(|pool| pool.spawn_broadcast(move |_| job()));
            }
            10 => _ = self.call(|pool| pool.broadcast(|_| self.inner(seeds[0]))),
            _ => self.call(|_| {
                let body = || Self::run(self.world, other, self.depth - 1, |it| it.steps(seeds[0]));
                self.world.pools[other].install(body);
            }),
        }
    }

    /// Returns a detached job, which the pool runs `times` times.
    fn detached(self, times: u64, us: u64, seed: u64) -> impl Fn() + Send + Sync + 'static {
        let (world, pool) = (Arc::clone(self.world), self.pool);
        let depth = self.depth - 1;
        world.detached.fetch_add(times, Relaxed);
        move || {
            Body::run(&world, pool, depth, |body| {
                work(us);
                body.steps(seed);
            });
            world.detached.fetch_sub(1, Relaxed);
        }
    }

    /// Runs a loop of some kind. One or two of its iterations do more than work.
    fn a_loop(self, rng: &mut Rng) {
        let n = rng.usize(1..100);
        let (first, second) = (rng.usize(..n.min(3)), rng.usize(..n));
        let (us, seed, kind) = (rng.u64(..30), rng.u64(..), rng.u8(..9));
        let visits = Visits::new(&(0..n));
        let item = |i: usize| {
            Self::run(self.world, self.pool, self.depth - 1, |body| {
                visits.visit(i);
                work(us);
                if i == first || i == second {
                    body.steps(seed);
                }
                Box::new(i)
            })
        };
        let all = || (0..n).into_par_iter();
        let is_right = self.call(|pool| match kind {
            0 => {
                let items: Vec<_> = all().map(item).collect();
                items.into_iter().map(|item| *item).eq(0..n)
            }
            1 => {
                let items: Vec<_> = all().map(item).filter(|item| **item % 3 != 0).collect();
                (items.into_iter().map(|item| *item)).eq((0..n).filter(|i| i % 3 != 0))
            }
            2 => {
                let of_state = |state: &mut Vec<usize>, i| {
                    state.push(i);
                    *item(i)
                };
                all().map_init(Vec::new, of_state).sum::<usize>() == n * (n - 1) / 2
            }
            3 => {
                (0..n).par_bridge().for_each(|i| drop(item(i)));
                true
            }
            4 => {
                let items: Result<Vec<_>, ()> = all().map(|i| Ok(item(i))).collect();
                items.is_ok_and(|items| items.into_iter().map(|item| *item).eq(0..n))
            }
            5 => {
                let both = |mut left: Vec<_>, right| {
                    left.extend(right);
                    left
                };
                let items = pool.map_reduce(0..n, Vec::new, |i| vec![item(i)], both);
                items.into_iter().map(|item| *item).eq(0..n)
            }
            6 => {
                let mut permits: Vec<Option<Box<usize>>> = vec![None; n];
                let fill = |(i, permit): (usize, &mut Option<_>)| *permit = Some(item(i));
                permits.par_iter_mut().enumerate().for_each(fill);
                permits.into_iter().flatten().map(|item| *item).eq(0..n)
            }
            7 => {
                let mut items: Vec<_> = all().rev().map(item).collect();
                items.par_sort();
                items.into_iter().map(|item| *item).eq(0..n)
            }
            _ => {
                let mut sums: Vec<_> = all().map(|i| *item(i)).collect();
                pool.inclusive_scan(&mut sums, |left, right| left + right);
                sums.into_iter().eq((0..n).map(|i| i * (i + 1) / 2))
            }
        });
        let kind = format!("loop kind {kind} of {n} makes something else");
        self.world.check(&kind, is_right);
        visits.assert_each(1, kind);
    }
}

/// Runs the mixture of seed `seed`.
fn mixture(seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let allotment = Allotment::new(THREADS[0]);
    let permits = |pool: usize| (0..THREADS[pool]).map(|_| Permit::default()).collect();
    let following = Pool::builder().threads(THREADS[0]).follow(&allotment);
    let world = Arc::new(World {
        pools: [
            following.build().unwrap(),
            Pool::builder().threads(THREADS[1]).build().unwrap(),
        ],
        permits: [permits(0), permits(1)],
        detached: AtomicU64::new(0),
        broken: AtomicBool::new(false),
    });
    let callers: Vec<_> = (0..2)
        .map(|_| {
            let (world, mut rng) = (Arc::clone(&world), rng.fork());
            thread::spawn(move || {
                for _ in 0..rng.usize(1..5) {
                    let (pool, seed) = (rng.usize(..2), rng.u64(..));
                    let body = || Body::run(&world, pool, DEPTH, |body| body.steps(seed));
                    world.pools[pool].install(body);
                    if rng.u8(..4) == 0 {
                        assert!(world.pools[pool].end_threads());
                    }
                }
            })
        })
        .collect();
    for _ in 0..rng.usize(..8) {
        thread::sleep(Duration::from_micros(rng.u64(100..2_000)));
        allotment.set(rng.usize(1..=THREADS[0]));
    }
    callers
        .into_iter()
        .for_each(|caller| caller.join().unwrap());
    eventually::eventually("all detached jobs end", || {
        (world.detached.load(Relaxed) == 0).then_some(())
    });
    assert!(!world.broken.load(Relaxed), "see above");
}

/// Reads a number from an environment variable.
fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().expect("a number"))
}

#[test]
fn a_permit_is_one_threads_at_a_time() {
    let seeds = match number("MANYCORE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..MIXTURES * number("MANYCORE_SCHEDULES").unwrap_or(1),
    };
    for seed in seeds {
        println!("seed {seed}");
        ends(&format!("seed {seed}"), move || mixture(seed));
    }
}
