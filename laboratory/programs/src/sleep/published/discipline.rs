//! The decisions of a policy's mode: fences, the last look before sleep, one subtraction and a
//! watchdog. It does not decide which words are touched.

use crate::sleep::Mode;
use manycore::seam::Scan;
use manycore_platform::{Ordering, Platform};
use std::time::Duration;

/// [`AsPublished`] or [`Sound`]; in the checks, also variants in between.
pub trait Discipline: Send + Sync + 'static {
    const MODE: Mode;

    /// Searches in vain, each followed by a yield, before a worker announces
    /// that it is sleepy.
    const ROUNDS: u32 = 32;

    /// Between two searches. (To loom a yield is the end of a turn, which would
    /// hide the interleavings in question; the checks leave it out.)
    fn pause<P: Platform>() {
        P::yield_now();
    }

    /// How long a sleeper sleeps before it looks whether it was forgotten.
    const WATCHDOG: Option<Duration>;

    /// Between a worker's push and its look at the counters.
    fn after_push<P: Platform>();

    /// Between a sleeper's being counted and its last look for work.
    fn before_last_look<P: Platform>();

    /// The last look.
    fn work_waits(scan: &dyn Scan) -> bool;

    /// How many of the inactive threads are awake.
    fn awake(inactive: u32, sleeping: u32) -> u32;
}

/// Mode: as its authors published it, lost wake-ups included.
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

    // Much longer than a job waits for a worker that is awake or being woken,
    // so that what it finds was forgotten; much shorter than a run, so that a
    // study goes on.
    const WATCHDOG: Option<Duration> = Some(Duration::from_millis(10));

    /// Nothing: the owner of a deque was thought to come back to it.
    #[inline(always)]
    fn after_push<P: Platform>() {}

    fn before_last_look<P: Platform>() {
        // Pairs with the fence of `injected`. For jobs on deques it does nothing, since the last
        // look does not read them.
        P::fence(Ordering::SeqCst);
    }

    fn work_waits(scan: &dyn Scan) -> bool {
        scan.injected()
    }

    /// Wraps if the two were read apart and do not fit: four billion awake, so no thread is woken.
    /// The published code does this in release builds and panics in debug builds, which are not
    /// measured.
    fn awake(inactive: u32, sleeping: u32) -> u32 {
        inactive.wrapping_sub(sleeping)
    }
}

/// Mode: the same words, and no wake-up lost.
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
        // On the path of every `join`: the cheap half.
        P::light_fence();
    }

    fn before_last_look<P: Platform>() {
        // The expensive half, for a thread with nothing better to do.
        P::heavy_fence();
    }

    fn work_waits(scan: &dyn Scan) -> bool {
        scan.anything()
    }

    /// Too few rather than too many: that wakes one in vain.
    fn awake(inactive: u32, sleeping: u32) -> u32 {
        inactive.saturating_sub(sleeping)
    }
}
