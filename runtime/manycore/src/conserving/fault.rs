//! Defects that a test can put into the pool, to see that the check finds them.
//!
//! Production code asks, where it would go wrong, in one line that exists in tests only:
//!
//! ```ignore
//! #[cfg(test)]
//! let called = called && !crate::conserving::fault::is(Fault::DeafNap);
//! ```

use std::cell::Cell;

/// A way in which a pool can be late without losing anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A worker that waits for an expected loop, and was called for a job, goes on to
    /// wait for the loop.
    DeafNap,
    /// A loop that is predicted to be short is run to its end by its caller, whatever the
    /// clock says.
    SerialForEver,
    /// A thread that waits keeps its permit, whatever lies there.
    NoReserve,
    /// A thread that waits in another pool offers its permits once.
    OneOffer,
    /// Nobody takes permit 0 while no caller does.
    EmptyCallerSlot,
    /// Where threads outnumber cores, the watchdog never gets up.
    SleepySentry,
    /// A woken worker stays on the core on which it fell asleep.
    StaysBehind,
    /// The pool has no monitor.
    Unwatched,
    /// A loop calls one cluster, and never more.
    FewForEver,
    /// A loop is posted under the permit that its caller had before its first iterations.
    StaleRank,
    /// A worker that has stood aside looks for work with the permit that it had before.
    StaleAside,
    /// A worker that waits beyond the allotment keeps its permit beside mail.
    UnreadMail,
    /// A caller that leaves from another permit does not tell the holder of permit 0.
    UntoldHolder,
    /// The growth of an allotment does not reach workers that sleep in a wait.
    UnheardGrowth,
    /// Every loop that is long enough is shared. No defect, but the one way that the other is compared with.
    AlwaysShared,
    /// No loop is shared.
    AlwaysSerial,
    /// A mean of ratios decides, and for long, in which one run counts as much as fifteen good ones.
    MeanDecides,
    /// The pool gets the handle of a thread that it starts late. No defect by itself.
    SlowStart,
    /// As `SlowStart`, and the end of the threads does not wait for threads that are being started.
    UncountedStart,
}

/// All of them. Each has a seed that found it once. A test tries this seed first, and then the others.
pub(super) const ALL: [(Fault, u64); 5] = [
    (Fault::DeafNap, 65),
    (Fault::SerialForEver, 2),
    (Fault::NoReserve, 10),
    (Fault::EmptyCallerSlot, 10),
    (Fault::SleepySentry, 17),
];

/// Those in which a thread goes on with a permit that it has no more, or what came to light with
/// them. Each has a seed, as in [`ALL`].
pub(super) const MOVED: [(Fault, u64); 5] = [
    (Fault::StaleRank, 717),
    (Fault::StaleAside, 82),
    (Fault::UnreadMail, 104),
    (Fault::UntoldHolder, 199),
    (Fault::UnheardGrowth, 4),
];

thread_local! {
    /// A machine is simulated by one host thread: what is set here is so for its whole
    /// machine, and for no other test.
    static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
}

/// Whether the pool is to have the defect `fault`.
pub(crate) fn is(fault: Fault) -> bool {
    FAULT.get() == Some(fault)
}

/// Runs `test` with pools that have the defect `fault`.
pub(crate) fn with<R>(fault: Fault, test: impl FnOnce() -> R) -> R {
    /// Takes the defect away, also when `test` panics.
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
