//! Running a model: exhaustively, at random, or expecting it to fail.
//!
//! A model loses its type at once: what checks it is long, and is compiled here once, not in each test
//! once for each model.

use ::shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use ::shuttle::{Config, Runner};
use manycore_platform::{Platform, ThreadSpec};
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// As many interleavings as are tried where the environment does not ask for all.
const FEW: usize = 5_000;

thread_local! {
    /// Whether all interleavings and schedules of this thread's models are tried, whatever the environment says.
    static WHOLE: Cell<bool> = const { Cell::new(false) };
}

/// A model without its type.
type Model = Box<dyn Fn() + Send + Sync>;

/// Runs `model` under loom in every interleaving, or in those with at most
/// `preemptions` places where a thread is interrupted that could have gone on.
/// Prints and returns how many there were. Without the environment variable `MANYCORE_SCHEDULES` it
/// ends after the first 5,000.
///
/// # Panics
///
/// When an interleaving panics, deadlocks or has a data race.
///
/// ```
/// use manycore_check::{Loom, loom_model, team};
/// use manycore_platform::{Atomic, Ordering::Relaxed, Platform};
///
/// // The other thread's store comes before the load or after it.
/// let interleavings = loom_model(None, || {
///     let flag = <Loom as Platform>::AtomicBool::new(false);
///     team::<Loom>(2, |rank| match rank {
///         0 => flag.store(true, Relaxed),
///         _ => drop(flag.load(Relaxed)),
///     });
/// });
/// assert!(interleavings >= 2);
/// ```
pub fn loom_model(preemptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) -> usize {
    loom_boxed(preemptions, Box::new(model))
}

fn loom_boxed(preemptions: Option<usize>, model: Model) -> usize {
    let mut builder = ::loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    // Waits on the clock take steps that are not the protocol's.
    builder.max_branches = 20_000;
    if factor().is_none() && !WHOLE.get() {
        builder.max_permutations = Some(FEW);
    }
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let runs = runs.load(Ordering::Relaxed);
    println!("loom: {runs} interleavings, all good");
    runs
}

/// Runs `model` under shuttle in `schedules` random schedules, times the
/// factor in the environment variable `MANYCORE_SCHEDULES`; without it, in a quarter of them. Prints and
/// returns how many that were.
///
/// # Panics
///
/// Panics if a schedule panics, deadlocks or does not end, and prints the schedule for
/// `shuttle::replay`.
///
/// ```
/// use manycore_check::{Shuttle, shuttle_random, team};
/// use manycore_platform::Platform;
///
/// assert!(shuttle_random(100, || team::<Shuttle>(2, |_| Shuttle::yield_now())) >= 25);
/// ```
pub fn shuttle_random(schedules: usize, model: impl Fn() + Send + Sync + 'static) -> usize {
    shuttle_boxed(scaled(schedules), None, Box::new(model))
}

/// As [`shuttle_random`], by the PCT scheduler: threads run by priority, which
/// changes at `depth` random steps. Finds what takes few, but far apart,
/// interruptions to go wrong.
///
/// # Panics
///
/// As [`shuttle_random`].
///
/// ```
/// use manycore_check::{Shuttle, shuttle_pct, team};
/// use manycore_platform::Platform;
///
/// assert!(shuttle_pct(100, 3, || team::<Shuttle>(2, |_| Shuttle::yield_now())) >= 25);
/// ```
pub fn shuttle_pct(
    schedules: usize,
    depth: usize,
    model: impl Fn() + Send + Sync + 'static,
) -> usize {
    shuttle_boxed(scaled(schedules), Some(depth), Box::new(model))
}

/// By the PCT scheduler, if a depth is given.
fn shuttle_boxed(schedules: usize, depth: Option<usize>, model: Model) -> usize {
    match depth {
        None => run(RandomScheduler::new(schedules), model),
        Some(depth) => run(PctScheduler::new(depth, schedules), model),
    }
}

fn run(scheduler: impl Scheduler + 'static, model: Model) -> usize {
    let mut config = Config::new();
    // Unoptimised frames are large.
    config.stack_size = 256 << 10;
    // That orderings are not modelled is known: `README.md`.
    config.silence_warnings = true;
    let runs = Runner::new(scheduler, config).run(model);
    println!("shuttle: {runs} schedules, all good");
    runs
}

/// Runs `check`, of whose models all interleavings and schedules are tried also without
/// `MANYCORE_SCHEDULES`: for a check of what all of them show together.
///
/// ```
/// use manycore_check::{Loom, exhaustively, loom_model, team};
///
/// assert_eq!(exhaustively(|| loom_model(None, || team::<Loom>(1, |_| ()))), 1);
/// ```
pub fn exhaustively<R>(check: impl FnOnce() -> R) -> R {
    let before = WHOLE.replace(true);
    let result = check();
    WHOLE.set(before);
    result
}

/// As many schedules as the environment asks for.
fn scaled(schedules: usize) -> usize {
    match factor() {
        Some(factor) => schedules * factor,
        None if WHOLE.get() => schedules,
        None => schedules.div_ceil(4),
    }
}

/// By how much the environment multiplies the checks. Nothing, if it does not say: then each model is
/// checked for a moment, as suits somebody who tries all tests for the first time. CI says 1.
fn factor() -> Option<usize> {
    const NAME: &str = "MANYCORE_SCHEDULES";
    let value = std::env::var(NAME).ok()?;
    match value.parse() {
        Ok(factor) if factor > 0 => Some(factor),
        _ => panic!("{NAME}={value}: expected how many times as many schedules to try, from 1"),
    }
}

/// Runs `member` on `threads` threads of the model, the calling one as number
/// 0, and returns when all have.
///
/// # Panics
///
/// With the panic of member 0, or if the platform refuses a thread. How
/// another member's panic ends a model is the checker's business.
///
/// ```
/// use manycore_check::team;
/// use manycore_platform::Native;
/// use std::sync::Mutex;
///
/// let seen = Mutex::new(vec![]);
/// team::<Native>(3, |rank| seen.lock().unwrap().push(rank));
/// assert_eq!(seen.into_inner().unwrap().len(), 3);
/// ```
pub fn team<P: Platform>(threads: usize, member: impl Fn(usize) + Sync) {
    let member: &(dyn Fn(usize) + Sync) = &member;
    // SAFETY: every thread that has the reference is joined before `team`
    // returns or unwinds, which is before `member` dies; except where the
    // model has failed, and then none of its threads runs on.
    let member: &'static (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(member) };
    team_of::<P>(threads, member);
}

fn team_of<P: Platform>(threads: usize, member: &'static (dyn Fn(usize) + Sync)) {
    let spawn = |rank| {
        let spec = ThreadSpec {
            name: format!("member {rank}"),
            ..ThreadSpec::default()
        };
        P::spawn(spec, Box::new(move || member(rank)))
    };
    let others: Vec<_> = (1..threads).map(spawn).collect();
    let first = catch_unwind(AssertUnwindSafe(|| member(0)));
    // Joining may panic too, where the first panic was the end of the model.
    let rest = catch_unwind(AssertUnwindSafe(|| {
        let mut started = Ok(());
        for other in others {
            started = started.and(other.map(P::join));
        }
        started.expect("the platform makes the threads of a team");
    }));
    if let Err(payload) = first.and(rest) {
        resume_unwind(payload);
    }
}

/// Runs a model that is broken on purpose under random schedules until one schedule shows the
/// fault, and returns the checker's message. It tries enough schedules to miss a fault of one
/// schedule in 10,000 only once in 10^8 runs. With a fixed number, as [`shuttle_random`] has, such
/// a test would sometimes fail for no reason.
///
/// # Panics
///
/// When 200,000 schedules pass: the check cannot fail.
///
/// ```
/// use manycore_check::{Shuttle, caught_at_random, team};
/// use manycore_platform::{Atomic, Ordering::SeqCst, Platform};
///
/// let why = caught_at_random(|| {
///     let sum = <Shuttle as Platform>::AtomicU32::new(0);
///     team::<Shuttle>(2, |_| sum.store(sum.load(SeqCst) + 1, SeqCst));
///     assert_eq!(sum.load(SeqCst), 2, "an increment is lost");
/// });
/// assert!(why.contains("an increment is lost"));
/// ```
pub fn caught_at_random(model: impl Fn() + Send + Sync + 'static) -> String {
    caught(|| shuttle_boxed(200_000, None, Box::new(model)))
}

/// Runs a model that is broken on purpose and returns what the checker said.
///
/// # Panics
///
/// When the model passes: the check cannot fail.
///
/// ```
/// use manycore_check::{Loom, caught, loom_model, team};
/// use manycore_platform::{Atomic, Ordering::SeqCst, Platform};
///
/// let why = caught(|| {
///     loom_model(None, || {
///         let sum = <Loom as Platform>::AtomicU32::new(0);
///         team::<Loom>(2, |_| sum.store(sum.load(SeqCst) + 1, SeqCst));
///         assert_eq!(sum.load(SeqCst), 2, "an increment is lost");
///     });
/// });
/// assert!(why.contains("an increment is lost"));
/// ```
pub fn caught<R>(model: impl FnOnce() -> R) -> String {
    match exhaustively(|| catch_unwind(AssertUnwindSafe(model))) {
        Ok(_) => panic!("the broken variant passed its check"),
        Err(payload) => message_of(payload),
    }
}

fn message_of(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload
            .downcast_ref::<&str>()
            .map_or_else(|| "a panic without a message".into(), ToString::to_string),
    }
}
