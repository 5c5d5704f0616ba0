//! Runs a program on a simulated machine, while a [`Witness`] observes it.

use super::super::world::{machine, sleep};
use super::program::{Kind, Loop, Program, Step, Steps};
use super::token::{Product, Token, product};
use super::witness::Witness;
use crate::{Builder, Pool};
use manycore_chip::{Simulated, Simulation};
use manycore_cores::elastic::Allotment;
use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform, ThreadSpec};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// A program that takes more cycles counts as hanging. The longest program takes a fraction of this.
const LIMIT: u64 = 1 << 34;
/// The number of cycles before the first call. The pools' threads start in this time.
const START: u64 = 2_000_000;

type Word = <Simulated as Platform>::Futex;

/// The state that all threads of a program share.
struct World {
    pools: [Pool<Simulated>; 2],
    witness: Arc<Witness>,
    /// The number of detached jobs that have not ended.
    detached: Word,
    /// Whether a body has reached [`Step::Meet`].
    has_met: AtomicBool,
}

/// A thread that runs a body of `pool`, or a caller's steps.
#[derive(Clone, Copy)]
struct Thread<'a> {
    world: &'a Arc<World>,
    pool: usize,
    /// Whether the thread has a permit of the pool.
    inside: bool,
}

/// Runs `program`. Returns the first failure, which is the same for the same program.
pub(super) fn run(program: &Program) -> Result<(), String> {
    let witness = Arc::new(Witness::default());
    // The machine has twice the cores that each pool knows of, because there are two pools.
    let simulation = Simulation::new(&machine(2 * program.cores)).limit(LIMIT);
    let ended = simulation.run(|| World::main(program, &witness));
    match (witness.broken(), ended) {
        (Some(broken), _) => Err(broken),
        (None, Err(error)) => Err(error.to_string()),
        (None, Ok(_)) => Ok(()),
    }
}

impl World {
    fn main(program: &Program, witness: &Arc<Witness>) {
        let allotment = Allotment::new(program.threads[0]);
        let pool = |pool: usize| {
            let (begins, ends) = (Arc::clone(witness), Arc::clone(witness));
            let mut builder = Builder::<Simulated>::on_platform()
                .on_thread_start(move |_| begins.thread_begins(pool))
                .on_thread_exit(move |_| ends.thread_ends(pool));
            if pool == 0 && !program.changes.is_empty() {
                builder = builder.follow(&allotment);
            }
            builder
                .build_on(program.cores, 1, vec![vec![]; program.threads[pool]])
                .expect("the threads start")
        };
        let world = Arc::new(Self {
            pools: [pool(0), pool(1)],
            witness: Arc::clone(witness),
            detached: Word::new(0),
            has_met: AtomicBool::new(false),
        });
        sleep(START);
        let caller = |steps: &Steps| {
            let (world, steps) = (Arc::clone(&world), Arc::clone(steps));
            start(move || {
                let (pool, inside) = (0, false);
                let thread = Thread {
                    world: &world,
                    pool,
                    inside,
                };
                thread.run(&steps);
            })
        };
        let callers: Vec<_> = program.callers.iter().map(caller).collect();
        let changes = program.changes.clone();
        let changer = start(move || {
            for (cycles, cores) in changes {
                sleep(cycles);
                allotment.set(cores);
            }
        });
        callers.into_iter().for_each(Simulated::join);
        Simulated::join(changer);
        loop {
            let left = world.detached.load(Ordering::SeqCst);
            if left == 0 {
                break;
            }
            world.detached.wait(left, None);
        }
        // A job's last action is to drop its reference to the world.
        while Arc::strong_count(&world) > 1 {
            sleep(10_000);
        }
        // Ends the pools here. Otherwise their simulated memory would not be freed.
        drop(world);
    }
}

fn start(body: impl FnOnce() + Send + 'static) -> <Simulated as Platform>::Thread {
    Simulated::spawn(ThreadSpec::default(), Box::new(body)).expect("the thread starts")
}

impl World {
    fn permit(&self, pool: usize) -> Option<usize> {
        self.pools[pool].current_thread_index()
    }

    /// Runs a body of `pool`. A stretch (user code without calls into a pool) begins with the body, and a stretch ends
    /// with it.
    fn body<R>(self: &Arc<Self>, pool: usize, body: impl FnOnce(Thread<'_>) -> R) -> R {
        self.witness.begin_stretch(pool, self.permit(pool));
        let result = body(Thread {
            world: self,
            pool,
            inside: true,
        });
        self.witness.end_stretch(pool, self.permit(pool));
        result
    }
}

impl Thread<'_> {
    fn run(self, steps: &[Step]) {
        steps.iter().for_each(|step| self.step(step));
    }

    fn pool(&self) -> &Pool<Simulated> {
        &self.world.pools[self.pool]
    }

    /// Makes a call into `pool`. The calling body's stretch ends before the call, and another stretch begins when the
    /// call returns.
    fn call<R>(self, pool: usize, call: impl FnOnce() -> R) -> R {
        let (world, witness) = (self.world, &self.world.witness);
        if self.inside {
            witness.end_stretch(self.pool, world.permit(self.pool));
        }
        witness.begin_call(pool);
        let result = call();
        witness.end_call(pool);
        if self.inside {
            witness.begin_stretch(self.pool, world.permit(self.pool));
        }
        result
    }

    fn step(self, step: &Step) {
        let (world, pool) = (self.world, self.pool);
        match step {
            Step::Compute(instructions) => Simulated::compute(*instructions),
            Step::Loop(of) => self.call_loop(of),
            Step::Join(first, second) => self.call(pool, || {
                self.pool().join(
                    || world.body(pool, |thread| thread.run(first)),
                    || world.body(pool, |thread| thread.run(second)),
                );
            }),
            Step::Scope(jobs, steps) => self.call(pool, || {
                let job = || world.body(pool, |thread| thread.run(steps));
                self.pool()
                    .scope(|scope| (0..*jobs).for_each(|_| scope.spawn(move |_| job())));
            }),
            Step::Spawn(steps) => {
                let job = self.detached(1, steps);
                self.call(pool, || self.pool().spawn(job));
            }
            // Relaxed: one host thread runs all threads of the machine.
            Step::Meet if world.has_met.swap(true, Ordering::Relaxed) => {}
            Step::Meet => {
                let begun = Arc::new(Word::new(0));
                let begins = Arc::clone(&begun);
                let job = self.detached(1, &Arc::new(vec![]));
                let job = move || {
                    begins.store(1, Ordering::Release);
                    begins.wake(1);
                    job();
                };
                self.call(pool, || self.pool().spawn(job));
                while begun.load(Ordering::Acquire) == 0 {
                    begun.wait(0, None);
                }
            }
            Step::Mail(steps) => {
                let job = self.detached(self.pool().threads() as u32, steps);
                self.call(pool, || self.pool().spawn_broadcast(move |_| job()));
            }
            Step::Broadcast(steps) => self.call(pool, || {
                (self.pool()).broadcast(|_| world.body(pool, |thread| thread.run(steps)));
            }),
            Step::Elsewhere(steps) => self.call(1 - pool, || {
                let other = 1 - pool;
                world.pools[other].install(|| world.body(other, |thread| thread.run(steps)));
            }),
            Step::End if self.inside => {}
            Step::End => {
                for (number, pool) in world.pools.iter().enumerate() {
                    let before = world.witness.quiet(number);
                    if pool.end_threads() {
                        world.witness.threads_ended(number, before);
                    } else {
                        (world.witness).blame(|| format!("pool {number} does not end its threads"));
                    }
                }
            }
        }
    }

    /// Makes a detached job that runs `steps`. It will be called `times` times.
    fn detached(self, times: u32, steps: &Steps) -> impl Fn() + Send + Sync + 'static {
        let (world, steps, pool) = (Arc::clone(self.world), Arc::clone(steps), self.pool);
        world.detached.fetch_add(times, Ordering::SeqCst);
        move || {
            world.body(pool, |thread| thread.run(&steps));
            if world.detached.fetch_sub(1, Ordering::SeqCst) == 1 {
                world.detached.wake(1);
            }
        }
    }

    fn call_loop(self, of: &Loop) {
        let witness = &self.world.witness;
        let called = witness.call_loop(of.n);
        let live = AtomicUsize::new(0);
        let is_right = self.call(self.pool, || self.make(of, called, &live));
        witness.end_loop(called);
        let live = live.into_inner();
        if !is_right || live != 0 {
            let kind = of.kind;
            witness.blame(|| format!("wrong result of {kind:?}, or {live} items were not dropped"));
        }
    }

    /// Runs iteration `i` of the loop `called`.
    fn iteration<'l>(self, of: &Loop, called: usize, live: &'l AtomicUsize, i: usize) -> Token<'l> {
        self.world.body(self.pool, |thread| {
            thread.world.witness.iteration(called, i);
            Simulated::compute(of.each);
            if of.does_more(i) {
                thread.run(&of.steps);
            }
            Token::new(i, live)
        })
    }

    /// Runs a loop. Returns whether its result is that of a plain loop.
    fn make<'l>(self, of: &Loop, called: usize, live: &'l AtomicUsize) -> bool {
        let (loops, n) = (self.pool().with(of.partitioner), of.n);
        let item = |i| self.iteration(of, called, live, i);
        let witness = &self.world.witness;
        let block = |rank, block: std::ops::Range<usize>| {
            witness.begin_block(called, rank);
            block.for_each(|i| drop(item(i)));
            witness.end_block(called, rank);
        };
        let both = |mut left: Vec<Token<'l>>, right: Vec<Token<'l>>| {
            left.extend(right);
            left
        };
        let is_all = |items: &[Token<'_>], wanted: &dyn Fn(usize) -> bool| {
            (items.iter().map(Token::number)).eq((0..n).filter(|&i| wanted(i)))
        };
        match of.kind {
            Kind::Plain => {
                loops.ranked(0..n, block);
                true
            }
            Kind::Other => {
                loops.ranked(0..n, |rank, range| {
                    std::hint::black_box(rank);
                    block(rank, range);
                });
                true
            }
            Kind::Filter => {
                let wanted = |i: usize| i % 3 != 0;
                let extend = |left: Option<Vec<_>>, range: std::ops::Range<usize>| {
                    let items = range.map(item).filter(|item| wanted(item.number()));
                    both(left.unwrap_or_default(), items.collect())
                };
                let items = loops.reduce_blocks(0..n, extend, both);
                is_all(&items.unwrap_or_default(), &wanted)
            }
            Kind::Reduce => {
                let items = loops.map_reduce(0..n, Vec::new, |i| vec![item(i)], both);
                is_all(&items, &|_| true)
            }
            Kind::Fixed => {
                let one = |i| vec![item(i)];
                let items = loops.map_reduce_deterministic(0..n, Vec::new, one, both);
                is_all(&items, &|_| true)
            }
            Kind::Fill => {
                let mut slots: Vec<_> = (0..n).map(|i| (i, None)).collect();
                loops.for_each_mut(&mut slots, |(i, slot)| *slot = Some(item(*i)));
                (slots.iter()).all(|(i, item)| item.as_ref().is_some_and(|it| it.number() == *i))
            }
            Kind::Chunks => {
                let mut slots: Vec<_> = (0..n).map(|_| None).collect();
                loops.chunks_mut(&mut slots, 3, |chunk, slots| {
                    for (i, slot) in slots.iter_mut().enumerate() {
                        *slot = Some(item(3 * chunk + i));
                    }
                });
                let is = |(i, item): (usize, &Option<Token<'_>>)| {
                    item.as_ref().is_some_and(|item| item.number() == i)
                };
                slots.iter().enumerate().all(is)
            }
            Kind::Scan => {
                // Iterations run while the items are written. The scan itself is cheap.
                let mut items: Vec<Product> = Vec::new();
                items.resize(n, Product::default());
                loops.chunks_mut(&mut items, 1, |i, permit| {
                    drop(item(i));
                    permit[0] = Product::of(i);
                });
                loops.inclusive_scan(&mut items, |left, right| left.then(*right));
                items
                    .iter()
                    .enumerate()
                    .all(|(i, item)| *item == product(i))
            }
        }
    }
}
