//! The word of the caller slot (the right to be worker 0). The word says which thread holds worker 0's stack of jobs,
//! and which thread holds permit 0 (a right to run jobs).
//!
//! | bits | holder of worker 0's stack | holder of permit 0 |
//! |---|---|---|
//! | none | no thread | no thread, and no job needs one |
//! | CALLER | a caller | that caller |
//! | CALLER, HELD | a caller that waits, or has another permit by now | a thread of the pool |
//! | HELD | no thread | a thread of the pool |
//! | VACANT | no thread | no thread, and jobs may wait for a holder |
//!
//! NEEDED is set only together with CALLER. The caller then leaves by `Registry::leave_slowly`, which finds a thread
//! for permit 0 if jobs or ready workers need one.
//!
//! Two transitions need no lock, only one locked instruction each: a caller enters (none to CALLER) and leaves
//! (CALLER to none). Every other transition is a function of [`Word`] below, and [`CallerSlot::change`] makes
//! it, under the lock of [`Permits`](super::state::Permits). So while a thread holds the lock, other threads
//! change the word only between none and CALLER.

use manycore_platform::{Atomic, CachePadded, Ordering, Platform};

const CALLER: u32 = 1;
const HELD: u32 = 2;
const VACANT: u32 = 4;
const NEEDED: u32 = 8;

/// A value of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pool) struct Word(u32);

impl Word {
    pub(super) const EMPTY: Self = Self(0);

    /// Whether a caller has worker 0's stack.
    pub(in crate::pool) fn has_caller(self) -> bool {
        self.0 & CALLER != 0
    }

    /// Whether a thread of the pool has permit 0.
    pub(in crate::pool) fn is_held(self) -> bool {
        self.0 & HELD != 0
    }

    /// Whether a thread of the pool has permit 0 and no caller has the slot.
    pub(in crate::pool) fn is_held_alone(self) -> bool {
        self.0 == HELD
    }

    /// Whether the slot is vacant: the pool must find a thread for permit 0.
    pub(super) fn is_vacant(self) -> bool {
        self.0 & VACANT != 0
    }

    /// Whether a thread of the pool holds permit 0, or the pool will find a thread for it.
    pub(in crate::pool) fn is_attended(self) -> bool {
        self.0 & (HELD | VACANT | NEEDED) != 0
    }

    /// A detached task is about to be posted, so a thread must be ready to take permit 0.
    pub(super) fn attended(self) -> Self {
        match self {
            _ if self.is_attended() => self,
            _ if self.has_caller() => Self(self.0 | NEEDED),
            _ => Self(VACANT),
        }
    }

    /// No detached task is left.
    pub(super) fn unattended(self) -> Self {
        match self.0 {
            VACANT => Self::EMPTY,
            _ => self,
        }
    }

    /// A thread of the pool takes the vacant permit.
    pub(super) fn filled(self) -> Self {
        match self.0 {
            VACANT => Self(HELD),
            _ => self,
        }
    }

    /// A caller enters the vacant slot, and must see to the detached tasks when it leaves.
    pub(super) fn entered(self) -> Self {
        match self.0 {
            VACANT => Self(CALLER | NEEDED),
            _ => self,
        }
    }

    /// A thread of the pool takes the permit if it is free.
    pub(super) fn occupied(self) -> Self {
        match self.0 {
            0 | VACANT => Self(HELD),
            _ => self,
        }
    }

    /// As [`occupied`](Self::occupied). In addition, if a caller has the slot, it must look for jobs when it leaves.
    pub(super) fn summoned(self) -> Self {
        match self.0 {
            0 | VACANT => Self(HELD),
            _ if self.has_caller() => Self(self.0 | NEEDED),
            _ => self,
        }
    }

    /// The caller, which holds permit 0, gives that permit to a thread of the pool, and keeps the stack.
    pub(super) fn lent(self) -> Self {
        Self(self.0 | HELD)
    }

    /// The caller has permit 0 again. While a thread of the pool held it, posters did not set
    /// NEEDED. So the caller must look for jobs when it leaves.
    pub(super) fn regained(self) -> Self {
        Self(self.0 & !HELD | NEEDED)
    }

    /// The thread of the pool has left permit 0.
    pub(super) fn given_up(self) -> Self {
        Self(self.0 & !HELD)
    }

    /// The thread of the pool, which holds permit 0 without a caller, leaves the slot.
    pub(super) fn given_back(self) -> Self {
        match self.0 {
            HELD => Self::EMPTY,
            _ => self,
        }
    }

    /// The caller has left, and worker 0's stack is free. The bits for permit 0 stay.
    pub(super) fn left(self) -> Self {
        Self(self.0 & !(CALLER | NEEDED))
    }

    /// The caller, which held permit 0, has left, and detached tasks may wait.
    pub(super) fn left_vacant(self) -> Self {
        Self(self.left().0 | VACANT)
    }

    /// A thread wants a permit: an empty slot becomes vacant. If a caller has the slot, it must leave by
    /// `Registry::leave_slowly`.
    pub(super) fn wanted(self) -> Self {
        match self.0 {
            0 => Self(VACANT),
            _ if self.has_caller() => Self(self.0 | NEEDED),
            _ => self,
        }
    }

    /// The pool lets its threads end: an empty slot counts as taken, so that no caller enters.
    pub(super) fn closed(self) -> Self {
        match self.0 {
            0 => Self(CALLER),
            _ => self,
        }
    }
}

/// The caller slot.
pub(crate) struct CallerSlot<P: Platform>(CachePadded<P::AtomicU32>);

impl<P: Platform> CallerSlot<P> {
    pub(in crate::pool) fn new() -> Self {
        Self(CachePadded::new(P::AtomicU32::new(0)))
    }

    pub(in crate::pool) fn name(&self) {
        P::name(&self.0, "pool: caller slot");
    }

    /// A caller enters, if the slot is empty. Cost: one locked instruction.
    #[inline]
    pub(crate) fn take(&self) -> bool {
        // Acquire pairs with `leave` and `change`: all that the last holder did to the worker's cells is visible.
        // Relaxed on failure: the caller then does not use these cells.
        (self.0)
            .compare_exchange(0, CALLER, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// The caller leaves. Returns `false` if `Registry::leave_slowly` must do more. Cost: one
    /// locked instruction.
    #[inline]
    pub(crate) fn leave(&self) -> bool {
        // Release publishes the worker's cells to the next holder of the slot. A thread that needs a holder for permit
        // 0 sets a bit of this word, and then this exchange fails. So the caller needs no fence, and looks at no other
        // word.
        (self.0)
            .compare_exchange(CALLER, 0, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// Returns the word. Acquire, as in `take`.
    pub(in crate::pool) fn word(&self) -> Word {
        Word(self.0.load(Ordering::Acquire))
    }

    /// Whether permit 0 is free. Relaxed, since this is a hint.
    pub(in crate::pool) fn is_free(&self) -> bool {
        self.0.load(Ordering::Relaxed) & (CALLER | HELD) == 0
    }

    /// Whether the slot is vacant. Relaxed, since this is a hint.
    #[inline]
    pub(crate) fn is_vacant(&self) -> bool {
        Word(self.0.load(Ordering::Relaxed)).is_vacant()
    }

    /// Makes a transition, under the lock of `Permits`. Returns the words before and after it.
    #[inline(never)]
    pub(super) fn change(&self, to: fn(Word) -> Word) -> (Word, Word) {
        let mut before = self.word();
        loop {
            let after = to(before);
            if after == before {
                return (before, after);
            }
            // Acquire and release: the slot may be handed over in either direction. The exchange
            // fails if a caller came or went.
            match (self.0).compare_exchange(before.0, after.0, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return (before, after),
                Err(now) => before = Word(now),
            }
        }
    }
}
