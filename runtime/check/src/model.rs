//! Runs a model: exhaustively, at random, or expecting it to fail.
//!
//! A model is boxed at once, so that the long code that checks it is compiled here, and not for each model.

use ::shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use ::shuttle::{Config, MaxSteps, Runner};
use manycore_platform::{Platform, ThreadSpec};
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many interleavings are tried if the environment does not ask for all.
const FEW: usize = 5_000;
/// The seed of shuttle's schedules, so that a test passes always or never. `SHUTTLE_RANDOM_SEED` sets another.
const SEED: u64 = 1;
/// The most steps of a schedule. Usual schedules have fewer than 100,000. Under PCT, a schedule of threads that wait for
/// permits of several pools had 1.3 million: the priorities repeat one order of the threads, and in that order each
/// thread looks for a permit before the other thread offers it.
const MAX_STEPS: usize = 5_000_000;

thread_local! {
    /// Whether this thread tries all interleavings and schedules, whatever the environment says.
    static WHOLE: Cell<bool> = const { Cell::new(false) };
}

/// A model without its type.
type Model = Box<dyn Fn() + Send + Sync>;

/// Runs `model` under loom in every interleaving, or in every interleaving with at most `preemptions` interruptions of
/// a thread that could have continued. Prints and returns the number of interleavings. Without the environment
/// variable `MANYCORE_SCHEDULES` it ends after the first 5,000.
///
/// # Panics
///
/// Panics if an interleaving panics, deadlocks or has a data race.
///
/// ```
/// use manycore_check::{Loom, loom_model, team};
/// use manycore_platform::{Atomic, Ordering::Relaxed, Platform};
///
/// // The other thread's store comes before or after the load.
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

/// A bound for [`loom_model`], where one interruption more takes minutes: `usual` interruptions, and one more if the
/// environment variable `MANYCORE_SCHEDULES` is set, as in `.ci/run`.
///
/// ```
/// use manycore_check::{Loom, loom_model, preemptions, team};
///
/// assert_eq!(loom_model(preemptions(1), || team::<Loom>(1, |_| ())), 1);
/// ```
pub fn preemptions(usual: usize) -> Option<usize> {
    Some(usual + usize::from(factor().is_some()))
}

fn loom_boxed(preemptions: Option<usize>, model: Model) -> usize {
    let mut builder = ::loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    // Waits on the clock also take steps.
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

/// Runs `model` under shuttle in random schedules. Their number is `schedules` times the environment variable
/// `MANYCORE_SCHEDULES`, or a quarter of `schedules` without that variable. Prints and returns the number.
///
/// # Panics
///
/// Panics if a schedule panics, deadlocks or does not end. Then prints the schedule for `shuttle::replay`.
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

/// As [`shuttle_random`], with the PCT scheduler: threads run by priority, and priorities change at `depth` random
/// steps. This finds faults that need few interruptions that are far apart.
///
/// # Panics
///
/// Panics like [`shuttle_random`].
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

/// Uses the PCT scheduler if a depth is given.
fn shuttle_boxed(schedules: usize, depth: Option<usize>, model: Model) -> usize {
    match depth {
        None => run(RandomScheduler::new_from_seed(SEED, schedules), model),
        Some(depth) => run(PctScheduler::new_from_seed(SEED, depth, schedules), model),
    }
}

fn run(scheduler: impl Scheduler + 'static, model: Model) -> usize {
    let mut config = Config::new();
    // Unoptimised frames are large.
    config.stack_size = 256 << 10;
    // The warnings say that shuttle ignores orderings: so does `README.md`.
    config.silence_warnings = true;
    config.max_steps = MaxSteps::FailAfter(MAX_STEPS);
    let runs = Runner::new(scheduler, config).run(model);
    println!("shuttle: {runs} schedules, all good");
    runs
}

/// Runs `check`, with all interleavings and schedules of its models even without `MANYCORE_SCHEDULES`. For a check of
/// what all of them show together.
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

/// The number of schedules, or of other random trials, that the environment asks for; see [`shuttle_random`].
///
/// ```
/// assert!(manycore_check::scaled(100) >= 25);
/// ```
#[must_use]
pub fn scaled(schedules: usize) -> usize {
    match factor() {
        Some(factor) => schedules * factor,
        None if WHOLE.get() => schedules,
        None => schedules.div_ceil(4),
    }
}

/// The factor that the environment sets for the number of checks. Without it each model is checked for a moment, so
/// that a first run of all tests is short. CI sets 1.
fn factor() -> Option<usize> {
    const NAME: &str = "MANYCORE_SCHEDULES";
    let value = std::env::var(NAME).ok()?;
    match value.parse() {
        Ok(factor) if factor > 0 => Some(factor),
        _ => panic!("{NAME}={value}: expected a factor for the number of schedules, at least 1"),
    }
}

/// Runs `member` on `threads` threads of the model and returns when all have returned. The calling thread is number 0.
///
/// # Panics
///
/// Panics with the panic of member 0, or if the platform refuses a thread. The checker decides how another member's
/// panic ends a model.
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
    // SAFETY: `member` lives until `team` returns or unwinds, and before that every thread with the reference is
    // joined. If joining panics, the model has failed, and none of its threads runs on.
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
    // Joining may panic too, if the first panic has ended the model.
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

/// Runs a model that is broken on purpose under random schedules until one schedule shows the fault. Returns the
/// checker's message. If one schedule in 10,000 shows the fault, one seed in 10^8 misses it. With few schedules, as in
/// [`shuttle_random`], a test would fail with many seeds.
///
/// # Panics
///
/// Panics if 200,000 schedules pass: the check cannot fail.
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

/// Runs a model that is broken on purpose. Returns the checker's message.
///
/// # Panics
///
/// Panics if the model passes: the check cannot fail.
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
