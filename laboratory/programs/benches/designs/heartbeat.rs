//! Heartbeat scheduling: joins stay in a private list. If a join looks at the clock and a beat has
//! passed, the owner promotes its oldest join to the single place where thieves look, if that place
//! is empty.

use crate::frame::{CAPACITY, Design, Header, Line, full, ticks, ticks_per_us};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

struct Owner {
    /// Jobs below this index were promoted.
    head: Cell<usize>,
    bottom: Cell<usize>,
    next_beat: Cell<u64>,
    beat: u64,
    /// Joins until the next look at the clock.
    skip: Cell<u32>,
}

/// A beat lasts `US` microseconds; every `EVERY`th join looks at the clock.
pub(crate) struct Heartbeat<const US: u64, const EVERY: u32> {
    owner: Line<Owner>,
    public: Line<AtomicPtr<Header>>,
    slots: [Cell<*const Header>; CAPACITY],
}

impl<const US: u64, const EVERY: u32> Heartbeat<US, EVERY> {
    #[cold]
    fn promote(&self, now: u64) {
        let owner = &self.owner.0;
        owner.next_beat.set(now + owner.beat);
        let head = owner.head.get();
        if head < owner.bottom.get() && self.public.0.load(Ordering::Relaxed).is_null() {
            owner.head.set(head + 1);
            // Release publishes the job's frame.
            let job = self.slots[head].get().cast_mut();
            self.public.0.store(job, Ordering::Release);
        }
    }

    /// Takes back a promoted job, if no thief has taken it.
    #[cold]
    fn take_back(&self, job: *const Header) -> bool {
        let (job, none) = (job.cast_mut(), ptr::null_mut());
        let public = &self.public.0;
        let won = public
            .compare_exchange(job, none, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok();
        if won {
            let Owner { head, bottom, .. } = &self.owner.0;
            bottom.set(bottom.get() - 1);
            head.set(bottom.get());
        }
        won
    }
}

impl<const US: u64, const EVERY: u32> Design for Heartbeat<US, EVERY> {
    const NAME: &'static str = match (US, EVERY) {
        (5, 1) => "heartbeat 5 us",
        (5, 16) => "heartbeat 5 us, clock every 16th join",
        (100, 1) => "heartbeat 100 us",
        _ => "heartbeat",
    };

    fn new() -> Self {
        let owner = Owner {
            head: Cell::new(0),
            bottom: Cell::new(0),
            next_beat: Cell::new(0),
            beat: US * ticks_per_us(),
            skip: Cell::new(EVERY),
        };
        Self {
            owner: Line(owner),
            public: Line::default(),
            slots: std::array::from_fn(|_| Cell::new(ptr::null())),
        }
    }

    #[inline(always)]
    unsafe fn push(&self, job: *const Header) {
        let owner = &self.owner.0;
        let bottom = owner.bottom.get();
        let Some(slot) = self.slots.get(bottom) else {
            full()
        };
        slot.set(job);
        owner.bottom.set(bottom + 1);
        if EVERY > 1 {
            let skip = owner.skip.get() - 1;
            owner.skip.set(skip);
            if skip > 0 {
                return;
            }
            owner.skip.set(EVERY);
        }
        let now = ticks();
        if now >= owner.next_beat.get() {
            self.promote(now);
        }
    }

    #[inline(always)]
    unsafe fn pop(&self, job: *const Header) -> bool {
        let Owner { head, bottom, .. } = &self.owner.0;
        if bottom.get() > head.get() {
            bottom.set(bottom.get() - 1);
            return true;
        }
        self.take_back(job)
    }

    unsafe fn settle(&self) {
        let Owner { head, bottom, .. } = &self.owner.0;
        bottom.set(bottom.get() - 1);
        head.set(bottom.get());
    }

    unsafe fn steal(&self, _own: &Self) -> Option<*const Header> {
        let public = &self.public.0;
        // A load first, so that waiting thieves do not move the cache line from core to core.
        if public.load(Ordering::Relaxed).is_null() {
            return None;
        }
        // Acquire: this thread sees the job's frame.
        let job = public.swap(ptr::null_mut(), Ordering::Acquire);
        (!job.is_null()).then_some(job.cast_const())
    }
}
