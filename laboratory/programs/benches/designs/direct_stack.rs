//! A direct task stack: jobs keep their place in the owner's array until they are joined. One word
//! holds `top` and `limit`. The jobs from `top` to `limit` are public. The owner takes back a job at
//! or above `limit` with a store, a compiler fence and a load. All other steps change the word by an
//! exchange.
//!
//! A thief that finds no public job *trips* the owner: it sets `limit` above every index, so the
//! owner's next pop goes the slow way and publishes the oldest job. If the owner does not pop within
//! a microsecond, the thief *raises* the limit: it marks the word as its own, makes every thread pass
//! a fence, and reads `bottom`. Either this `bottom` includes the owner's last pop, or the owner's
//! next pop sees the mark. So the thief can take a job below `bottom` by an exchange. The owner's
//! slow way changes the word, so that this exchange fails.
//!
//! With `GATED`, the thief that trips also shuts a gate. Every push looks at the gate instead of the
//! array's length, so a push also publishes the oldest job. Then an owner that pushes and computes
//! for long has left a job to steal.

use crate::frame::{CAPACITY, Design, Header, Line, barrier, full, ticks, ticks_per_us};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, compiler_fence};

/// Limits above every index.
const TRIPPED: u32 = u32::MAX;
const RAISED: u32 = u32::MAX - 1;

struct Shared {
    word: AtomicU64,
    /// A lock: one thief at a time raises, so that no other thief has marked the word that it exchanges.
    raising: AtomicBool,
    /// Pushes at this index or above go the slow way. It is the array's length, or 0.
    gate: AtomicU32,
}

pub(crate) struct DirectStack<const GATED: bool> {
    bottom: Line<AtomicU32>,
    shared: Line<Shared>,
    /// The time from which this worker, as a thief, waits for a tripped owner to publish a job.
    since: Line<Cell<u64>>,
    patience: u64,
    slots: [AtomicPtr<Header>; CAPACITY],
}

fn pack(top: u32, limit: u32) -> u64 {
    u64::from(top) << 32 | u64::from(limit)
}

fn unpack(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

impl<const GATED: bool> DirectStack<GATED> {
    /// AcqRel: each thread that changes the word sees what the thread before it saw.
    fn exchange(&self, seen: u64, top: u32, limit: u32) -> bool {
        let (new, word) = (pack(top, limit), &self.shared.0.word);
        word.compare_exchange(seen, new, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// The job is public or was stolen, or a thief wants a job.
    #[cold]
    fn pop_slow(&self, index: u32) -> bool {
        loop {
            let seen = self.shared.0.word.load(Ordering::Relaxed);
            let (top, limit) = unpack(seen);
            if index < top {
                self.bottom.0.store(index + 1, Ordering::Relaxed);
                return false;
            }
            // Sets the limit to this job's index or below. If a thief wants a job, the oldest job
            // becomes public, unless it is this job.
            let wanted = limit >= RAISED;
            let limit = if wanted { index.min(top + 1) } else { index };
            if self.exchange(seen, top, limit) {
                return true;
            }
        }
    }

    /// The array is full, or a thief wants a job and there is a job now.
    #[cold]
    fn push_slow(&self, index: u32) {
        if index as usize >= CAPACITY {
            full();
        }
        let Shared { word, gate, .. } = &self.shared.0;
        gate.store(CAPACITY as u32, Ordering::Relaxed);
        let seen = word.load(Ordering::Relaxed);
        let (top, limit) = unpack(seen);
        // If this fails, a thief has changed the word meanwhile, and takes the job itself.
        if limit >= RAISED {
            self.exchange(seen, top, top + 1);
        }
    }

    /// Takes the oldest job of an owner that does not pop, without its help.
    #[cold]
    fn raise(&self) -> Option<*const Header> {
        let Shared { word, raising, .. } = &self.shared.0;
        // Acquire, and Release below, since this is a lock.
        if raising.swap(true, Ordering::Acquire) {
            return None;
        }
        let seen = word.load(Ordering::Relaxed);
        let (top, limit) = unpack(seen);
        let mut job = None;
        if limit == TRIPPED && self.exchange(seen, top, RAISED) {
            barrier::everywhere();
            // Acquire pairs with the release in `push`.
            let has_one = self.bottom.0.load(Ordering::Acquire) > top;
            let new_top = top + u32::from(has_one);
            if self.exchange(pack(top, RAISED), new_top, new_top) && has_one {
                job = Some(self.job(top));
            }
        }
        raising.store(false, Ordering::Release);
        job
    }

    /// Returns a job that this thread has just won. Its place is not used again before it is joined.
    fn job(&self, index: u32) -> *const Header {
        self.slots[index as usize].load(Ordering::Relaxed)
    }
}

impl<const GATED: bool> Design for DirectStack<GATED> {
    const NAME: &'static str = if GATED {
        "direct_stack, gated"
    } else {
        "direct_stack"
    };

    fn available() -> bool {
        barrier::available()
    }

    fn new() -> Self {
        let (word, raising) = (AtomicU64::new(0), AtomicBool::new(false));
        Self {
            bottom: Line::default(),
            shared: Line(Shared {
                word,
                raising,
                gate: AtomicU32::new(CAPACITY as u32),
            }),
            since: Line::default(),
            patience: ticks_per_us(),
            slots: std::array::from_fn(|_| AtomicPtr::default()),
        }
    }

    #[inline(always)]
    unsafe fn push(&self, job: *const Header) {
        let bottom = self.bottom.0.load(Ordering::Relaxed);
        let gate = if GATED {
            self.shared.0.gate.load(Ordering::Relaxed)
        } else {
            CAPACITY as u32
        };
        let slot = bottom as usize % CAPACITY;
        self.slots[slot].store(job.cast_mut(), Ordering::Relaxed);
        // Release: a thread that sees the new bottom sees the slot and the frame.
        self.bottom.0.store(bottom + 1, Ordering::Release);
        if bottom >= gate {
            self.push_slow(bottom);
        }
    }

    #[inline(always)]
    unsafe fn pop(&self, _job: *const Header) -> bool {
        let index = self.bottom.0.load(Ordering::Relaxed) - 1;
        self.bottom.0.store(index, Ordering::Relaxed);
        // This fence restrains the compiler. The fence in `raise` restrains the processor.
        compiler_fence(Ordering::SeqCst);
        let (_, limit) = unpack(self.shared.0.word.load(Ordering::Relaxed));
        index >= limit || self.pop_slow(index)
    }

    unsafe fn settle(&self) {
        let index = self.bottom.0.load(Ordering::Relaxed) - 1;
        self.bottom.0.store(index, Ordering::Relaxed);
        loop {
            let seen = self.shared.0.word.load(Ordering::Relaxed);
            // A trip stays. A raise is cancelled.
            let limit = match unpack(seen) {
                (_, TRIPPED) => TRIPPED,
                _ => index,
            };
            if self.exchange(seen, index, limit) {
                return;
            }
        }
    }

    unsafe fn steal(&self, own: &Self) -> Option<*const Header> {
        let seen = self.shared.0.word.load(Ordering::Relaxed);
        let (top, limit) = unpack(seen);
        let now = ticks();
        if limit < RAISED {
            own.since.0.set(now);
            if top < limit {
                let won = self.exchange(seen, top + 1, limit);
                return won.then(|| self.job(top));
            }
            self.exchange(seen, top, TRIPPED);
            if GATED {
                self.shared.0.gate.store(0, Ordering::Relaxed);
            }
            return None;
        }
        if self.bottom.0.load(Ordering::Relaxed) <= top {
            own.since.0.set(now);
            return None;
        }
        (now.wrapping_sub(own.since.0.get()) > own.patience).then(|| self.raise())?
    }
}
