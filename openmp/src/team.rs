//! A team: the threads that run a parallel region together, and what they share.

use crate::barrier::Barrier;
use crate::bell::Bell;
use crate::context::Context;
use crate::icv::{Bind, Icv};
use crate::line::Line;
use crate::share::{Plan, SLOTS, Share};
use crate::task::{Group, Tasks};
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32};

/// A function that the compiler made of a construct's body.
pub(crate) type Outlined = unsafe extern "C" fn(*mut c_void);

/// What a region is: written by the thread that begins it, before the others are let in.
#[derive(Clone)]
pub(crate) struct Region {
    pub(crate) function: Option<Outlined>,
    pub(crate) data: *mut c_void,
    /// What the members' tasks inherit.
    pub(crate) icv: Icv,
    /// Regions around, this one included; those of one member do not count as active.
    pub(crate) level: u32,
    pub(crate) active_level: u32,
    /// The team around, and which of its members began this region.
    pub(crate) parent: *const Team,
    pub(crate) parent_id: u32,
    /// The taskgroup that the members begin in, for reductions over tasks.
    pub(crate) group: Option<Arc<Group>>,
    pub(crate) league: (u32, u32),
    /// The place of the thread that begins it.
    pub(crate) place: Option<u32>,
    pub(crate) bind: Bind,
    pub(crate) in_final: bool,
    /// Whether it begins in a work share, which its leader has made.
    pub(crate) shared: bool,
}

/// See the module.
pub(crate) struct Team {
    pub(crate) size: u32,
    /// Whether its members are carried.
    pub(crate) is_carried: bool,
    region: UnsafeCell<Region>,
    /// Which region it is; changes when the members are let in.
    pub(crate) epoch: Line<AtomicU32>,
    /// Members that have ended the region.
    pub(crate) ended: Line<AtomicU32>,
    pub(crate) dismissed: AtomicBool,
    pub(crate) barrier: Line<Barrier>,
    pub(crate) shares: [Share; SLOTS as usize],
    /// Singles that somebody has taken.
    pub(crate) singles: Line<AtomicU32>,
    cancelled: AtomicBool,
    /// The phase between barriers, plus 1, in which work shares were cancelled last.
    shares_cancelled: AtomicU32,
    pub(crate) tasks: Tasks,
    /// Rings when a member may have to go on.
    pub(crate) bell: Bell,
}

// SAFETY: the region is written by its leader while no other member is in, and what it points to
// is made to be shared, or read only.
unsafe impl Sync for Team {}
// SAFETY: the same.
unsafe impl Send for Team {}

impl Team {
    pub(crate) fn new(size: u32, is_carried: bool) -> Self {
        Self {
            size,
            is_carried,
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
                bind: Bind::False,
                in_final: false,
                shared: false,
            }),
            epoch: Line(AtomicU32::new(0)),
            ended: Line(AtomicU32::new(0)),
            dismissed: AtomicBool::new(false),
            barrier: Line(Barrier::new()),
            shares: std::array::from_fn(|slot| Share::new(slot as u32)),
            singles: Line(AtomicU32::new(0)),
            cancelled: AtomicBool::new(false),
            shares_cancelled: AtomicU32::new(0),
            tasks: Tasks::new(size),
            bell: Bell::new(),
        }
    }

    /// What a thread is outside of regions.
    pub(crate) fn alone() -> Arc<Self> {
        Arc::new(Self::new(1, false))
    }

    pub(crate) fn region(&self) -> &Region {
        // SAFETY: written only while no member but its leader is in.
        unsafe { &*self.region.get() }
    }

    /// Makes ready for a region. The leader calls it while no other member is in.
    pub(crate) fn prepare(&self, region: Region) {
        // SAFETY: all others wait for the next epoch.
        unsafe { *self.region.get() = region };
        // Relaxed: published with the epoch.
        self.ended.store(0, Relaxed);
        self.singles.store(0, Relaxed);
        self.cancelled.store(false, Relaxed);
        self.shares_cancelled.store(0, Relaxed);
        self.barrier.reset();
        for (slot, share) in self.shares.iter().enumerate() {
            share.reset(slot as u32);
        }
    }

    /// The region of this team is over: what it held is let go.
    pub(crate) fn finish(&self) {
        // SAFETY: all others wait for the next epoch.
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
            .store(self.barrier.phase() + 1, SeqCst);
    }

    pub(crate) fn are_shares_cancelled(&self) -> bool {
        self.shares_cancelled.load(SeqCst) == self.barrier.phase() + 1
    }

    /// The member comes to its next work share; see [`Share::come`].
    pub(crate) fn come(&self, context: &Context, make: impl FnOnce(&mut Plan, &Share)) -> bool {
        let seat = &context.seat;
        let number = seat.shares.get();
        seat.shares.set(number.wrapping_add(1));
        let share = &self.shares[(number % SLOTS) as usize];
        seat.share.set(share);
        seat.trip.set(0);
        seat.chunk.set((0, 0));
        share.come(number, &self.bell, context, make)
    }

    /// The member leaves the share that it came to last.
    pub(crate) fn leave(&self, context: &Context) {
        let seat = &context.seat;
        let number = seat.shares.get().wrapping_sub(1);
        seat.share.set(ptr::null());
        self.shares[(number % SLOTS) as usize].leave(number, self.size, &self.bell);
    }

    /// Runs one task that is ready, if there is one.
    pub(crate) fn run_any_task(&self, context: &Context) {
        if let Some(task) = self.tasks.take_any(context.id()) {
            crate::task::run(context, task);
        }
    }
}
