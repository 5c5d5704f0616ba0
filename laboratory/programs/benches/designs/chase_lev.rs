//! Chase and Lev's deque, with the orders of Le, Pop, Cohen and Zappa Nardelli (2013): the owner
//! lowers `bottom`, then reads `top`; a thief reads `top`, then `bottom`. Between the two accesses
//! both sides have a full fence, in one of three forms.

use crate::frame::{CAPACITY, Design, Header, Line, barrier, full};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering, compiler_fence, fence};

/// The fences between a side's two accesses: which side pays for them.
pub(crate) trait Order {
    const NAME: &'static str;
    fn available() -> bool {
        true
    }
    /// Writes `bottom`, ordered before the owner's next read.
    fn lower(bottom: &AtomicI64, to: i64);
    /// The thief's fence.
    fn thief() {
        fence(Ordering::SeqCst);
    }
}

/// Both sides execute a fence, as published.
pub(crate) struct Fence;

impl Order for Fence {
    const NAME: &'static str = "chase_lev_fence";
    #[inline(always)]
    fn lower(bottom: &AtomicI64, to: i64) {
        bottom.store(to, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }
}

/// The owner executes a swap. On x86 a swap is also a fence, and a cheaper one.
pub(crate) struct Swap;

impl Order for Swap {
    const NAME: &'static str = "chase_lev_swap";
    #[inline(always)]
    fn lower(bottom: &AtomicI64, to: i64) {
        bottom.swap(to, Ordering::SeqCst);
        // x86 needs no more. Elsewhere a swap orders less than a fence.
        #[cfg(not(target_arch = "x86_64"))]
        fence(Ordering::SeqCst);
    }
}

/// The thief makes every thread execute a fence. The owner only keeps the compiler from exchanging the two accesses.
pub(crate) struct Asymmetric;

impl Order for Asymmetric {
    const NAME: &'static str = "chase_lev_asymmetric";
    fn available() -> bool {
        barrier::available()
    }
    #[inline(always)]
    fn lower(bottom: &AtomicI64, to: i64) {
        bottom.store(to, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }
    fn thief() {
        barrier::everywhere();
    }
}

struct Owner {
    bottom: AtomicI64,
    /// A lower bound of `top`.
    top_seen: Cell<i64>,
}

pub(crate) struct ChaseLev<O> {
    owner: Line<Owner>,
    top: Line<AtomicI64>,
    slots: [AtomicPtr<Header>; CAPACITY],
    order: PhantomData<O>,
}

impl<O> ChaseLev<O> {
    #[inline(always)]
    fn slot(&self, index: i64) -> &AtomicPtr<Header> {
        &self.slots[index as usize % CAPACITY]
    }

    /// The job is the last job, or was stolen.
    #[cold]
    fn pop_last(&self, top: i64, bottom: i64) -> bool {
        // SeqCst: one order contains this exchange and the thieves' reads of both words.
        let won = top == bottom
            && self
                .top
                .0
                .compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed)
                .is_ok();
        // The slot counts as used in either case, since `top` never falls.
        self.owner.0.bottom.store(bottom + 1, Ordering::Relaxed);
        won
    }
}

impl<O: Order> Design for ChaseLev<O> {
    const NAME: &'static str = O::NAME;

    fn available() -> bool {
        O::available()
    }

    fn new() -> Self {
        let (bottom, top_seen) = (AtomicI64::new(0), Cell::new(0));
        Self {
            owner: Line(Owner { bottom, top_seen }),
            top: Line::default(),
            slots: std::array::from_fn(|_| AtomicPtr::default()),
            order: PhantomData,
        }
    }

    #[inline(always)]
    unsafe fn push(&self, job: *const Header) {
        let owner = &self.owner.0;
        let bottom = owner.bottom.load(Ordering::Relaxed);
        if bottom - owner.top_seen.get() >= CAPACITY as i64 {
            owner.top_seen.set(self.top.0.load(Ordering::Relaxed));
            if bottom - owner.top_seen.get() >= CAPACITY as i64 {
                full();
            }
        }
        self.slot(bottom).store(job.cast_mut(), Ordering::Relaxed);
        // Release: a thread that sees the new bottom sees the slot and the frame.
        owner.bottom.store(bottom + 1, Ordering::Release);
    }

    #[inline(always)]
    unsafe fn pop(&self, _job: *const Header) -> bool {
        let bottom = self.owner.0.bottom.load(Ordering::Relaxed) - 1;
        O::lower(&self.owner.0.bottom, bottom);
        let top = self.top.0.load(Ordering::Relaxed);
        top < bottom || self.pop_last(top, bottom)
    }

    unsafe fn steal(&self, _own: &Self) -> Option<*const Header> {
        // Acquire: if the slot is used again, the thief reads a value that is not older than `top`.
        let top = self.top.0.load(Ordering::Acquire);
        // A plain look comes first: an empty deque is not worth a fence.
        if top >= self.owner.0.bottom.load(Ordering::Relaxed) {
            return None;
        }
        O::thief();
        // Acquire pairs with the release in `push`.
        if top >= self.owner.0.bottom.load(Ordering::Acquire) {
            return None;
        }
        // This read is before the exchange, since after it the slot may be used again.
        let job = self.slot(top).load(Ordering::Relaxed);
        self.top
            .0
            .compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed)
            .is_ok()
            .then_some(job.cast_const())
    }
}
