//! Work shares: loops, sections and copied singles that the members of a team divide.
//!
//! A team has a ring of them. Each member counts the shares that it has come to; the `n`th is slot
//! `n % SLOTS` of the ring, in the state `4 n + PHASE`:
//!
//! | phase | what | next |
//! |---|---|---|
//! | `FREE` | nobody has come to the `n`th share | the first member to come takes it to `MAKING` |
//! | `MAKING` | that member writes what the share is | and makes it `READY` |
//! | `READY` | all may take part | the last to leave makes it `FREE` for share `n + SLOTS` |
//!
//! Members may so be up to `SLOTS` shares apart, which loops without a final barrier allow; a
//! member that is further ahead waits. Each word's change is made by one member alone: the exchange
//! to `MAKING` succeeds once, and one member is the last to leave.

use crate::words::Carried;
use crate::words::bell::Bell;
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

pub(crate) const SLOTS: u32 = 8;

const FREE: u32 = 0;
const MAKING: u32 = 1;
const READY: u32 = 2;

/// How iterations are given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deal {
    /// A block for each member; with a chunk, chunks in turn.
    Static,
    Dynamic,
    Guided,
}

/// A loop's iterations, counted from 0: the `k`th value is `start + k * step`, wrapping. Signed
/// loops and unsigned ones are the same in these terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) step: u64,
    pub(crate) trips: u64,
}

impl Space {
    pub(crate) const EMPTY: Self = Self {
        start: 0,
        end: 0,
        step: 1,
        trips: 0,
    };

    /// The space of a signed loop.
    pub(crate) fn signed(start: i64, end: i64, step: i64) -> Self {
        let trips = if step > 0 && start < end {
            (end.wrapping_sub(start) as u64 - 1) / step as u64 + 1
        } else if step < 0 && start > end {
            (start.wrapping_sub(end) as u64 - 1) / step.unsigned_abs() + 1
        } else {
            0
        };
        Self {
            start: start as u64,
            end: end as u64,
            step: step as u64,
            trips,
        }
    }

    /// The space of an unsigned loop, which goes `up` or down.
    pub(crate) fn unsigned(up: bool, start: u64, end: u64, step: u64) -> Self {
        let trips = if up && start < end {
            (end - start - 1) / step + 1
        } else if !up && start > end {
            (start - end - 1) / step.wrapping_neg() + 1
        } else {
            0
        };
        Self {
            start,
            end,
            step,
            trips,
        }
    }

    /// The values between which iterations `from..to` are.
    pub(crate) fn values(&self, from: u64, to: u64) -> (u64, u64) {
        let value = |k: u64| self.start.wrapping_add(k.wrapping_mul(self.step));
        // The last value would pass the end, and perhaps the type's range.
        let end = if to == self.trips {
            self.end
        } else {
            value(to)
        };
        (value(from), end)
    }
}

/// A share's description, written by the member that makes it.
pub(crate) struct Plan {
    pub(crate) space: Space,
    pub(crate) deal: Deal,
    /// 0 with a static deal: a block for each member.
    pub(crate) chunk: u64,
    /// Whether it has to be given out by comparing, as an addition might pass the type's range.
    pub(crate) careful: bool,
    /// Whether it has ordered regions, where the program does not say so at each chunk.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "only programs of clang's ask")
    )]
    pub(crate) ordered: bool,
    /// Memory of the program's for the duration of the share (`mem` of `GOMP_loop_start`).
    pub(crate) memory: Vec<u64>,
    /// For a doacross loop: the sizes of its inner dimensions, and how far each iteration of
    /// the outermost one has come.
    pub(crate) inner: Vec<u64>,
    pub(crate) posted: Vec<AtomicU64>,
    /// Task reductions that the first member has registered.
    pub(crate) reductions: *mut usize,
}

/// One slot of the ring.
#[repr(align(64))]
pub(crate) struct Share {
    state: AtomicU32,
    left: AtomicU32,
    plan: UnsafeCell<Plan>,
    /// The data that copied singles broadcast.
    pub(crate) copied: AtomicPtr<u8>,
    pub(crate) claims: Claims,
}

/// Written by all members, on a line of its own.
#[repr(align(64))]
pub(crate) struct Claims {
    /// The next iteration that no member has.
    pub(crate) next: AtomicU64,
    /// The iteration whose ordered region is next.
    pub(crate) ordered: AtomicU64,
}

// SAFETY: only `plan` is neither `Sync` nor an atomic. In `MAKING` the one member whose exchange
// has succeeded writes it. In `READY`, which readers acquire, all read it. Its pointer is the
// compiler's description of reductions, which the member that registers it shares with all.
unsafe impl Sync for Share {}
// SAFETY: a plan belongs to no thread: any member may be the next to write it.
unsafe impl Send for Share {}

impl Share {
    pub(crate) fn new(slot: u32) -> Self {
        Self {
            state: AtomicU32::new(slot * 4 + FREE),
            left: AtomicU32::new(0),
            plan: UnsafeCell::new(Plan {
                space: Space::EMPTY,
                deal: Deal::Dynamic,
                chunk: 1,
                careful: false,
                ordered: false,
                memory: vec![],
                inner: vec![],
                posted: vec![],
                reductions: std::ptr::null_mut(),
            }),
            copied: AtomicPtr::new(std::ptr::null_mut()),
            claims: Claims {
                next: AtomicU64::new(0),
                ordered: AtomicU64::new(0),
            },
        }
    }

    /// For the first region of a team, or the next: no share has been come to.
    pub(crate) fn reset(&self, slot: u32) {
        // Relaxed: published with the region.
        self.state.store(slot * 4 + FREE, Relaxed);
        self.left.store(0, Relaxed);
    }

    /// The share's description; for members that are in it.
    pub(crate) fn plan(&self) -> &Plan {
        // SAFETY: in `READY`, which the member has acquired, no member writes it.
        unsafe { &*self.plan.get() }
    }

    /// The member comes to share number `number`. Whoever is first is handed the plan to `make`.
    /// Returns whether this was the first.
    pub(crate) fn come(
        &self,
        number: u32,
        bell: &Bell,
        carried: &Carried,
        make: impl FnOnce(&mut Plan),
    ) -> bool {
        let base = number.wrapping_mul(4);
        // Acquire: what the first member wrote, or what the last ones did in the share before.
        let mut state = self.state.load(Acquire);
        loop {
            if state == base + READY {
                return false;
            }
            if state == base + FREE {
                // Relaxed on failure: it is loaded again, below.
                match self
                    .state
                    .compare_exchange(state, base + MAKING, Acquire, Relaxed)
                {
                    Ok(_) => break,
                    Err(now) => state = now,
                }
                continue;
            }
            // A member has made it, or not all members have left the one of SLOTS shares ago.
            let moved = || {
                let state = self.state.load(Acquire);
                state == base + READY || state == base + FREE
            };
            bell.wait_until(carried, &moved);
            state = self.state.load(Acquire);
        }
        // Relaxed: published by the state.
        self.claims.next.store(0, Relaxed);
        self.claims.ordered.store(0, Relaxed);
        self.copied.store(std::ptr::null_mut(), Relaxed);
        // SAFETY: in `MAKING` this member has it alone.
        make(unsafe { &mut *self.plan.get() });
        // Release: the plan.
        self.state.swap(base + READY, AcqRel);
        bell.ring_after_rmw();
        true
    }

    /// The member leaves share number `number`, of a team of `size`.
    pub(crate) fn leave(&self, number: u32, size: u32, bell: &Bell) {
        // AcqRel: all have used the share when its slot is free for another.
        if self.left.fetch_add(1, AcqRel) + 1 == size {
            self.left.store(0, Relaxed);
            // Release: the slot as it is.
            let next = number.wrapping_add(SLOTS).wrapping_mul(4) + FREE;
            self.state.store(next, Release);
            bell.ring();
        }
    }

    /// The next iterations for member `id` of `size`, which has had `trip` blocks.
    pub(crate) fn claim(&self, id: u32, size: u32, trip: &Cell<u64>) -> Option<(u64, u64)> {
        let plan = self.plan();
        let (trips, size) = (plan.space.trips, u64::from(size));
        match plan.deal {
            Deal::Static => {
                let turn = trip.get();
                trip.set(turn + 1);
                if plan.chunk == 0 {
                    return (turn == 0)
                        .then(|| block(trips, u64::from(id), size))
                        .filter(|(from, to)| from < to);
                }
                let number = turn.checked_mul(size)?.checked_add(u64::from(id))?;
                let from = number.checked_mul(plan.chunk)?;
                (from < trips).then(|| (from, trips.min(from.saturating_add(plan.chunk))))
            }
            Deal::Dynamic if !plan.careful => {
                // Relaxed: it gives out iterations and publishes nothing else. A member asks no
                // more after the answer that none are left, so that the sum stays in the type's
                // range.
                let from = self.claims.next.fetch_add(plan.chunk, Relaxed);
                (from < trips).then(|| (from, trips.min(from + plan.chunk)))
            }
            Deal::Dynamic => self.claim_by(|_| plan.chunk),
            Deal::Guided => self.claim_by(|left| left.div_ceil(size).max(plan.chunk)),
        }
    }

    fn claim_by(&self, length: impl Fn(u64) -> u64) -> Option<(u64, u64)> {
        let trips = self.plan().space.trips;
        let mut from = self.claims.next.load(Relaxed);
        loop {
            if from >= trips {
                return None;
            }
            let to = from + length(trips - from).min(trips - from);
            match self
                .claims
                .next
                .compare_exchange_weak(from, to, Relaxed, Relaxed)
            {
                Ok(_) => return Some((from, to)),
                Err(now) => from = now,
            }
        }
    }
}

/// Member `id`'s block of `trips` iterations among `size` members: as compiled programs
/// divide them, the first ones have one more.
pub(crate) fn block(trips: u64, id: u64, size: u64) -> (u64, u64) {
    let (each, more) = (trips / size, trips % size);
    let from = id * each + id.min(more);
    (from, from + each + u64::from(id < more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_count_their_iterations() {
        assert_eq!(Space::signed(0, 10, 3).trips, 4);
        assert_eq!(Space::signed(10, 0, -3).trips, 4);
        assert_eq!(Space::signed(0, 0, 1).trips, 0);
        assert_eq!(Space::signed(5, 0, 1).trips, 0);
        assert_eq!(Space::signed(i64::MIN, i64::MAX, 1).trips, u64::MAX);
        assert_eq!(Space::signed(i64::MAX, i64::MIN, i64::MIN).trips, 2);
        assert_eq!(Space::unsigned(true, 0, u64::MAX, 2).trips, 1 << 63);
        assert_eq!(Space::unsigned(false, 10, 0, 3_u64.wrapping_neg()).trips, 4);
    }

    #[test]
    fn values_never_pass_the_end() {
        let space = Space::signed(i64::MAX - 5, i64::MAX, 4);
        assert_eq!(space.trips, 2);
        assert_eq!(space.values(1, 2), ((i64::MAX - 1) as u64, i64::MAX as u64));
    }

    #[test]
    fn blocks_cover_everything_once() {
        for trips in 0..40 {
            for size in 1..9 {
                let mut next = 0;
                for id in 0..size {
                    let (from, to) = block(trips, id, size);
                    assert_eq!(from, next);
                    next = to;
                }
                assert_eq!(next, trips);
            }
        }
    }
}
