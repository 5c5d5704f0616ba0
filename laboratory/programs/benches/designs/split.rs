//! A split deque, after Dinan and others (2009) and Rito and Paulino (2022): the lower part of one
//! array is public, and the upper part is private to the owner. A push that finds the public part
//! empty publishes the oldest private job with a plain store. To take back a public job, the owner
//! moves the boundary by an exchange.
//!
//! A job keeps its place until it is joined. So a thief reads the slot after it has won the job, and
//! a word that is equal to an earlier word does no harm.

use crate::frame::{CAPACITY, Design, Header, Line, full};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

struct Owner {
    bottom: Cell<u32>,
    /// The boundary, which only the owner moves.
    split: Cell<u32>,
}

pub(crate) struct Split {
    owner: Line<Owner>,
    /// `top` and the boundary. The jobs between them are public.
    word: Line<AtomicU64>,
    slots: [AtomicPtr<Header>; CAPACITY],
}

fn pack(top: u32, split: u32) -> u64 {
    u64::from(top) << 32 | u64::from(split)
}

fn unpack(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

impl Split {
    #[cold]
    fn take_back_public(&self, index: u32) -> bool {
        let word = &self.word.0;
        // Relaxed: thieves publish nothing by the word.
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let (top, _) = unpack(seen);
            if top > index {
                return false;
            }
            let new = pack(top, index);
            match word.compare_exchange(seen, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        self.owner.0.split.set(index);
        self.owner.0.bottom.set(index);
        true
    }
}

impl Design for Split {
    const NAME: &'static str = "split";

    fn new() -> Self {
        let (bottom, split) = (Cell::new(0), Cell::new(0));
        Self {
            owner: Line(Owner { bottom, split }),
            word: Line::default(),
            slots: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
        }
    }

    #[inline(always)]
    unsafe fn push(&self, job: *const Header) {
        let Owner { bottom, split } = &self.owner.0;
        let Some(slot) = self.slots.get(bottom.get() as usize) else {
            full()
        };
        slot.store(job.cast_mut(), Ordering::Relaxed);
        bottom.set(bottom.get() + 1);
        let (top, _) = unpack(self.word.0.load(Ordering::Relaxed));
        if top >= split.get() {
            // This is no exchange, since thieves change the word only while a job is public. Release
            // publishes the slots and frames.
            split.set(split.get() + 1);
            let word = pack(top, split.get());
            self.word.0.store(word, Ordering::Release);
        }
    }

    #[inline(always)]
    unsafe fn pop(&self, _job: *const Header) -> bool {
        let Owner { bottom, split } = &self.owner.0;
        let index = bottom.get() - 1;
        if index >= split.get() {
            bottom.set(index);
            return true;
        }
        self.take_back_public(index)
    }

    unsafe fn settle(&self) {
        let Owner { bottom, split } = &self.owner.0;
        bottom.set(bottom.get() - 1);
        split.set(bottom.get());
        // All jobs below were stolen and none is public, so no thief changes the word.
        let word = pack(bottom.get(), bottom.get());
        self.word.0.store(word, Ordering::Relaxed);
    }

    unsafe fn steal(&self, _own: &Self) -> Option<*const Header> {
        let word = &self.word.0;
        let seen = word.load(Ordering::Relaxed);
        let (top, split) = unpack(seen);
        if top >= split {
            return None;
        }
        // Acquire pairs with the release in `push`. Other thieves' exchanges continue its release
        // sequence.
        let new = pack(top + 1, split);
        word.compare_exchange(seen, new, Ordering::Acquire, Ordering::Relaxed)
            .ok()?;
        let slot = &self.slots[top as usize];
        Some(slot.load(Ordering::Relaxed).cast_const())
    }
}
