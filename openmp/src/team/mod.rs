//! A team: the threads that run a parallel region together. This folder has their shared data and the state of each
//! thread.

pub(crate) mod arrivals;
pub(crate) mod barrier;
mod carrier;
#[cfg(test)]
mod checked;
pub(crate) mod context;
#[cfg(target_arch = "x86_64")]
pub(crate) mod copies;
pub(crate) mod hot;
#[cfg(target_arch = "x86_64")]
pub(crate) mod pushed;
pub(crate) mod share;
mod slot;

pub(crate) use carrier::Carrier;

use crate::environment::icv::{Bind, Icv};
use crate::environment::places::Partition;
use crate::task::{Group, Outlined, Tasks};
use crate::words::bell::Bell;
use arrivals::Arrivals;
use barrier::Barrier;
use manycore_platform::{CachePadded, Native};
use share::{SLOTS, Share};
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

/// The description of a region. The thread that begins the region writes this before the other members start.
#[derive(Clone)]
pub(crate) struct Region {
    pub(crate) function: Option<Outlined>,
    pub(crate) data: *mut c_void,
    /// The control variables that the implicit tasks of the members inherit.
    pub(crate) icv: Icv,
    /// The number of nested regions, including this region. `active_level` does not count regions of one member.
    pub(crate) level: u32,
    pub(crate) active_level: u32,
    /// The team of the enclosing region, and the number of the member of that team that began this region.
    pub(crate) parent: *const Team,
    pub(crate) parent_id: u32,
    /// The taskgroup in which the members begin the region, for reductions over tasks.
    pub(crate) group: Option<Arc<Group>>,
    pub(crate) league: (u32, u32),
    /// The place of the thread that begins the region.
    pub(crate) place: Option<u32>,
    /// The partition of that thread outside of the region.
    pub(crate) partition: Option<Partition>,
    pub(crate) bind: Bind,
    /// Whether each member prints a line about itself and its CPUs.
    pub(crate) displayed: bool,
    pub(crate) in_final: bool,
    /// Whether the region begins in a work share, which its leader has made.
    pub(crate) shared: bool,
    /// The number of threads that are in regions of the same contention group, if that number is limited.
    pub(crate) busy: Option<Arc<AtomicU32>>,
}

/// See the module.
pub(crate) struct Team {
    pub(crate) size: u32,
    /// The carrier of the members, if they are ranks (threads that workers of `carry` execute).
    pub(crate) carrier: Option<&'static dyn Carrier>,
    region: UnsafeCell<Region>,
    /// The number of the region. It changes when the members may begin the region.
    pub(crate) epoch: CachePadded<AtomicU32>,
    /// The number of members, without the leader, that have ended the region. `endings` counts them by group first.
    ended: CachePadded<AtomicU32>,
    endings: Arrivals<Native>,
    pub(crate) dismissed: AtomicBool,
    pub(crate) barrier: Barrier,
    pub(crate) shares: [Share; SLOTS as usize],
    /// The number of `single` constructs of this region that a member has taken.
    pub(crate) singles: CachePadded<AtomicU32>,
    cancelled: AtomicBool,
    /// The phase of the barrier at the last cancellation of a work share, plus 1. 0 if no share was cancelled.
    shares_cancelled: AtomicU64,
    pub(crate) tasks: Tasks,
    /// The bell that is rung when a waiting member may have to go on.
    pub(crate) bell: Bell,
    /// The bell that is rung when the leader, which waits at the end of the region, may have to go on. It does not wake
    /// members that wait for the next region.
    pub(crate) end: Bell,
}

// SAFETY: all fields except `region` are `Sync` and `Send`. The leader writes `region` while no other member is in the
// region. Members read it after they have seen the next epoch, which the leader writes after `region`. The pointers in
// `region` lead to the region's function and data and to the enclosing team. The compiler made the function and the
// data to be shared. The enclosing team outlives the region.
unsafe impl Sync for Team {}
// SAFETY: no field is bound to the thread that has made the team, so any member may drop the last `Arc`.
unsafe impl Send for Team {}

impl Team {
    pub(crate) fn new(size: u32, carrier: Option<&'static dyn Carrier>) -> Self {
        Self {
            size,
            carrier,
            region: UnsafeCell::new(Region {
                function: None,
                data: ptr::null_mut(),
                icv: crate::environment::settings().icv,
                level: 0,
                active_level: 0,
                parent: ptr::null(),
                parent_id: 0,
                group: None,
                league: (0, 1),
                place: None,
                partition: None,
                bind: Bind::False,
                displayed: false,
                in_final: false,
                shared: false,
                busy: None,
            }),
            epoch: CachePadded::new(AtomicU32::new(0)),
            ended: CachePadded::new(AtomicU32::new(0)),
            endings: Arrivals::new(size - 1),
            dismissed: AtomicBool::new(false),
            barrier: Barrier::new(size),
            shares: std::array::from_fn(|slot| Share::new(slot as u32)),
            singles: CachePadded::new(AtomicU32::new(0)),
            cancelled: AtomicBool::new(false),
            shares_cancelled: AtomicU64::new(0),
            tasks: Tasks::new(size),
            bell: Bell::new(),
            end: Bell::new(),
        }
    }

    /// The team of a thread outside of regions. The thread is its only member.
    pub(crate) fn alone() -> Arc<Self> {
        Arc::new(Self::new(1, None))
    }

    pub(crate) fn region(&self) -> &Region {
        // SAFETY: `region` is written only while no member except the leader is in the region.
        unsafe { &*self.region.get() }
    }

    /// Prepares the team for a region. The leader calls this while no other member is in a region.
    pub(crate) fn prepare(&self, region: Region) {
        // SAFETY: all other members wait for the next epoch.
        unsafe { *self.region.get() = region };
        // Relaxed: the epoch publishes these stores.
        self.ended.store(0, Relaxed);
        self.singles.store(0, Relaxed);
        self.shares_cancelled.store(0, Relaxed);
        if self.is_cancelled() {
            self.cancelled.store(false, Relaxed);
            // Without a cancellation all members have arrived at each barrier, and the barrier needs no reset.
            self.barrier.reset();
        }
        for (slot, share) in self.shares.iter().enumerate() {
            share.reset(slot as u32);
        }
    }

    /// Drops what the region of this team held, since the region is over.
    pub(crate) fn finish(&self) {
        // SAFETY: all other members wait for the next epoch.
        unsafe { (*self.region.get()).group = None };
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, SeqCst);
        self.bell.ring();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(SeqCst)
    }

    pub(crate) fn cancel_shares(&self) {
        self.shares_cancelled
            .store(u64::from(self.barrier.phase()) + 1, SeqCst);
    }

    /// The member of a team of one calls this at a barrier. In other teams the next phase of the barrier ends the
    /// cancellation, but the barrier of a team of one has no phases.
    pub(crate) fn forget_cancelled_shares(&self) {
        // Relaxed: no other thread reads the word.
        self.shares_cancelled.store(0, Relaxed);
    }

    pub(crate) fn are_shares_cancelled(&self) -> bool {
        self.shares_cancelled.load(SeqCst) == u64::from(self.barrier.phase()) + 1
    }

    /// Opens the barrier if all members have arrived and no task is left.
    #[inline]
    pub(crate) fn try_open(&self) {
        self.barrier.try_open(&self.tasks, &self.bell);
    }

    /// Counts that member `id`, which is not the leader, has ended the region.
    pub(crate) fn end_member(&self, id: u32) {
        let counted = self.endings.come(id - 1);
        // The leader waits for all members, so only the last member rings.
        if counted != 0 && self.ended.fetch_add(counted, SeqCst) + counted == self.size - 1 {
            self.end.ring_after_rmw();
        }
    }

    /// Wakes waiting members and the leader, which may have to go on. The caller has made a task ready or ended a task,
    /// by a read-modify-write.
    #[inline]
    pub(crate) fn ring_for_tasks(&self) {
        self.bell.ring_after_rmw();
        self.end.ring_after_rmw();
    }

    /// Whether all members but the leader have ended the region.
    #[inline]
    pub(crate) fn is_ended(&self) -> bool {
        self.ended.load(SeqCst) == self.size - 1
    }
}
