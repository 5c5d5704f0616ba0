//! Linux: an asymmetric fence by `membarrier`, where the kernel grants it.
//!
//! `membarrier(PRIVATE_EXPEDITED)` returns when every thread of the process
//! that was running has executed a full barrier; one that was not has passed
//! one in the scheduler. So around a light fence, which keeps the compiler from
//! moving anything across it, a heavy fence finds each thread either wholly
//! before it, its stores visible, or wholly after, its loads yet to come.
//!
//! Sandboxes may refuse the call. Nobody relies on it until it was granted:
//! light fences are real ones until [`GRANTED`] is set, and that is set only
//! after the process is registered, from when on heavy fences make the call.

use rustix::thread::{MembarrierCommand, MembarrierQuery, membarrier, membarrier_query};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};

/// Light fences may be light.
static GRANTED: AtomicBool = AtomicBool::new(false);

#[inline(always)]
pub(super) fn light() {
    // Relaxed: whoever reads `true` does so after the registration, which is
    // all that `heavy` needs; it asks `are_light` itself.
    if GRANTED.load(Ordering::Relaxed) {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

pub(super) fn heavy() {
    // A fence for this thread too: the call is one, but the language does not
    // know it.
    fence(Ordering::SeqCst);
    if are_light() {
        // Once registered, the call fails for no reason that could arise.
        let done = membarrier(MembarrierCommand::PrivateExpedited);
        assert!(done.is_ok(), "membarrier, once granted, failed: {done:?}");
        fence(Ordering::SeqCst);
    }
}

/// Whether the kernel grants the call; asked once.
pub(super) fn are_light() -> bool {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    *REGISTERED.get_or_init(|| {
        let granted = !cfg!(miri)
            && membarrier_query().contains(MembarrierQuery::PRIVATE_EXPEDITED)
            && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
            && membarrier(MembarrierCommand::PrivateExpedited).is_ok();
        GRANTED.store(granted, Ordering::SeqCst);
        granted
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    /// Dekker's two writes and two reads: never does either side miss the
    /// other. (On x86-64 without any fence it does, within a few rounds.)
    #[test]
    fn one_of_two_sees_the_other() {
        const ROUNDS: u32 = 2_000;
        let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
        let (saw_x, saw_y) = (AtomicU32::new(0), AtomicU32::new(0));
        let turn = std::sync::Barrier::new(2);
        heavy();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1..=ROUNDS {
                    turn.wait();
                    x.store(round, Ordering::Relaxed);
                    light();
                    saw_y.store(y.load(Ordering::Relaxed), Ordering::Relaxed);
                    turn.wait();
                }
            });
            for round in 1..=ROUNDS {
                turn.wait();
                y.store(round, Ordering::Relaxed);
                heavy();
                saw_x.store(x.load(Ordering::Relaxed), Ordering::Relaxed);
                turn.wait();
                let sees = |word: &AtomicU32| word.load(Ordering::Relaxed) == round;
                assert!(sees(&saw_x) || sees(&saw_y), "both missed in {round}");
            }
        });
    }
}
