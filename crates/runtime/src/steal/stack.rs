//! The stack of jobs that each worker has.

use super::public::{FENCED, MOST_JOBS, Public, State};
use super::slot::{Run, Slot, Thief};
use crate::sleep::Latch;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::cell::Cell;
use std::mem::MaybeUninit;

/// A worker's jobs. The owner pushes and pops at the bottom; thieves steal the
/// oldest, at the top. `README.md` argues why each job is run exactly once.
///
/// Cost to the owner while nobody is idle, on x86-64: a push is three stores
/// into lines that only the owner writes, a pop one store and one load of a line
/// that thieves write and then leave alone. No locked instruction, no fence.
pub(crate) struct JobStack<P: Platform> {
    own: CachePadded<Own<P>>,
    public: CachePadded<P::AtomicU64>,
    /// FENCED or 0.
    fenced: u64,
}

/// What only the owner writes.
struct Own<P: Platform> {
    /// One past the newest job. Thieves read it only when the owner does not
    /// answer.
    bottom: P::AtomicU32,
    /// A push at this index or above takes the slow way: where the slots end, or 0
    /// while thieves are hungry: from when one asks until the owner gets back a job
    /// that was public. Written by thieves too, who may overwrite the owner; it is
    /// about speed only.
    gate: P::AtomicU32,
    /// Slots below this exist; the memory beyond has never been touched.
    ready: Cell<u32>,
    /// As many as can ever be pushed; reserved at once, and given pages by the
    /// system when they are first used.
    slots: Box<[MaybeUninit<Slot<P>>]>,
}

// SAFETY: `ready` is the owner's alone. `slots` are reached by others only below
// a `bottom` that the owner has released, where they exist and are `Sync`.
unsafe impl<P: Platform> Sync for JobStack<P> {}
// SAFETY: as above; nothing is bound to a thread.
unsafe impl<P: Platform> Send for JobStack<P> {}

/// A job that a thief has claimed: index `index` of the stack.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) struct Claim {
    pub(crate) index: u32,
}

/// What became of the job that the owner wants back.
#[derive(Debug, PartialEq, Eq)]
enum Popped {
    Mine,
    Stolen,
}

impl<P: Platform> JobStack<P> {
    /// An empty stack of at most `capacity` jobs.
    pub(crate) fn new(capacity: u32) -> Self {
        let fenced = if P::has_light_fences() { 0 } else { FENCED };
        let own = Own {
            bottom: P::AtomicU32::new(0),
            gate: P::AtomicU32::new(0),
            ready: Cell::new(0),
            slots: Box::new_uninit_slice(capacity.min(MOST_JOBS) as usize),
        };
        Self {
            own: CachePadded::new(own),
            public: CachePadded::new(P::AtomicU64::new(Public::open(0, 0).0 | fenced)),
            fenced,
        }
    }

    /// For a simulator's accounts.
    pub(crate) fn name(&self) {
        P::name(&self.own, "jobs: bottom");
        P::name(&self.public, "jobs: public part");
    }

    /// The owner pushes a job; its index, or `None` if the stack is full.
    #[inline(always)]
    pub(crate) fn push(&self, run: Run, data: *const ()) -> Option<u32> {
        let own = &*self.own;
        // Relaxed: the owner's own writing.
        let index = own.bottom.load(Ordering::Relaxed);
        // Relaxed: a hint, see there.
        if index >= own.gate.load(Ordering::Relaxed) {
            return self.push_slowly(run, data);
        }
        self.put(index, run, data);
        Some(index)
    }

    #[inline(always)]
    fn put(&self, index: u32, run: Run, data: *const ()) {
        self.slot(index).write(run, data);
        // Release: who reads this finds the slot written.
        self.own.bottom.store(index + 1, Ordering::Release);
    }

    /// Pushes where there may be no slot yet, or in public: while thieves are hungry,
    /// every job is theirs to take the moment there is one.
    #[cold]
    #[inline(never)]
    fn push_slowly(&self, run: Run, data: *const ()) -> Option<u32> {
        let index = self.bottom();
        // Relaxed: the owner's own, or a thief's hint.
        let hungry = self.own.gate.load(Ordering::Relaxed) == 0;
        if index == self.own.ready.get() && !self.grow() {
            return None;
        }
        self.put(index, run, data);
        if !hungry {
            (self.own.gate).store(self.own.ready.get(), Ordering::Relaxed);
            return Some(index);
        }
        let word = Public(self.public.load(Ordering::Acquire));
        if word.state() != State::Raising {
            // If the word has changed, a thief is at it, who needs no help.
            let _ = self.exchange(word, Public::open(word.top(), index + 1));
        }
        Some(index)
    }

    /// Makes the next slots; `false`: there is no room.
    #[cold]
    #[inline(never)]
    fn grow(&self) -> bool {
        /// Made at a time: half a page.
        const CHUNK: usize = 64;
        let own = &*self.own;
        let from = own.ready.get() as usize;
        let to = (from + CHUNK).min(own.slots.len());
        for slot in &own.slots[from..to] {
            let place = slot.as_ptr().cast_mut();
            // SAFETY: `ready` is the owner's, which is the caller; nobody looks at
            // slots at or above it, so this is the only access to the place.
            unsafe { place.write(Slot::new()) };
        }
        own.ready.set(to as u32);
        from < to
    }

    /// The slot at `index`, which was pushed to at some time.
    #[inline(always)]
    fn slot(&self, index: u32) -> &Slot<P> {
        debug_assert!((index as usize) < self.own.slots.len());
        // SAFETY: below `ready` at the owner's, who compared; a thief's index is
        // below a `bottom` it has acquired, so that the slot was made before.
        unsafe { (self.own.slots.get_unchecked(index as usize)).assume_init_ref() }
    }

    /// Whether nothing can be stolen and nothing popped. Exact for the owner,
    /// a look for others: it may be over when they act.
    pub(crate) fn is_empty(&self) -> bool {
        // Acquire: who acts on it, a worker about to sleep, has fenced before.
        let bottom = self.own.bottom.load(Ordering::Acquire);
        let word = Public(self.public.load(Ordering::Acquire));
        bottom <= word.top()
    }

    /// One past the owner's newest job; its own view.
    #[inline(always)]
    pub(crate) fn bottom(&self) -> u32 {
        self.own.bottom.load(Ordering::Relaxed)
    }

    /// The owner takes its newest job, which is at `index`, back; `false`: it was
    /// stolen, and the owner must wait for its latch and then
    /// [`retire`](Self::retire) it.
    #[inline(always)]
    pub(crate) fn pop(&self, index: u32) -> bool {
        let own = &*self.own;
        debug_assert_eq!(self.bottom(), index + 1);
        // Release: a thief that reads it relies on the slots below.
        own.bottom.store(index, Ordering::Release);
        // Against the heavy fence in `raise`: either that thief sees this
        // bottom, or the load below sees its word. Where there are no light
        // fences the word says so, and `confirm` has a real one.
        P::untested_light_fence();
        // Relaxed: if it covers not, there is nothing to be acquired.
        !Public(self.public.load(Ordering::Relaxed)).covers(index) || self.confirm(index)
    }

    /// The owner takes the newest job, which is at `index`, out of reach of
    /// thieves; `false`: one of them has it.
    #[cold]
    #[inline(never)]
    fn confirm(&self, index: u32) -> bool {
        if self.fenced != 0 {
            // As the light fence in `pop`.
            P::fence(Ordering::SeqCst);
        }
        match self.reclaim(index) {
            Popped::Mine => true,
            Popped::Stolen => {
                // The slot stays in use until the thief is done.
                self.own.bottom.store(index + 1, Ordering::Release);
                false
            }
        }
    }

    /// Decides about the job at `index`, which is at `bottom` now.
    fn reclaim(&self, index: u32) -> Popped {
        let mut word = Public(self.public.load(Ordering::Acquire));
        loop {
            let top = word.top();
            if top > index {
                return Popped::Stolen;
            }
            let next = match word.state() {
                State::Open | State::Promised if word.limit() <= index => return Popped::Mine,
                State::Open | State::Promised => {
                    // Nobody wanted it.
                    (self.own.gate).store(self.own.ready.get(), Ordering::Relaxed);
                    Public::open(top, index)
                }
                // Who asks, or digs, gets all that is left, for less than it would
                // pay by itself; or what is pushed next.
                State::Asked | State::Raising => {
                    self.own.gate.store(0, Ordering::Relaxed);
                    if top < index {
                        Public::open(top, index)
                    } else {
                        Public::promised(top)
                    }
                }
            };
            // Release publishes the slots of what becomes public; acquire, as
            // the load.
            match self.exchange(word, next) {
                Ok(()) => return Popped::Mine,
                Err(now) => word = now,
            }
        }
    }

    fn exchange(&self, from: Public, to: Public) -> Result<(), Public> {
        let to = to.0 | self.fenced;
        let swap = (self.public).compare_exchange(from.0, to, Ordering::AcqRel, Ordering::Acquire);
        swap.map(drop).map_err(Public)
    }

    /// The latch of the job at `index`, which was pushed at some time.
    pub(crate) fn latch(&self, index: u32) -> &Latch<P> {
        &self.slot(index).latch
    }

    /// Who has stolen the job at `index`, as far as is known.
    pub(crate) fn thief(&self, index: u32) -> Option<Thief> {
        self.slot(index).thief()
    }

    /// The owner has seen the latch of its newest job, stolen, set: its slot is
    /// free again.
    pub(crate) fn retire(&self, index: u32) {
        debug_assert_eq!(self.bottom(), index + 1);
        let slot = self.slot(index);
        slot.set_thief(None);
        slot.latch.reset();
        // Down first: while `bottom` is above `top`, a thief would think that
        // there is a job.
        self.own.bottom.store(index, Ordering::Release);
        let mut word = Public(self.public.load(Ordering::Relaxed));
        loop {
            debug_assert!(word.top() > index);
            match self.exchange(word, Public::open(index, index)) {
                Ok(()) => return,
                Err(now) => word = now,
            }
        }
    }

    /// A thief takes the oldest job if it is public and at `floor` or above.
    pub(crate) fn steal(&self, floor: u32, thief: Thief) -> Option<Claim> {
        // Acquire: the slots of the public part are written.
        let mut word = Public(self.public.load(Ordering::Acquire));
        loop {
            let index = word.top();
            if word.state() != State::Open || index >= word.limit() || index < floor {
                return None;
            }
            match self.exchange(word, Public::open(index + 1, word.limit())) {
                Ok(()) => return Some(self.claimed(index, thief)),
                Err(now) => word = now,
            }
        }
    }

    fn claimed(&self, index: u32, thief: Thief) -> Claim {
        self.slot(index).set_thief(Some(thief));
        Claim { index }
    }

    /// A thief that found nothing public asks for some: at its next push or pop the
    /// owner gives away what it has, and goes on to push in public. Returns whether
    /// the owner has been asked (by anybody) and not answered.
    pub(crate) fn ask(&self) -> bool {
        let word = Public(self.public.load(Ordering::Relaxed));
        match word.state() {
            State::Asked => true,
            State::Open if word.top() >= word.limit() => {
                let asked = self.exchange(word, Public::asked(word.top())).is_ok();
                if asked {
                    self.own.gate.store(0, Ordering::Relaxed);
                }
                asked
            }
            State::Open | State::Promised | State::Raising => false,
        }
    }

    /// Whether the owner has been asked and has given nothing.
    pub(crate) fn is_asked(&self) -> bool {
        let state = Public(self.public.load(Ordering::Relaxed)).state();
        matches!(state, State::Asked | State::Promised)
    }

    /// Whether the oldest job, if there is one, is at `floor` or above, as seen a
    /// moment ago.
    pub(crate) fn is_above(&self, floor: u32) -> bool {
        let bottom = self.own.bottom.load(Ordering::Acquire);
        let top = Public(self.public.load(Ordering::Acquire)).top();
        floor <= top && top < bottom
    }

    /// A thief takes the oldest job at `floor` or above without the help of an
    /// owner that does not answer, and makes as many as half of the jobs public.
    /// Dear: an interrupt of all cores that run the process.
    #[cold]
    pub(crate) fn raise(&self, floor: u32, thief: Thief) -> Option<Claim> {
        let word = Public(self.public.load(Ordering::Acquire));
        let top = word.top();
        let closed = match word.state() {
            State::Asked | State::Promised => true,
            State::Open => top >= word.limit(),
            State::Raising => false,
        };
        let bottom = self.own.bottom.load(Ordering::Relaxed);
        if !closed || top < floor || bottom <= top {
            return None;
        }
        let limit = top + (bottom - top).div_ceil(2);
        let raised = Public(Public::raising(top, limit, thief.worker as usize).0 | self.fenced);
        self.exchange(word, raised).ok()?;
        // From here on the owner's every pop below `limit` sees the raise and
        // cancels it, or its `bottom` is seen here.
        P::heavy_fence();
        // Acquire: the slots below it are written.
        let limit = limit.min(self.own.bottom.load(Ordering::Acquire));
        if limit <= top {
            // Whoever has changed the word meanwhile is welcome to it.
            let _ = self.exchange(raised, Public::open(top, top));
            return None;
        }
        self.exchange(raised, Public::open(top + 1, limit)).ok()?;
        Some(self.claimed(top, thief))
    }

    /// A claimed job.
    ///
    /// # Safety
    ///
    /// The claim is from this stack, and its job not done.
    pub(crate) unsafe fn job(&self, claim: &Claim) -> (Run, *const ()) {
        // SAFETY: by contract.
        unsafe { self.slot(claim.index).read() }
    }

    /// The thief will not do the job after all: it is for whoever
    /// [`adopt`](Self::adopt)s it, the owner among others. Returns its index.
    pub(crate) fn give_back(&self, claim: Claim) -> u32 {
        self.slot(claim.index).orphan();
        claim.index
    }

    /// Whether the job at `index` was given back, as seen a moment ago.
    pub(crate) fn is_given_back(&self, index: u32) -> bool {
        self.slot(index).is_orphaned()
    }

    /// Takes the job at `index`, which was pushed at some time, if one there was
    /// given back.
    pub(crate) fn adopt(&self, index: u32, thief: Thief) -> Option<Claim> {
        (self.slot(index).is_orphaned() && self.slot(index).adopt(thief)).then_some(Claim { index })
    }

    /// The thief has done the job; `true`: the owner sleeps and must be woken.
    pub(crate) fn done(&self, claim: Claim) -> bool {
        self.slot(claim.index).latch.set()
    }
}

impl<P: Platform> Drop for JobStack<P> {
    fn drop(&mut self) {
        let ready = self.own.ready.get() as usize;
        for slot in &mut self.own.slots[..ready] {
            // SAFETY: below `ready` slots were made, and nobody has the stack.
            unsafe { slot.assume_init_drop() };
        }
    }
}
