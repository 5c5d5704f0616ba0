//! A caller that is watched, and a monitor that rescues its loop or ends.

use crate::pool::monitor::Monitor;
use crate::pool::watch::{Frame, LastSeen, Watched};
use manycore_check::{Faulty, Loom, NoFence, Plain, caught, loom_model, team};
use manycore_platform::{Atomic, Ordering, Platform, ThreadSpec};

const ITERATIONS: usize = 2;

/// A model of the loop in `loops/inline_run.rs`.
struct Run<P: Platform> {
    begun: P::AtomicUsize,
    end: P::AtomicUsize,
    /// How often each iteration was run.
    ran: [Plain<u32>; ITERATIONS],
    /// Whether the loop's record, the frame, is gone.
    gone: Plain<bool>,
}

impl<P: Platform> Run<P> {
    fn new() -> Self {
        Self {
            begun: P::AtomicUsize::new(0),
            end: P::AtomicUsize::new(ITERATIONS),
            ran: std::array::from_fn(|_| Plain::new(0)),
            gone: Plain::new(false),
        }
    }

    fn run(&self, iteration: usize) {
        self.ran[iteration].write(self.ran[iteration].read() + 1);
    }
}

/// The rescue. The monitor itself runs the iterations that other threads would run.
unsafe fn rescue<P: Platform>(of: *const ()) {
    // SAFETY: the run outlives the team.
    let run = unsafe { &*of.cast::<Run<P>>() };
    assert!(!run.gone.read(), "a frame that is gone");
    let begun = run.begun.load(Ordering::Relaxed);
    if begun < run.end.load(Ordering::Relaxed) {
        run.end.store(begun, Ordering::Relaxed);
        (begun..ITERATIONS).for_each(|iteration| run.run(iteration));
    }
}

/// A mistake of the caller.
#[derive(Clone, Copy, Debug, PartialEq)]
enum StepMistake {
    /// The caller notes an iteration only after the step.
    SaysLate,
    /// The caller leaves the frame without a step.
    JustLeaves,
}

fn each_iteration_runs_once<P: Platform>(mistake: Option<StepMistake>) {
    let run = Run::<P>::new();
    let watched = Watched::<P>::new();
    // The frame is leaked: with a mistake the monitor looks at it after its end.
    let frame = || {
        Box::leak(Box::new(Frame::<P>::new(
            rescue::<P>,
            (&raw const run).cast(),
        )))
    };
    team::<P>(2, |rank| match rank {
        0 => {
            let frame = frame();
            // SAFETY: the frame and the data of its rescue outlive the team.
            unsafe { watched.enter(frame) };
            for iteration in 0..ITERATIONS {
                let say = || run.begun.store(iteration + 1, Ordering::Relaxed);
                let late = mistake == Some(StepMistake::SaysLate);
                if !late {
                    say();
                }
                watched.step();
                if late {
                    say();
                }
                if iteration >= run.end.load(Ordering::Relaxed) {
                    break;
                }
                run.run(iteration);
            }
            if mistake != Some(StepMistake::JustLeaves) {
                watched.leave(frame);
            }
            run.gone.write(true);
        }
        _ => {
            let mut last = LastSeen::default();
            (0..2).for_each(|_| _ = watched.look(&mut last));
        }
    });
    for ran in &run.ran {
        assert_eq!(ran.read(), 1, "runs of an iteration");
    }
}

#[test]
fn each_iteration_runs_once_and_frames_stay() {
    loom_model(Some(3), || each_iteration_runs_once::<Loom>(None));
}

#[test]
fn each_mistake_of_a_step_is_caught() {
    for mistake in [StepMistake::SaysLate, StepMistake::JustLeaves] {
        let run = move || {
            loom_model(Some(3), move || {
                each_iteration_runs_once::<Loom>(Some(mistake))
            })
        };
        let why = caught(run);
        assert!(
            why.contains("an iteration") || why.contains("Causality") || why.contains("is gone"),
            "{mistake:?}: {why}"
        );
    }
    let fence = || {
        loom_model(Some(3), || {
            each_iteration_runs_once::<Faulty<Loom, NoFence>>(None)
        })
    };
    let why = caught(fence);
    assert!(
        why.contains("an iteration") || why.contains("Causality"),
        "{why}"
    );
}

/// The monitor ends while a caller relies on it.
fn no_caller_is_left_alone<P: Platform>() {
    let (watched, monitor) = (Watched::<P>::new(), Monitor::<P>::new());
    assert!(monitor.begin());
    monitor.began(Some(
        P::spawn(ThreadSpec::default(), Box::new(|| ())).unwrap(),
    ));
    let run = Run::<P>::new();
    let frame = || Frame::<P>::new(rescue::<P>, (&raw const run).cast());
    let (relies, ended) = (Plain::new(false), Plain::new(false));
    team::<P>(2, |rank| match rank {
        0 => {
            let frame = frame();
            // SAFETY: no thread reads the frame, only whether there is one.
            unsafe { watched.enter(&frame) };
            relies.write(monitor.is_on());
        }
        _ => ended.write(monitor.end(|| watched.is_inside())),
    });
    monitor.join();
    assert!(!relies.read() || !ended.read(), "a caller is left alone");
}

#[test]
fn a_monitor_that_ends_leaves_no_caller_alone() {
    loom_model(None, no_caller_is_left_alone::<Loom>);
    let why = caught(|| loom_model(None, no_caller_is_left_alone::<Faulty<Loom, NoFence>>));
    assert!(why.contains("left alone"), "{why}");
}
