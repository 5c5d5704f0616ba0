//! Runs a program on a simulated machine, and records what happened.

use super::program::{Program, Shape, Step, Steps, Work};
use super::recorder::{Kind, Log, Recorder};
use crate::{Builder, Pool, Scope};
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation, Statistics};
use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform, ThreadSpec};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The preset of a server with 64 cores in one core group, and with Linux.
const MACHINE: &str = "graviton2-64";
/// A program that takes more cycles counts as hanging. The longest program takes a hundredth of this.
const LIMIT: u64 = 1 << 36;
/// The number of cycles before the first call. The pool's threads start in this time.
const START: u64 = 2_000_000;

type Word = <Simulated as Platform>::Futex;

/// The outcome of a run.
pub(super) struct Outcome {
    pub(super) log: Log,
    /// How the program ended, or why it did not end, for example a deadlock.
    pub(super) end: Result<End, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) cycles: u64,
    /// A hash of all events on the machine.
    pub(super) hash: u64,
}

/// Runs `program`. The same program gives the same outcome.
pub(super) fn run(program: &Program) -> Outcome {
    let recorder = Arc::new(Recorder::new(program.threads));
    // The machine has twice the cores that the pool knows of. Otherwise a thread could wait for one core
    // while another is idle, which is not the pool's doing.
    let simulation = Simulation::new(&machine(2 * program.cores)).limit(LIMIT);
    let ended = simulation.run(|| ProgramRun::main(program, &recorder));
    let end = |statistics: Statistics| End {
        cycles: statistics.cycles,
        hash: statistics.hash,
    };
    Outcome {
        log: recorder.take(),
        end: ended
            .map(|run| end(run.statistics))
            .map_err(|error| error.to_string()),
    }
}

pub(super) fn machine(cores: usize) -> Config {
    let mut machine = Config::preset(MACHINE).expect("the preset exists");
    let cores = u32::try_from(cores).expect("the number of cores fits in a u32");
    (machine.cores, machine.group_cores) = (cores, cores);
    // An idle core takes a waiting thread within 40 us, wherever the thread ran before. Otherwise a
    // thread could wait for one core while another is idle, which is not the pool's doing.
    (machine.os.tick, machine.os.tick_cost, machine.os.hot) = (50_000, 0, 0);
    machine.os.balance = 1;
    machine
}

/// The shared data of a program's threads.
struct ProgramRun {
    pool: Pool<Simulated>,
    recorder: Arc<Recorder>,
    /// The number of detached jobs that have not ended.
    detached: Word,
    /// Whether two halves of a join are waiting for each other. If several pairs did so at once, their first halves
    /// could take all permits (rights to run jobs).
    meeting: AtomicBool,
}

/// A thread during its program.
#[derive(Clone, Copy)]
struct Thread<'a> {
    world: &'a Arc<ProgramRun>,
    /// Whether the thread runs a job of the pool.
    inside: bool,
}

impl ProgramRun {
    fn main(program: &Program, recorder: &Arc<Recorder>) {
        let pool = Builder::<Simulated>::on_platform()
            .build_on(program.cores, 1, vec![vec![]; program.threads])
            .expect("the threads start");
        let world = Arc::new(Self {
            pool,
            recorder: Arc::clone(recorder),
            detached: Word::new(0),
            meeting: AtomicBool::new(false),
        });
        sleep(START);
        let caller = |(number, steps): (usize, &Steps)| {
            let (world, steps) = (Arc::clone(&world), Arc::clone(steps));
            let spec = ThreadSpec {
                name: format!("caller {number}"),
                ..ThreadSpec::default()
            };
            let body = move || {
                let thread = Thread {
                    world: &world,
                    inside: false,
                };
                thread.run(&steps);
            };
            Simulated::spawn(spec, Box::new(body)).expect("the thread starts")
        };
        let callers: Vec<_> = program.callers.iter().enumerate().map(caller).collect();
        callers.into_iter().for_each(Simulated::join);
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
        // The pool ends here. Otherwise its simulated memory would not be freed.
        drop(world);
    }
}

pub(super) fn sleep(cycles: u64) {
    let time = Duration::from_nanos(Simulated::ticks_to_ns(cycles) as u64);
    Word::new(0).wait(0, Some(time));
}

impl Thread<'_> {
    fn run(self, steps: &[Step]) {
        steps.iter().for_each(|step| self.step(step));
    }

    fn step(self, step: &Step) {
        match step {
            Step::Compute(instructions) => self.compute(*instructions),
            Step::Gap(cycles) => sleep(*cycles),
            Step::Repeat { times, steps } => (0..*times).for_each(|_| self.run(steps)),
            Step::Rhythm {
                period,
                times,
                steps,
            } => {
                for _ in 0..*times {
                    let next = Simulated::now() + period;
                    self.run(steps);
                    sleep(next.saturating_sub(Simulated::now()));
                }
            }
            Step::Loop { site, n, work } => self.call_loop(*site, *n, work),
            Step::Join {
                shape,
                leaves,
                leaf,
            } => self.tree(*shape, *leaves, *leaf),
            Step::Halves(first, second) => {
                self.join(|thread| thread.run(first), |thread| thread.run(second));
            }
            Step::Meet(instructions) => self.meet(*instructions),
            Step::Scope { jobs, nested, each } => self.scope(*jobs, *nested, each),
            Step::Spawn { job, awaited } => self.spawn(job, *awaited && !self.inside),
            Step::Broadcast(instructions) => self.broadcast(*instructions),
            Step::Install(steps) => {
                let call = self.call();
                self.world
                    .pool
                    .install(|| self.job(call, |thread| thread.run(steps)));
            }
        }
    }

    /// Records that an item is available from now on.
    fn offer(self, kind: Kind) -> usize {
        self.world.recorder.offer(kind, None, Simulated::now())
    }

    /// Records a call that a thread from outside is about to make.
    fn call(self) -> Option<usize> {
        (!self.inside).then(|| self.offer(Kind::Call))
    }

    /// Runs user code in the pool, and records that `item` begins.
    fn job<R>(self, item: Option<usize>, body: impl FnOnce(Self) -> R) -> R {
        let recorder = &self.world.recorder;
        let from = Simulated::now();
        if let Some(item) = item {
            recorder.begin(item, from);
        }
        let permit = self.world.pool.current_thread_index();
        let result = body(Self {
            inside: true,
            ..self
        });
        recorder.job(permit, from, Simulated::now());
        result
    }

    /// Runs a leaf: user code without calls into the pool.
    fn leaf<R>(self, body: impl FnOnce() -> R) -> R {
        let from = Simulated::now();
        let result = body();
        if self.inside {
            let permit = self.world.pool.current_thread_index();
            let (recorder, to) = (&self.world.recorder, Simulated::now());
            recorder.leaf(permit, from, to);
            recorder.newest_leaf(permit, to);
        }
        result
    }

    /// Called when user code continues after a call that may have waited. Records an empty leaf, because the thread
    /// has a permit again.
    fn go_on(self) {
        self.leaf(|| ());
    }

    fn compute(self, instructions: u64) {
        self.leaf(|| Simulated::compute(instructions));
    }

    fn call_loop(self, site: usize, n: usize, work: &Work) {
        match site % 4 {
            0 => self.loop_at::<0>(n, work),
            1 => self.loop_at::<1>(n, work),
            2 => self.loop_at::<2>(n, work),
            _ => self.loop_at::<3>(n, work),
        }
    }

    /// Runs a loop whose body has a different address for each `SITE`. The pool identifies a loop by this
    /// address.
    fn loop_at<const SITE: usize>(self, n: usize, work: &Work) {
        let recorder = &self.world.recorder;
        let call = if n == 0 { None } else { self.call() };
        let called = recorder.call_loop(n);
        let first = AtomicBool::new(true);
        self.world.pool.parallel_for(0..n, |i| {
            std::hint::black_box(SITE);
            let item = call.filter(|_| first.swap(false, Ordering::Relaxed));
            recorder.begin_iteration(called, Simulated::now());
            self.job(item, |thread| match work {
                Work::Steps(steps) => thread.run(steps),
                _ => thread.compute(work.of(i, n)),
            });
            recorder.end_iteration(called, Simulated::now());
        });
        if !self.inside {
            recorder.end_of_call(Simulated::now());
        }
        self.go_on();
    }

    fn join(self, first: impl FnOnce(Self) + Send, second: impl FnOnce(Self) + Send) {
        let recorder = &self.world.recorder;
        let call = self.call();
        let half = recorder.announce(Kind::Half);
        let a = || {
            // The pool has just pushed the second half.
            recorder.offer_announced(half, Simulated::now());
            self.job(call, first);
        };
        let b = || self.job(Some(half), second);
        self.world.pool.join(a, b);
        self.go_on();
    }

    fn tree(self, shape: Shape, leaves: usize, leaf: u64) {
        if leaves < 2 {
            return self.compute(leaf);
        }
        let first = shape.first(leaves);
        self.join(
            |thread| thread.tree(shape, first, leaf),
            |thread| thread.tree(shape, leaves - first, leaf),
        );
    }

    fn meet(self, instructions: u64) {
        if self.world.meeting.swap(true, Ordering::Relaxed) {
            let alone = move |thread: Self| thread.compute(instructions);
            return self.join(alone, alone);
        }
        let arrived = &Word::new(0);
        let attend = move |thread: Self| {
            thread.leaf(|| {
                Simulated::compute(instructions);
                if arrived.fetch_add(1, Ordering::SeqCst) == 1 {
                    arrived.wake(1);
                }
                while arrived.load(Ordering::SeqCst) < 2 {
                    arrived.wait(1, None);
                }
            });
        };
        self.join(attend, attend);
        self.world.meeting.store(false, Ordering::Relaxed);
    }

    fn spawn(self, job: &Steps, awaited: bool) {
        let item = self.offer(Kind::Detached);
        let (world, job) = (Arc::clone(self.world), Arc::clone(job));
        let over = Arc::new(Word::new(0));
        let tell = Arc::clone(&over);
        self.world.detached.fetch_add(1, Ordering::SeqCst);
        self.world.pool.spawn(move || {
            let thread = Thread {
                world: &world,
                inside: true,
            };
            thread.job(Some(item), |thread| thread.run(&job));
            tell.store(1, Ordering::SeqCst);
            tell.wake(1);
            if world.detached.fetch_sub(1, Ordering::SeqCst) == 1 {
                world.detached.wake(1);
            }
        });
        while awaited && over.load(Ordering::SeqCst) == 0 {
            over.wait(0, None);
        }
    }

    fn broadcast(self, instructions: u64) {
        let (pool, recorder) = (&self.world.pool, &self.world.recorder);
        let now = Simulated::now();
        let offer = |permit| recorder.offer(Kind::Broadcast, Some(permit), now);
        let items: Vec<_> = (0..pool.threads()).map(offer).collect();
        pool.broadcast(|context| {
            let item = items[context.index()];
            self.job(Some(item), |thread| thread.compute(instructions));
        });
        self.go_on();
    }
}

impl<'a> Thread<'a> {
    fn scope(self, jobs: usize, nested: bool, each: &'a [Step]) {
        let call = self.call();
        self.world.pool.scope(|scope| {
            self.job(call, |thread| {
                thread.leaf(|| (0..jobs).for_each(|_| thread.spawn_in(scope, nested, each)));
            });
        });
        self.go_on();
    }

    fn spawn_in(self, scope: &Scope<'a, Simulated>, nested: bool, each: &'a [Step]) {
        let item = self.offer(Kind::Scoped);
        scope.spawn(move |scope| {
            self.job(Some(item), |thread| {
                if nested {
                    thread.spawn_in(scope, false, each);
                }
                thread.run(each);
            });
        });
    }
}
