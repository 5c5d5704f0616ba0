//! How a post wakes a sleeper: the word that says whether anybody is worth waking.

use super::super::crowd::Crowd;
use super::Nearest;
use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};

/// A worker that waits for a stolen job and sleeps.
pub(super) const WAITER: u32 = 1;
/// A worker that may take anything and sleeps.
pub(super) const FREE: u32 = 1 << 15;
/// A worker has been woken for a job and has not begun to look.
pub(super) const WAKING: u32 = 1 << 31;
/// Always set where there are no light fences: a poster then looks twice, after a
/// fence.
pub(super) const FENCED: u32 = 1 << 30;
/// A place has no worker: one is to be had if nobody sleeps.
pub(super) const VACANT: u32 = 1 << 29;
/// Either kind of sleeper.
pub(super) const SLEEPERS: u32 = VACANT - 1;

/// Sleepers of both kinds, of the word `callable`.
pub(super) fn sleepers(word: u32) -> u32 {
    let both = word & SLEEPERS;
    both / FREE + both % FREE
}

/// Places whose workers sleep, or that have none. One that is being woken does not sleep.
pub(super) fn absent(word: u32) -> u32 {
    let (vacant, waking) = (word & VACANT != 0, word & WAKING != 0);
    (sleepers(word) + u32::from(vacant)).saturating_sub(u32::from(waking))
}

impl<P: Platform> Nearest<P> {
    /// Wakes somebody for a job that was just posted, unless somebody is on the
    /// way already. `true`: nobody sleeps, and a place is vacant.
    #[cold]
    #[inline(never)]
    pub(super) fn call(&self, near: usize) -> bool {
        // Relaxed: ordered after the post by the poster's fence.
        let mut word = self.callable.load(Ordering::Relaxed);
        if word & FENCED != 0 {
            // As the light fence in `posted`.
            P::fence(Ordering::SeqCst);
            word = self.callable.load(Ordering::Relaxed);
        }
        if word & WAKING != 0 {
            return false;
        }
        if word & SLEEPERS == 0 {
            return word & VACANT != 0;
        }
        let is_left = |crowd: &Crowd<P>| crowd.is_full(absent(word)) && crowd.is_watched();
        if self.crowd.as_ref().is_some_and(is_left) {
            return false;
        }
        // WAKING first, so that of many posters one does the work. Relaxed: the
        // word's own history decides, and the poster has fenced.
        let before = self.callable.fetch_or(WAKING, Ordering::Relaxed);
        if before & WAKING != 0 || self.wake_one(near, true) {
            return false;
        }
        // All were up. Meanwhile somebody may have lain down, and another poster
        // may have left that one to this call: look again. Acquire pairs with the
        // sleeper's being counted, so that it is found in bed.
        let word = self.callable.fetch_and(!WAKING, Ordering::Acquire);
        let woken = word & SLEEPERS != 0 && self.wake_one(near, true);
        !woken && word & VACANT != 0
    }

    pub(super) fn wake_one(&self, near: usize, called: bool) -> bool {
        // Sleepers that may take anything come first; one that waits for a stolen job
        // may find that this one is none of its business.
        for free in [true, false] {
            if let Some(worker) = self.beds.rouse_near(near, free, called) {
                self.beds.parker(worker).wake();
                return true;
            }
        }
        false
    }
}
