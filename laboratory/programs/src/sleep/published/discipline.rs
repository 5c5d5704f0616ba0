//! The modes of a published sleep policy. A mode decides fences, the last look before sleep, a subtraction and a
//! watchdog, but not the counters.

use crate::sleep::Mode;
use manycore::seam::Scan;
use manycore_platform::{Ordering, Platform};
use std::time::Duration;

/// A mode: [`AsPublished`] or [`Sound`]. The model checks also have modes in between.
pub trait Discipline: Send + Sync + 'static {
    const MODE: Mode;

    /// The number of vain searches before a worker announces that it is sleepy. A yield follows each search.
    const ROUNDS: u32 = 32;

    /// Runs between two searches. (Model checks leave this out: loom ends a thread's turn at a yield, which would hide
    /// the relevant interleavings.)
    fn pause<P: Platform>() {
        P::yield_now();
    }

    /// How long a sleeper sleeps before it checks whether its wake-up was lost.
    const WATCHDOG: Option<Duration>;

    /// Runs between a worker's push and its look at the counters.
    fn after_push<P: Platform>();

    /// Runs after a sleeper is counted and before its last look for work.
    fn before_last_look<P: Platform>();

    /// Takes the last look. Returns whether there is work.
    fn work_waits(scan: &dyn Scan) -> bool;

    /// The number of inactive threads that are awake.
    fn awake(inactive: u32, sleeping: u32) -> u32;
}

/// The mode of policies as published, with lost wake-ups.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::sleep::Mode;
/// use manycore_programs::sleep::{published::{AsPublished, Published, Split}};
///
/// type Policy = Published<Native, Split, AsPublished>;
/// assert_eq!(Policy::MODE, Mode::AsPublished);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AsPublished;

impl Discipline for AsPublished {
    const MODE: Mode = Mode::AsPublished;

    // This time is much longer than a job waits for an awake or woken worker, so a job that still waits was forgotten.
    // It is much shorter than a run, so that a study continues.
    const WATCHDOG: Option<Duration> = Some(Duration::from_millis(10));

    /// There is no fence: the authors assumed that the owner of a deque returns to the deque.
    #[inline(always)]
    fn after_push<P: Platform>() {}

    fn before_last_look<P: Platform>() {
        // This fence pairs with the fence of `injected`. For jobs on deques it does nothing, since the last look does
        // not read deques.
        P::fence(Ordering::SeqCst);
    }

    fn work_waits(scan: &dyn Scan) -> bool {
        scan.injected()
    }

    /// Wraps if the counters were read at different times and do not fit together. Then four billion threads count as
    /// awake, and none is woken. The published code wraps in release builds and panics in debug builds, which are not
    /// measured.
    fn awake(inactive: u32, sleeping: u32) -> u32 {
        inactive.wrapping_sub(sleeping)
    }
}

/// The mode with the same counters and without lost wake-ups.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::sleep::Mode;
/// use manycore_programs::sleep::{published::{Published, Sound, Split}};
///
/// type Policy = Published<Native, Split, Sound>;
/// assert_eq!(Policy::MODE, Mode::Sound);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sound;

impl Discipline for Sound {
    const MODE: Mode = Mode::Sound;
    const WATCHDOG: Option<Duration> = None;

    #[inline(always)]
    fn after_push<P: Platform>() {
        // Every `join` runs this, so it is the cheap half.
        P::light_fence();
    }

    fn before_last_look<P: Platform>() {
        // This is the expensive half, which only an idle thread runs.
        P::heavy_fence();
    }

    fn work_waits(scan: &dyn Scan) -> bool {
        scan.anything()
    }

    /// If the counters do not fit together, the result is too small, and a post wakes a thread in vain.
    fn awake(inactive: u32, sleeping: u32) -> u32 {
        inactive.saturating_sub(sleeping)
    }
}
