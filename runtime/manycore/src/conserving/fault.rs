//! Faults that a test can insert into the pool, to see that the check finds them.
//!
//! Production code has the fault in a line that exists only in tests:
//!
//! ```ignore
//! #[cfg(test)]
//! let called = called && !crate::conserving::fault::is(Fault::DeafNap);
//! ```

use std::cell::Cell;

/// A fault of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A worker that waits for an expected loop ignores a call for a job.
    DeafNap,
    /// If a loop is predicted to be short, its caller runs it alone, however long it takes.
    SerialForEver,
    /// A waiting thread keeps its permit (the right to run jobs), whatever jobs are pending.
    NoReserve,
    /// A thread that waits in another pool offers its permits only once.
    OneOffer,
    /// No worker takes permit 0 while no caller has it.
    EmptyCallerSlot,
    /// In a pool with more threads than cores, the watchdog (the sleeper that keeps watch) never gets up.
    SleepySentry,
    /// A woken worker stays on the core where it fell asleep.
    StaysBehind,
    /// The pool has no monitor.
    Unwatched,
    /// A loop never invites more than one cluster.
    FewForEver,
    /// The caller of a loop posts it with the permit that the caller had before the first iterations.
    StaleRank,
    /// A worker that has stood aside looks for work with its former permit.
    StaleAside,
    /// A worker that the allotment does not allow to run keeps its permit although jobs were sent to it.
    UnreadMail,
    /// A caller that leaves with another permit does not wake the holder of permit 0.
    UntoldHolder,
    /// The growth of an allotment wakes no workers that sleep in a wait.
    UnheardGrowth,
    /// Every loop that is long enough is shared. This is not a fault, but a baseline.
    AlwaysShared,
    /// No loop is shared. This is another baseline.
    AlwaysSerial,
    /// A long mean of ratios decides whether to share. In this mean, one bad run may count as much as fifteen good
    /// runs.
    MeanDecides,
    /// The pool gets the handle of a new thread late. This is not a fault by itself.
    SlowStart,
    /// As `SlowStart`, and `end_threads` does not wait for threads that are being started.
    UncountedStart,
    /// The system refuses each thread that is to take over a permit. This is not a fault by itself.
    Refusals,
}

/// The faults that random programs find, each with a seed that found it. A test tries this seed first,
/// and then others of the same mixture.
pub(super) const ALL: [(Fault, u64); 5] = [
    (Fault::DeafNap, 65),
    (Fault::SerialForEver, 2),
    (Fault::NoReserve, 10),
    (Fault::EmptyCallerSlot, 10),
    (Fault::SleepySentry, 17),
];

/// The faults that the programs of [`moving`](super::moving) find, each with a seed as in [`ALL`].
pub(super) const MOVED: [(Fault, u64); 5] = [
    (Fault::StaleRank, 717),
    (Fault::StaleAside, 82),
    (Fault::UnreadMail, 104),
    (Fault::UntoldHolder, 199),
    (Fault::UnheardGrowth, 4),
];

thread_local! {
    /// One host thread simulates a machine. So a fault affects the whole machine, and no other test.
    static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
}

/// Whether the pool must have `fault`.
pub(crate) fn is(fault: Fault) -> bool {
    FAULT.get() == Some(fault)
}

/// Runs `test` with pools that have `fault`.
pub(crate) fn with<R>(fault: Fault, test: impl FnOnce() -> R) -> R {
    /// Removes the fault, even if `test` panics.
    struct Restore(Option<Fault>);
    impl Drop for Restore {
        fn drop(&mut self) {
            FAULT.set(self.0);
        }
    }
    let _before = Restore(FAULT.replace(Some(fault)));
    test()
}

#[test]
fn a_fault_ends_with_its_test() {
    assert!(ALL.into_iter().all(|(fault, _)| !is(fault)));
    with(Fault::DeafNap, || {
        assert!(is(Fault::DeafNap));
        assert!(!is(Fault::SerialForEver));
    });
    assert!(ALL.into_iter().all(|(fault, _)| !is(fault)));
}
