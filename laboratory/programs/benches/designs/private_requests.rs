//! A private deque and steal requests, after Acar, Chargueraud and Rainey (2013). Only the owner touches its jobs. A
//! thief leaves its address. At the owner's next push, the owner puts its oldest job into the thief's mailbox.

use crate::frame::{CAPACITY, Design, Header, Line, full};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

struct Owner {
    /// Jobs below this index were given away.
    head: Cell<usize>,
    tail: Cell<usize>,
    /// The worker that the owner, as a thief, has asked for a job. Null if the owner awaits no answer.
    asked: Cell<*const PrivateRequests>,
}

pub(crate) struct PrivateRequests {
    owner: Line<Owner>,
    /// The thief that requests a job, or null.
    request: Line<AtomicPtr<PrivateRequests>>,
    /// The answer to the owner's own request: null until it comes.
    mailbox: Line<AtomicPtr<Header>>,
    slots: [Cell<*const Header>; CAPACITY],
}

/// The answer of a worker without jobs.
fn nothing() -> *mut Header {
    ptr::dangling_mut()
}

impl PrivateRequests {
    #[inline(always)]
    fn poll(&self) {
        if !self.request.0.load(Ordering::Relaxed).is_null() {
            self.answer();
        }
    }

    #[cold]
    fn answer(&self) {
        // Acquire: this thread sees the thief's empty mailbox.
        let thief = self.request.0.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: the pointer is null if the thief took its request back. Otherwise the thief waits, and the pool keeps
        // all workers until the last thread has ended.
        let Some(thief) = (unsafe { thief.as_ref() }) else {
            return;
        };
        let Owner { head, tail, .. } = &self.owner.0;
        let job = if head.get() < tail.get() {
            head.set(head.get() + 1);
            self.slots[head.get() - 1].get().cast_mut()
        } else {
            nothing()
        };
        // Release publishes the job's frame.
        thief.mailbox.0.store(job, Ordering::Release);
    }

    /// Returns the answer, if it has arrived.
    fn open_mailbox(&self) -> Option<*mut Header> {
        // Acquire: the thief sees the job's frame.
        let job = self.mailbox.0.load(Ordering::Acquire);
        if job.is_null() {
            return None;
        }
        self.mailbox.0.store(ptr::null_mut(), Ordering::Relaxed);
        self.owner.0.asked.set(ptr::null());
        Some(job)
    }
}

impl Design for PrivateRequests {
    const NAME: &'static str = "private_requests";

    fn new() -> Self {
        let (head, tail, asked) = (Cell::new(0), Cell::new(0), Cell::new(ptr::null()));
        Self {
            owner: Line(Owner { head, tail, asked }),
            request: Line::default(),
            mailbox: Line::default(),
            slots: std::array::from_fn(|_| Cell::new(ptr::null())),
        }
    }

    #[inline(always)]
    unsafe fn push(&self, job: *const Header) {
        let tail = self.owner.0.tail.get();
        let Some(slot) = self.slots.get(tail) else {
            full()
        };
        slot.set(job);
        self.owner.0.tail.set(tail + 1);
        self.poll();
    }

    #[inline(always)]
    unsafe fn pop(&self, _job: *const Header) -> bool {
        let Owner { head, tail, .. } = &self.owner.0;
        let kept = tail.get() > head.get();
        if kept {
            tail.set(tail.get() - 1);
        }
        kept
    }

    unsafe fn settle(&self) {
        let Owner { head, tail, .. } = &self.owner.0;
        tail.set(tail.get() - 1);
        head.set(tail.get());
    }

    unsafe fn steal(&self, own: &Self) -> Option<*const Header> {
        // Two workers that wait for each other answer each other.
        own.poll();
        if own.owner.0.asked.get().is_null() {
            // Release publishes the empty mailbox.
            let (nobody, me) = (ptr::null_mut(), ptr::from_ref(own).cast_mut());
            let request = &self.request.0;
            if request
                .compare_exchange(nobody, me, Ordering::Release, Ordering::Relaxed)
                .is_ok()
            {
                own.owner.0.asked.set(self);
            }
        }
        let job = own.open_mailbox()?;
        (job != nothing()).then_some(job.cast_const())
    }

    unsafe fn leave(&self) -> Option<*const Header> {
        // SAFETY: the pointer is null or a worker of the pool.
        let asked = unsafe { self.owner.0.asked.get().as_ref() }?;
        let (me, nobody) = (ptr::from_ref(self).cast_mut(), ptr::null_mut());
        let request = &asked.request.0;
        if request
            .compare_exchange(me, nobody, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
        {
            self.owner.0.asked.set(ptr::null());
            return None;
        }
        // The other worker is writing the answer.
        loop {
            if let Some(job) = self.open_mailbox() {
                return (job != nothing()).then_some(job.cast_const());
            }
            std::hint::spin_loop();
        }
    }
}
