//! Runs a program on a runtime. Counts each leaf, times the calls, and records the longest wait of
//! a call for its first leaf.

use crate::mixtures::generate::Program;
use crate::mixtures::meeting::Meeting;
use crate::mixtures::step::{Leaves, Step, Through};
use crate::runtime::Runtime;
use crate::tasks;
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// The time after which the first of two meeting jobs stops waiting.
const PATIENCE: Duration = Duration::from_millis(50);

/// One run of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// The time that all callers together spent in calls.
    pub ms: f64,
    /// The longest time from a call to the start of its first leaf. For two jobs that meet, the
    /// start of the second job counts.
    pub longest_us: f64,
    /// The name of that call.
    pub longest_of: String,
}

/// The counters that all threads of one run write.
struct Tally {
    counts: Box<[AtomicU32]>,
    longest: Mutex<(Duration, &'static str)>,
}

impl Tally {
    fn new(leaves: usize) -> Self {
        Self {
            counts: (0..leaves).map(|_| AtomicU32::new(0)).collect(),
            longest: Mutex::new((Duration::ZERO, "none")),
        }
    }

    fn waited(&self, wait: Duration, what: &'static str) {
        let mut longest = self.longest.lock().expect("no holder panics");
        *longest = (*longest).max((wait, what));
    }
}

/// Runs the program once, each caller on its own thread.
///
/// # Errors
///
/// If a leaf was run more or less than once.
pub fn run<R: Runtime>(runtime: &R, program: &Program) -> Result<Run> {
    let tally = Arc::new(Tally::new(program.leaves));
    let spent = Mutex::new(Duration::ZERO);
    std::thread::scope(|scope| {
        for steps in &program.callers {
            let (tally, spent) = (&tally, &spent);
            scope.spawn(move || {
                let own = call(runtime, steps, tally);
                *spent.lock().expect("no holder panics") += own;
            });
        }
    });
    for (leaf, count) in tally.counts.iter().enumerate() {
        // Relaxed: every call has returned, and the message of every spawned job was received.
        let count = count.load(Relaxed);
        ensure!(count == 1, "leaf {leaf} was run {count} times");
    }
    let (longest, of) = *tally.longest.lock().expect("no holder panics");
    let spent = spent.into_inner().expect("no holder panics");
    Ok(Run {
        ms: spent.as_secs_f64() * 1e3,
        longest_us: longest.as_secs_f64() * 1e6,
        longest_of: of.to_owned(),
    })
}

/// Runs the steps of a caller. Returns the time without the gaps.
fn call<R: Runtime>(runtime: &R, steps: &[Step], tally: &Arc<Tally>) -> Duration {
    let mut spent = Duration::ZERO;
    for step in steps {
        let start = Instant::now();
        take(runtime, step, tally);
        if !step.is_gap() {
            spent += start.elapsed();
        }
    }
    spent
}

/// The leaves of one step while it runs.
struct Running<'a> {
    leaves: Leaves,
    tally: &'a Tally,
    name: &'static str,
    called: Instant,
    begun: AtomicBool,
}

impl<'a> Running<'a> {
    fn new(step: &Step, leaves: Leaves, tally: &'a Tally) -> Self {
        Self {
            leaves,
            tally,
            name: step.name(),
            called: Instant::now(),
            begun: AtomicBool::new(false),
        }
    }

    fn leaf(&self, i: usize) {
        // A load first, so that only the first leaves write the cache line.
        if !self.begun.load(Relaxed) && !self.begun.swap(true, Relaxed) {
            self.tally.waited(self.called.elapsed(), self.name);
        }
        // Relaxed: the count publishes no other memory.
        self.tally.counts[self.leaves.first + i].fetch_add(1, Relaxed);
        tasks::steps(&[self.leaves.work(i)]).run(0);
    }
}

fn take<R: Runtime>(runtime: &R, step: &Step, tally: &Arc<Tally>) {
    let running = |leaves: &Leaves| Running::new(step, *leaves, tally);
    match step {
        Step::Sleep { us } => std::thread::sleep(Duration::from_micros((*us).into())),
        Step::Compute { us } => tasks::busy(u64::from(*us) * 1000),
        Step::Loop(leaves) => {
            let running = running(leaves);
            runtime.parallel_for(leaves.n, |i| running.leaf(i));
        }
        Step::LoopOf(steps) => runtime.parallel_for(steps.len(), |i| {
            take(runtime, &steps[i], tally);
        }),
        Step::Tree(leaves) => tree(runtime, &running(leaves), 0, leaves.n),
        Step::Chain(leaves) => chain(runtime, &running(leaves), 0),
        Step::Join(both) => {
            let [a, b] = &**both;
            runtime.join(|| take(runtime, a, tally), || take(runtime, b, tally));
        }
        Step::Scope(leaves) => {
            let running = running(leaves);
            runtime.scope(leaves.n, |i| running.leaf(i));
        }
        Step::ScopeOf(steps) => runtime.scope(steps.len(), |i| take(runtime, &steps[i], tally)),
        Step::Spawn(leaves) => spawn(runtime, *leaves, tally),
        Step::Broadcast(leaves) => {
            let running = running(leaves);
            runtime.broadcast(|i| running.leaf(i));
        }
        Step::Install(steps) => {
            let called = Instant::now();
            runtime.install(|| {
                tally.waited(called.elapsed(), step.name());
                steps.iter().for_each(|step| take(runtime, step, tally));
            });
        }
        Step::Meet(through) => meet(runtime, *through, tally),
    }
}

fn tree<R: Runtime>(runtime: &R, running: &Running<'_>, from: usize, to: usize) {
    match to - from {
        0 => (),
        1 => running.leaf(from),
        n => {
            let middle = from + n / 2;
            runtime.join(
                || tree(runtime, running, from, middle),
                || tree(runtime, running, middle, to),
            );
        }
    }
}

fn chain<R: Runtime>(runtime: &R, running: &Running<'_>, from: usize) {
    if from < running.leaves.n {
        runtime.join(|| running.leaf(from), || chain(runtime, running, from + 1));
    }
}

fn spawn<R: Runtime>(runtime: &R, leaves: Leaves, tally: &Arc<Tally>) {
    let (tell, told) = mpsc::channel();
    for i in 0..leaves.n {
        let (tally, tell, called) = (Arc::clone(tally), tell.clone(), Instant::now());
        runtime.spawn(move || {
            if i == 0 {
                tally.waited(called.elapsed(), "spawn");
            }
            // Relaxed: the following message orders it before the caller's load.
            tally.counts[leaves.first + i].fetch_add(1, Relaxed);
            tasks::steps(&[leaves.work(i)]).run(0);
            // The caller waits for all messages, so the receiver exists.
            let _ = tell.send(());
        });
    }
    drop(tell);
    told.iter().for_each(drop);
}

fn meet<R: Runtime>(runtime: &R, through: Through, tally: &Tally) {
    let meeting = Meeting::call(PATIENCE);
    let wait = match through {
        Through::Join => {
            runtime.join(|| meeting.attend(), || meeting.attend());
            meeting.waited()
        }
        Through::Scope => {
            runtime.scope(2, |_| meeting.attend());
            meeting.waited()
        }
        Through::Spawn => {
            let (meeting, (tell, told)) = (Arc::new(meeting), mpsc::channel());
            for _ in 0..2 {
                let (meeting, tell) = (Arc::clone(&meeting), tell.clone());
                runtime.spawn(move || {
                    meeting.attend();
                    // The caller waits for all messages.
                    let _ = tell.send(());
                });
            }
            drop(tell);
            told.iter().for_each(drop);
            meeting.waited()
        }
    };
    tally.waited(wait, "meet");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mixtures::generate;
    use crate::mixtures::step::Skew;
    use crate::peer::{Manycore, Rayon, Session};

    #[test]
    fn both_runtimes_run_every_leaf_once() {
        for seed in 0..15 {
            let program = generate::program(seed, 3);
            run(&Manycore::new(3).unwrap(), &program).unwrap();
            run(&Rayon::new(3).unwrap(), &program).unwrap();
        }
    }

    /// Runs only loops, and their last iterations twice.
    struct Broken;

    impl Runtime for Broken {
        fn new(_: usize) -> Result<Self> {
            Ok(Self)
        }
        fn parallel_for(&self, n: usize, body: impl Fn(usize) + Send + Sync) {
            (0..n).chain(n.checked_sub(1)).for_each(body);
        }
        fn join(&self, _: impl FnOnce() + Send, _: impl FnOnce() + Send) {}
        fn scope(&self, _: usize, _: impl Fn(usize) + Send + Sync) {}
        fn spawn(&self, _: impl FnOnce() + Send + 'static) {}
        fn broadcast(&self, _: impl Fn(usize) + Send + Sync) {}
        fn install<R: Send>(&self, op: impl FnOnce() -> R + Send) -> R {
            op()
        }
        fn loops(&self, _: &str, _: Session<'_>) -> Result<()> {
            Ok(())
        }
        fn join_here<A: Send, B: Send>(
            a: impl FnOnce() -> A + Send,
            b: impl FnOnce() -> B + Send,
        ) -> (A, B) {
            (a(), b())
        }
    }

    #[test]
    fn leaves_run_twice_or_never_are_reported() {
        let leaves = Leaves {
            first: 0,
            n: 3,
            mean: 1,
            skew: Skew::Even,
        };
        let error = |step: Step| {
            let program = Program {
                kind: generate::Kind::All,
                callers: vec![vec![step]],
                leaves: 3,
            };
            run(&Broken, &program).unwrap_err().to_string()
        };
        assert_eq!(error(Step::Loop(leaves)), "leaf 2 was run 2 times");
        for step in [
            Step::Tree(leaves),
            Step::Chain(leaves),
            Step::Scope(leaves),
            Step::Spawn(leaves),
            Step::Broadcast(leaves),
        ] {
            assert_eq!(error(step), "leaf 0 was run 0 times");
        }
    }
}
