//! The barrier inside of a region, which is also where members run tasks.
//!
//! One word: how many members have arrived, in the low half, and how often all have, in the high
//! half. The thread that finds all members arrived and no task left opens the barrier, by one
//! exchange, which succeeds once. A member looks for that after its arrival, and a thread after each task that
//! was the last: arrivals and the count of tasks are sequentially consistent, so that of the last
//! arrival and the last task's end at least one sees the other.

use crate::context::Context;
use crate::team::Team;
use manycore_platform::{Native, Platform};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

pub(crate) struct Barrier(AtomicU64);

const ARRIVED: u64 = 0xffff_ffff;

impl Barrier {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// For the next region: nobody has arrived.
    pub(crate) fn reset(&self) {
        self.0.store(0, SeqCst);
    }

    /// How often all have arrived.
    pub(crate) fn phase(&self) -> u32 {
        (self.0.load(SeqCst) >> 32) as u32
    }

    /// Opens it if all have arrived and nothing is left to do.
    #[inline]
    pub(crate) fn try_open(&self, team: &Team) {
        let now = self.0.load(SeqCst);
        if now & ARRIVED != u64::from(team.size) || team.tasks.live() != 0 {
            return;
        }
        let next = ((now >> 32) + 1) << 32;
        if self.0.compare_exchange(now, next, SeqCst, SeqCst).is_ok() {
            team.bell.ring_after_rmw();
        }
    }

    /// Arrives and opens it by one exchange, if all others have arrived and nothing is left to do:
    /// between two, those who wait would take the line away. Threads only.
    #[inline]
    fn open_at_once(&self, team: &Team) -> bool {
        Native::prefetch_write(std::ptr::from_ref(self).cast());
        let now = self.0.load(SeqCst);
        if now & ARRIVED != u64::from(team.size) - 1 || team.tasks.live() != 0 {
            return false;
        }
        let next = ((now >> 32) + 1) << 32;
        let opened = self.0.compare_exchange(now, next, SeqCst, SeqCst).is_ok();
        if opened {
            team.bell.ring_after_rmw();
        }
        opened
    }

    /// The caller has arrived last: nobody else is anywhere between two barriers.
    fn open_as_last(&self, context: &Context, team: &Team) {
        let site = context.site.replace(0);
        if !team.is_carried {
            return self.try_open(team);
        }
        if team.tasks.live() != 0 {
            crate::carry::miss_episode();
            return self.try_open(team);
        }
        crate::carry::open_episode(site, false);
        self.try_open(team);
        crate::carry::make_room(context);
    }

    /// Waits for all, and runs tasks meanwhile. With `cancellable` it returns early, and says
    /// `true`, if the region is cancelled.
    pub(crate) fn wait(&self, context: &Context, team: &Team, cancellable: bool) -> bool {
        if team.size == 1 {
            while team.tasks.live() != 0 {
                team.run_any_task(context);
            }
            return cancellable && team.is_cancelled();
        }
        if cancellable && team.is_cancelled() {
            return true;
        }
        if team.is_carried {
            crate::carry::arrive(context);
        } else if self.open_at_once(team) {
            context.site.set(0);
            return cancellable && team.is_cancelled();
        }
        let before = self.0.fetch_add(1, SeqCst);
        let opened = || self.0.load(SeqCst) >> 32 != before >> 32;
        if before & ARRIVED == u64::from(team.size) - 1 {
            self.open_as_last(context, team);
        }
        loop {
            if opened() {
                return cancellable && team.is_cancelled();
            }
            if cancellable && team.is_cancelled() {
                return true;
            }
            if team.tasks.has_ready() {
                team.run_any_task(context);
                continue;
            }
            team.bell.wait_until(context, &|| {
                opened() || team.tasks.has_ready() || (cancellable && team.is_cancelled())
            });
        }
    }
}
