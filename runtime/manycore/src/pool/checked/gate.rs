//! Checks that a helper uses the loop's frame, which is on its caller's stack, only while the frame exists.

use crate::pool::gate::Gate;
use manycore_check::{
    Fault, Faulty, Loom, NoFence, Plain, Relaxed, TornAdd, caught, loom_model, team,
};
use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};

/// A gate of the check, sound or broken.
trait GateKind: Sync {
    fn open(&self);
    fn join(&self) -> bool;
    fn leave_closed(&self);
    fn close(&self);
    fn is_empty(&self) -> bool;
}

impl<P: Platform> GateKind for Gate<P> {
    fn open(&self) {
        self.open();
    }

    fn join(&self) -> bool {
        self.join().is_ok()
    }

    fn leave_closed(&self) {
        // No thread sleeps in this check.
        let _ = self.leave_closed();
    }

    fn close(&self) {
        self.close();
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

/// One caller runs `loops` loops behind one gate. Each of `helpers` tries to join once, at any time. The frame and the
/// results are plain memory. So loom reports a helper that may use the frame after the caller has taken the frame back.
/// It also reports a result that is not visible to the caller when the gate is empty.
fn frame_outlives_helpers<D: GateKind>(make: impl Fn() -> D, helpers: usize, loops: u32) {
    const DEAD: u32 = 0;
    let gate = make();
    let frame = Plain::new(DEAD);
    let results: Vec<_> = (0..helpers).map(|_| Plain::new(DEAD)).collect();
    team::<Loom>(1 + helpers, |rank| {
        if rank > 0 {
            if gate.join() {
                let number = frame.read();
                assert_ne!(number, DEAD, "joined a loop that is over");
                results[rank - 1].write(number);
                gate.leave_closed();
            }
            return;
        }
        for number in 1..=loops {
            frame.write(number);
            gate.open();
            gate.close();
            while !gate.is_empty() {
                Loom::yield_now();
            }
            frame.write(DEAD);
            for result in &results {
                assert!(result.read() <= number, "a result from a loop to come");
            }
        }
    });
}

#[test]
fn one_helper_and_three_loops() {
    loom_model(None, || frame_outlives_helpers(Gate::<Loom>::new, 1, 3));
}

/// This test has a bound on preemptions. The next test has none, and takes minutes.
#[test]
fn two_helpers() {
    loom_model(Some(3), || frame_outlives_helpers(Gate::<Loom>::new, 2, 1));
}

/// This tries 3.7 million interleavings.
#[test]
#[ignore = "takes ten minutes; run by ci/long.sh ignored"]
fn two_helpers_without_bound() {
    loom_model(None, || frame_outlives_helpers(Gate::<Loom>::new, 2, 1));
}

#[test]
fn two_helpers_and_two_loops() {
    loom_model(Some(3), || frame_outlives_helpers(Gate::<Loom>::new, 2, 2));
}

#[test]
fn each_fault_of_the_atomics_is_caught() {
    fn fails<F: Fault>(helpers: usize) {
        let why = caught(|| {
            loom_model(Some(3), move || {
                frame_outlives_helpers(Gate::<Faulty<Loom, F>>::new, helpers, 1);
            })
        });
        println!("{}: {why}", std::any::type_name::<F>());
    }
    // Helper and caller miss each other.
    fails::<NoFence>(1);
    // The frame is not there yet, or the result is not.
    fails::<Relaxed>(1);
    // Two helpers count as one.
    fails::<TornAdd>(2);
}

/// A step that a gate can get wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum GateMistake {
    LooksBeforeCounting,
    FreesAtOnce,
    LeavesRelaxed,
    OpensRelaxed,
}

/// A second gate, which can have one mistake.
struct GateSketch {
    open: <Loom as Platform>::AtomicBool,
    count: <Loom as Platform>::AtomicU32,
    mistake: Option<GateMistake>,
}

impl GateSketch {
    fn with(mistake: Option<GateMistake>) -> Self {
        Self {
            open: Atomic::new(false),
            count: Atomic::new(0),
            mistake,
        }
    }

    /// Release, or relaxed if the gate has the mistake `relaxed`.
    fn release(&self, relaxed: GateMistake) -> Ordering {
        if self.mistake == Some(relaxed) {
            Ordering::Relaxed
        } else {
            Ordering::Release
        }
    }
}

impl GateKind for GateSketch {
    fn open(&self) {
        self.open
            .store(true, self.release(GateMistake::OpensRelaxed));
    }

    fn join(&self) -> bool {
        if self.mistake == Some(GateMistake::LooksBeforeCounting) {
            let came_in = self.open.load(Ordering::Acquire);
            if came_in {
                self.count.fetch_add(1, Ordering::Relaxed);
            }
            return came_in;
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        Loom::fence_after_rmw();
        let came_in = self.open.load(Ordering::Acquire);
        if !came_in {
            self.count.fetch_sub(1, Ordering::Release);
        }
        came_in
    }

    fn leave_closed(&self) {
        self.open.store(false, Ordering::Relaxed);
        self.count
            .fetch_sub(1, self.release(GateMistake::LeavesRelaxed));
    }

    fn close(&self) {
        self.open.swap(false, Ordering::Relaxed);
        Loom::fence_after_rmw();
    }

    fn is_empty(&self) -> bool {
        self.mistake == Some(GateMistake::FreesAtOnce) || self.count.load(Ordering::Acquire) == 0
    }
}

#[test]
fn each_wrong_step_is_caught() {
    let check = |mistake| {
        loom_model(None, move || {
            frame_outlives_helpers(|| GateSketch::with(mistake), 1, 1);
        })
    };
    check(None);
    for mistake in [
        GateMistake::LooksBeforeCounting,
        GateMistake::FreesAtOnce,
        GateMistake::LeavesRelaxed,
        GateMistake::OpensRelaxed,
    ] {
        println!("{mistake:?}: {}", caught(|| check(Some(mistake))));
    }
}
