//! Variants of the two modes: one that loom can exhaust, and two with other fences.

use super::super::discipline::{AsPublished, Discipline, Sound};
use crate::sleep::Mode;
use manycore::seam::Scan;
use manycore_platform::{Ordering, Platform};
use std::marker::PhantomData;
use std::time::Duration;

/// The mode `D` without the yields, the 32 rounds of searches, and the watchdog, which would hide a lost
/// wake-up from loom.
pub(super) struct Brief<D>(PhantomData<D>);

impl<D: Discipline> Discipline for Brief<D> {
    const MODE: Mode = D::MODE;
    const ROUNDS: u32 = 0;
    const WATCHDOG: Option<Duration> = None;

    fn pause<P: Platform>() {}

    fn after_push<P: Platform>() {
        D::after_push::<P>();
    }

    fn before_last_look<P: Platform>() {
        D::before_last_look::<P>();
    }

    fn work_waits(scan: &dyn Scan) -> bool {
        D::work_waits(scan)
    }

    fn awake(inactive: u32, sleeping: u32) -> u32 {
        D::awake(inactive, sleeping)
    }
}

/// The published mode, with the fence that its poster lacks. (The sleeper has a fence, but does not look at deques
/// after this fence.)
pub(super) struct FencedPoster;

impl Discipline for FencedPoster {
    const MODE: Mode = Mode::AsPublished;
    const WATCHDOG: Option<Duration> = None;

    fn after_push<P: Platform>() {
        P::fence(Ordering::SeqCst);
    }

    fn before_last_look<P: Platform>() {
        AsPublished::before_last_look::<P>();
    }

    fn work_waits(scan: &dyn Scan) -> bool {
        AsPublished::work_waits(scan)
    }

    fn awake(inactive: u32, sleeping: u32) -> u32 {
        AsPublished::awake(inactive, sleeping)
    }
}

/// The sound mode without its fences.
pub(super) struct LooksUnfenced;

impl Discipline for LooksUnfenced {
    const MODE: Mode = Mode::Sound;
    const WATCHDOG: Option<Duration> = None;

    fn after_push<P: Platform>() {}

    fn before_last_look<P: Platform>() {}

    fn work_waits(scan: &dyn Scan) -> bool {
        Sound::work_waits(scan)
    }

    fn awake(inactive: u32, sleeping: u32) -> u32 {
        Sound::awake(inactive, sleeping)
    }
}
