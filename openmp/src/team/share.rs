//! Work shares: loops, sections and `single copyprivate` constructs that the members of a team divide.
//!
//! A team has a ring of [`SLOTS`] slots. Each member counts the shares that it has entered. Share number `n` uses slot
//! `n % SLOTS` of the ring. The state of the slot is then `4 n + PHASE`:
//!
//! | phase | what | next |
//! |---|---|---|
//! | `FREE` | no member has entered share `n` | the first member to enter it sets `MAKING` |
//! | `MAKING` | that member writes the description of the share | that member sets `READY` |
//! | `READY` | all members may take part | the last member to leave sets `FREE` for share `n + SLOTS` |
//!
//! So members may be up to `SLOTS` shares apart, as loops without a final barrier allow. A member that is further ahead
//! waits. Only one member makes each change of a state: the exchange to `MAKING` succeeds once, the member that made
//! this exchange sets `READY`, and one member is the last to leave.

use crate::system::report::fatal;
use crate::words::Carried;
use crate::words::bell::Bell;
use std::alloc::{Layout, alloc_zeroed};
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

pub(crate) const SLOTS: u32 = 8;

const FREE: u32 = 0;
const MAKING: u32 = 1;
const READY: u32 = 2;

/// How iterations are given to members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deal {
    /// One block for each member. If the chunk is not 0, members get chunks in turn.
    Static,
    Dynamic,
    Guided,
}

/// The iterations of a loop, counted from 0. The value of iteration `k` is `start + k * step` in wrapping arithmetic.
/// So signed and unsigned loops need no distinction.
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

    /// The space of an unsigned loop, which counts `up` or down.
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

    /// The value of iteration `from`, and the end of the values of iterations `from..to`.
    pub(crate) fn values(&self, from: u64, to: u64) -> (u64, u64) {
        let value = |k: u64| self.start.wrapping_add(k.wrapping_mul(self.step));
        // `value(trips)` could be past `end`, and even past the range of the type.
        let end = if to == self.trips {
            self.end
        } else {
            value(to)
        };
        (value(from), end)
    }
}

/// The description of a share. The first member to enter the share writes this.
pub(crate) struct Plan {
    pub(crate) space: Space,
    pub(crate) deal: Deal,
    /// The number of iterations of a chunk. With a static deal, 0 stands for one block for each member.
    pub(crate) chunk: u64,
    /// Whether claims need a compare-and-exchange, because a fetch-and-add might pass the range of `u64`.
    pub(crate) careful: bool,
    /// Whether the loop has ordered regions, if the program does not state that at each chunk.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "only clang's programs use it")
    )]
    pub(crate) ordered: bool,
    /// Memory that the program uses for the duration of the share (`mem` of `GOMP_loop_start`).
    pub(crate) memory: Vec<u64>,
    /// For a doacross loop, the sizes of its inner dimensions, and (`posted`) the progress of members, chunks or
    /// iterations of the outermost dimension. `posted` is empty after the loop.
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
    /// The data that a `single copyprivate` construct broadcasts.
    pub(crate) copied: AtomicPtr<u8>,
    pub(crate) claims: Claims,
}

/// The words that all members write, on a separate cache line.
#[repr(align(64))]
pub(crate) struct Claims {
    /// The first iteration that no member has claimed.
    pub(crate) next: AtomicU64,
    /// The iteration whose ordered region is next.
    pub(crate) ordered: AtomicU64,
}

// SAFETY: all fields except `plan` are atomics. In `MAKING` only the member whose exchange has succeeded writes `plan`.
// In `READY`, which readers acquire, all members read `plan`. The pointer in `plan` is the compiler's description of
// reductions, and the member that registers this description shares it with all members.
unsafe impl Sync for Share {}
// SAFETY: a plan is bound to no thread: any member may be the next to write it.
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

    /// Prepares the slot for the next region of a team, in which no member has entered a share yet.
    pub(crate) fn reset(&self, slot: u32) {
        // Relaxed: the beginning of the region publishes these stores.
        self.state.store(slot * 4 + FREE, Relaxed);
        self.left.store(0, Relaxed);
    }

    /// The description of the share. Only members that have entered the share may call this.
    pub(crate) fn plan(&self) -> &Plan {
        // SAFETY: the state is `READY`, which the member has acquired, so no member writes the plan.
        unsafe { &*self.plan.get() }
    }

    /// Enters share `number`. If the caller is the first member to do so, calls `make`, which writes the plan. Returns
    /// whether the caller was the first.
    pub(crate) fn come(
        &self,
        number: u32,
        bell: &Bell,
        carried: &Carried,
        make: impl FnOnce(&mut Plan),
    ) -> bool {
        let base = number.wrapping_mul(4);
        // Acquire makes visible what the first member wrote, or what members did in the previous share of this slot.
        let mut state = self.state.load(Acquire);
        loop {
            if state == base + READY {
                return false;
            }
            if state == base + FREE {
                // A failed exchange acquires as well: if another member has made the plan meanwhile, this member sees
                // the plan.
                match self
                    .state
                    .compare_exchange(state, base + MAKING, Acquire, Acquire)
                {
                    Ok(_) => break,
                    Err(now) => state = now,
                }
                continue;
            }
            // Either a member is writing the plan, or not all members have left share `number - SLOTS`.
            let moved = || {
                let state = self.state.load(Acquire);
                state == base + READY || state == base + FREE
            };
            bell.wait_until(carried, &moved);
            state = self.state.load(Acquire);
        }
        // Relaxed: the state publishes these stores.
        self.claims.next.store(0, Relaxed);
        self.claims.ordered.store(0, Relaxed);
        self.copied.store(std::ptr::null_mut(), Relaxed);
        // SAFETY: in `MAKING` only this member accesses the plan.
        make(unsafe { &mut *self.plan.get() });
        // Release publishes the plan.
        self.state.swap(base + READY, AcqRel);
        bell.ring_after_rmw();
        true
    }

    /// Leaves share `number`, in a team of `size` members.
    pub(crate) fn leave(&self, number: u32, size: u32, bell: &Bell) {
        // AcqRel: all uses of the share happen before its slot becomes free for another share.
        if self.left.fetch_add(1, AcqRel) + 1 == size {
            self.left.store(0, Relaxed);
            // SAFETY: all members have left the share, and none enters its slot before the state changes below.
            let posted = unsafe { &mut (*self.plan.get()).posted };
            if !posted.is_empty() {
                *posted = vec![];
            }
            // Release publishes that `left` is 0.
            let next = number.wrapping_add(SLOTS).wrapping_mul(4) + FREE;
            self.state.store(next, Release);
            bell.ring();
        }
    }

    /// The next iterations for member `id` of `size`. With a static deal, `trip` is the number of blocks that this
    /// member has had.
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
                // Relaxed: the word only distributes iterations. After a claim that got no iterations, a member makes
                // no further claim, so the sum stays in the range of `u64`.
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

/// The block of member `id`, if `size` members divide `trips` iterations as compiled programs do: the first blocks have
/// one iteration more than the others.
pub(crate) fn block(trips: u64, id: u64, size: u64) -> (u64, u64) {
    let (each, more) = (trips / size, trips % size);
    let from = id * each + id.min(more);
    (from, from + each + u64::from(id < more))
}

/// The number of the member with iteration `at` in its [`block`].
pub(crate) fn member_of(trips: u64, at: u64, size: u64) -> u64 {
    let (each, more) = (trips / size, trips % size);
    let edge = (each + 1) * more;
    if at < edge {
        at / (each + 1)
    } else {
        more + (at - edge) / each.max(1)
    }
}

/// Words that are 0. The kernel makes their memory when they are first written.
pub(crate) fn zeros(count: u64) -> Vec<AtomicU64> {
    let size = usize::try_from(count).unwrap_or(usize::MAX);
    let Ok(layout) = Layout::array::<AtomicU64>(size) else {
        fatal(format_args!(
            "a doacross loop that needs {count} words; expected fewer"
        ))
    };
    if size == 0 {
        return vec![];
    }
    // SAFETY: the layout has at least one word.
    let words = unsafe { alloc_zeroed(layout) };
    if words.is_null() {
        fatal(format_args!(
            "no memory for the {count} words of a doacross loop"
        ));
    }
    // SAFETY: the global allocator made the memory for as many words, and all zeros are valid words.
    unsafe { Vec::from_raw_parts(words.cast(), size, size) }
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
                    assert!((from..to).all(|at| member_of(trips, at, size) == id));
                    next = to;
                }
                assert_eq!(next, trips);
            }
        }
    }
}
