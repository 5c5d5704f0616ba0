//! The stack of jobs that each worker has.

use super::public::{FENCED, MOST_JOBS, Public, PublicState};
use super::slot::{Head, JobSlot, Run, Thief};
use crate::sleep::Latch;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::cell::Cell;
use std::io;
use std::mem::MaybeUninit;

/// Entries made at a time. Two in tests, so that a few jobs take several.
const CHUNK: usize = if cfg!(test) { 2 } else { 64 };

/// A worker's jobs. The owner pushes and pops at the bottom; thieves steal the
/// oldest, at the top. `README.md` argues why each job is run exactly once.
///
/// Cost to the owner while no worker is idle, on x86-64: a push is two stores into lines that only
/// the owner writes, a pop one store and one load of a line that thieves write and then leave
/// alone. No locked instruction, no fence.
pub(crate) struct JobStack<P: Platform> {
    own: CachePadded<Owned<P>>,
    public: CachePadded<P::AtomicU64>,
    /// FENCED or 0.
    fenced: u64,
}

/// The part that only the owner writes, except for the thieves' writes into slots.
struct Owned<P: Platform> {
    /// The index of the next job. Thieves read it only when the owner does not
    /// answer.
    bottom: P::AtomicU32,
    /// A push at this index or above takes the slow way: the end of the entries, or 0 while thieves
    /// are starving, from a request until the owner gets back a public job. Thieves write it too,
    /// and may overwrite the owner's value; it affects only speed.
    gate: P::AtomicU32,
    /// Entries from 1 up to below this exist; no thread has ever touched the memory beyond.
    ready: Cell<u32>,
    /// By index. As many as can ever be pushed; reserved at once, and given pages
    /// by the system when they are first used.
    jobs: Box<[MaybeUninit<P::AtomicPtr<Head>>]>,
    /// By index, as `jobs`.
    slots: Box<[MaybeUninit<JobSlot<P>>]>,
}

// SAFETY: `ready` is the owner's alone. `jobs` and `slots` are reached by others
// only below a `bottom` that the owner has released, where they exist and are
// `Sync`.
unsafe impl<P: Platform> Sync for JobStack<P> {}
// SAFETY: as above; nothing is bound to a thread. Jobs are pointers that only
// their claimers follow.
unsafe impl<P: Platform> Send for JobStack<P> {}

/// Memory for this number of entries, none of them made.
fn reserve<T>(entries: usize) -> io::Result<Box<[MaybeUninit<T>]>> {
    let mut memory = Vec::<MaybeUninit<T>>::new();
    memory
        .try_reserve_exact(entries)
        .map_err(io::Error::other)?;
    // SAFETY: reserved, and `MaybeUninit` is valid whatever the memory holds.
    unsafe { memory.set_len(entries) };
    Ok(memory.into_boxed_slice())
}

/// A job that a thief has claimed.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) struct Claim {
    index: u32,
}

impl<P: Platform> JobStack<P> {
    /// An empty stack of at most `capacity` jobs.
    ///
    /// # Errors
    ///
    /// There is no room for that many in the address space.
    pub(crate) fn new(capacity: u32) -> io::Result<Self> {
        let fenced = if P::has_light_fences() { 0 } else { FENCED };
        let entries = 1 + capacity.min(MOST_JOBS) as usize;
        let own = Owned {
            bottom: P::AtomicU32::new(1),
            gate: P::AtomicU32::new(1),
            ready: Cell::new(1),
            jobs: reserve(entries)?,
            slots: reserve(entries)?,
        };
        Ok(Self {
            own: CachePadded::new(own),
            public: CachePadded::new(P::AtomicU64::new(Public::open(0, 0).0 | fenced)),
            fenced,
        })
    }

    /// For a simulator's accounts.
    pub(crate) fn name(&self) {
        P::name(&self.own, "jobs: bottom");
        P::name(&self.public, "jobs: public part");
    }

    /// The index of the owner's next job; its own view.
    #[inline(always)]
    pub(crate) fn bottom(&self) -> u32 {
        // Relaxed: the owner's own writing.
        self.own.bottom.load(Ordering::Relaxed)
    }

    /// The index where the owner can push a job without further ado; `None`: it
    /// must ask for [`make_room`](Self::make_room).
    #[inline(always)]
    pub(crate) fn room(&self) -> Option<u32> {
        let index = self.bottom();
        // Relaxed: a hint, see there.
        (index < self.own.gate.load(Ordering::Relaxed)).then_some(index)
    }

    /// Makes room for the owner's next job: its index, and whether thieves are starving,
    /// so that the job is to be [`published`](Self::publish) at once. `None`: the
    /// stack is full.
    #[cold]
    #[inline(never)]
    pub(crate) fn make_room(&self) -> Option<(u32, bool)> {
        let own = &*self.own;
        let index = self.bottom();
        // Relaxed: the owner's own, or a thief's hint.
        let starving = own.gate.load(Ordering::Relaxed) == 0;
        if index == own.ready.get() && !self.grow() {
            return None;
        }
        if !starving {
            own.gate.store(own.ready.get(), Ordering::Relaxed);
        }
        Some((index, starving))
    }

    /// Makes public what the owner has, up to the newest job, which is at `index`.
    pub(crate) fn publish(&self, index: u32) {
        // Acquire is more than it takes: of the word only what it says counts. The
        // exchange releases the jobs.
        let word = Public(self.public.load(Ordering::Acquire));
        if word.state() != PublicState::Raising {
            // If the word has changed, a thief is active, and it needs no help.
            let _ = self.exchange(word, Public::open(word.top(), index));
        }
    }

    /// The owner's way to push: what a `join` does, step by step.
    #[cfg(test)]
    pub(crate) fn push_as_joins_do(&self, job: *const Head) -> Option<u32> {
        let room = self.room().map(|index| (index, false));
        let (index, starving) = room.or_else(|| self.make_room())?;
        self.push(index, job);
        if starving {
            self.publish(index);
        }
        Some(index)
    }

    /// Makes entries; `false`: there are as many as there can be.
    fn grow(&self) -> bool {
        let own = &*self.own;
        let from = own.ready.get() as usize;
        let to = (from + CHUNK).min(own.jobs.len());
        for index in from..to {
            let job = own.jobs[index].as_ptr().cast_mut();
            let slot = own.slots[index].as_ptr().cast_mut();
            // SAFETY: `ready` belongs to the owner, which is the caller; no other thread reads
            // entries at or above it, so these are the only accesses to them.
            unsafe {
                job.write(P::AtomicPtr::new(std::ptr::null_mut()));
                slot.write(JobSlot::new());
            }
        }
        own.ready.set(to as u32);
        from < to
    }

    /// The owner pushes a job at the `index` where it has [`room`](Self::room).
    #[inline(always)]
    pub(crate) fn push(&self, index: u32, job: *const Head) {
        debug_assert_eq!(self.bottom(), index);
        // Relaxed: published by `bottom`, or by the public word after it.
        self.entry(index).store(job.cast_mut(), Ordering::Relaxed);
        // Release: a thread that reads this finds the job there.
        self.own.bottom.store(index + 1, Ordering::Release);
    }

    /// The entry at `index`, which was made.
    #[inline(always)]
    fn entry(&self, index: u32) -> &P::AtomicPtr<Head> {
        debug_assert!((1..self.own.jobs.len()).contains(&(index as usize)));
        // SAFETY: for the owner the index is below `ready`, which the caller has compared; a
        // thief's index is below a `bottom` that it has acquired, so the entry was made before.
        unsafe { (self.own.jobs.get_unchecked(index as usize)).assume_init_ref() }
    }

    /// The slot of the job.
    fn slot(&self, index: u32) -> &JobSlot<P> {
        // SAFETY: as in `entry`; both are made together.
        unsafe { self.own.slots[index as usize].assume_init_ref() }
    }

    /// Whether nothing can be stolen and nothing popped. Exact for the owner,
    /// a look for others: it may be over when they act.
    pub(crate) fn is_empty(&self) -> bool {
        // Acquire: a worker about to sleep, which acts on it, has fenced before.
        let bottom = self.own.bottom.load(Ordering::Acquire);
        let word = Public(self.public.load(Ordering::Acquire));
        bottom <= word.top() + 1
    }

    /// The owner wants its newest job, which is at `index`, back. `true`: it has
    /// it; `false`: the job may be a thief's, and the owner must
    /// [`confirm`](Self::confirm).
    #[inline(always)]
    pub(crate) fn pop(&self, index: u32) -> bool {
        debug_assert_eq!(self.bottom(), index + 1);
        // Release: a thief that reads it relies on the entries below.
        self.own.bottom.store(index, Ordering::Release);
        // Against the heavy fence in `raise`: either that thief sees this bottom, or the load below
        // sees its word. On a system without light fences the word says so, and `confirm` has a
        // real one.
        P::untested_light_fence();
        // Relaxed: if the word does not cover `index`, no thief published anything.
        !Public(self.public.load(Ordering::Relaxed)).covers(index)
    }

    /// The owner takes a job that [`pop`](Self::pop) did not give it out of reach of thieves;
    /// `false`: a thief has it, and the owner must wait for its latch and then
    /// [`retire`](Self::retire) it.
    pub(crate) fn confirm(&self, index: u32) -> bool {
        if self.fenced != 0 {
            // As the light fence in `pop`.
            P::fence(Ordering::SeqCst);
        }
        // Acquire: what a thief did that has changed the word since it was last seen.
        let mut word = Public(self.public.load(Ordering::Acquire));
        loop {
            let top = word.top();
            if index <= top {
                // The index stays in use until the thief is done. Release, as in
                // `push`.
                self.own.bottom.store(index + 1, Ordering::Release);
                return false;
            }
            let older = index - 1;
            let next = match word.state() {
                PublicState::Open | PublicState::Promised if word.limit() < index => return true,
                PublicState::Open | PublicState::Promised => {
                    // No thief wanted it: thieves are not starving any more. Relaxed, as all of
                    // `gate`: it affects only speed.
                    (self.own.gate).store(self.own.ready.get(), Ordering::Relaxed);
                    Public::open(top, older)
                }
                // The thief that requests, or raises, gets what is left, for less than it would pay
                // by itself; or what is pushed next.
                PublicState::Requested | PublicState::Raising => {
                    self.own.gate.store(0, Ordering::Relaxed);
                    if top < older {
                        Public::open(top, older)
                    } else {
                        Public::promised(top)
                    }
                }
            };
            // Release publishes the jobs that become public; acquire, as the load.
            match self.exchange(word, next) {
                Ok(()) => return true,
                Err(now) => word = now,
            }
        }
    }

    fn exchange(&self, from: Public, to: Public) -> Result<(), Public> {
        let to = to.0 | self.fenced;
        // Release: the thread that makes jobs public, or hands the word on, has set them up.
        // Acquire: the thread that claims one finds it so; also if it fails, for the next round.
        let swap = (self.public).compare_exchange(from.0, to, Ordering::AcqRel, Ordering::Acquire);
        swap.map(drop).map_err(Public)
    }

    /// The latch of the job at `index`, which was pushed at some time.
    pub(crate) fn latch(&self, index: u32) -> &Latch<P> {
        &self.slot(index).latch
    }

    /// The worker that has stolen the job at `index`, as far as is known.
    pub(crate) fn thief(&self, index: u32) -> Option<Thief> {
        self.slot(index).thief()
    }

    /// The owner has seen the latch of its newest job, stolen, set: its index is
    /// free again.
    pub(crate) fn retire(&self, index: u32) {
        debug_assert_eq!(self.bottom(), index + 1);
        let slot = self.slot(index);
        slot.set_thief(None);
        slot.latch.reset();
        // Down first: while `bottom` is two above `top`, a thief would see a job there. The
        // exchange's release makes a thread that sees the lower top see this, too; the store's own
        // release is for a thread that reads it alone, as in `push`. Relaxed: only the word's value
        // counts, which the exchange compares.
        self.own.bottom.store(index, Ordering::Release);
        let mut word = Public(self.public.load(Ordering::Relaxed));
        loop {
            debug_assert_eq!(word.top(), index);
            match self.exchange(word, Public::open(index - 1, index - 1)) {
                Ok(()) => return,
                Err(now) => word = now,
            }
        }
    }

    /// A thief takes the oldest job if it is public and at `floor` or above.
    pub(crate) fn steal(&self, floor: u32, thief: Thief) -> Option<Claim> {
        // Acquire: the jobs of the public part are there.
        let mut word = Public(self.public.load(Ordering::Acquire));
        loop {
            let index = word.top() + 1;
            if word.state() != PublicState::Open || index > word.limit() || index < floor {
                return None;
            }
            match self.exchange(word, Public::open(index, word.limit())) {
                Ok(()) => return Some(self.claimed(index, thief)),
                Err(now) => word = now,
            }
        }
    }

    fn claimed(&self, index: u32, thief: Thief) -> Claim {
        self.slot(index).set_thief(Some(thief));
        Claim { index }
    }

    /// A thief that found nothing public requests some: at its next push or pop the
    /// owner gives away what it has, and goes on to push in public. Returns whether
    /// the owner has an unanswered request (of any thief).
    pub(crate) fn request(&self) -> bool {
        // Relaxed: of the word only what it says counts, which the exchange compares.
        let word = Public(self.public.load(Ordering::Relaxed));
        match word.state() {
            PublicState::Requested => true,
            PublicState::Open if word.top() >= word.limit() => {
                let requested = self.exchange(word, Public::requested(word.top())).is_ok();
                if requested {
                    self.own.gate.store(0, Ordering::Relaxed);
                }
                requested
            }
            PublicState::Open | PublicState::Promised | PublicState::Raising => false,
        }
    }

    /// Whether the owner has a request and has given nothing.
    pub(crate) fn is_requested(&self) -> bool {
        // Relaxed: a hint; `raise` looks again.
        let state = Public(self.public.load(Ordering::Relaxed)).state();
        matches!(state, PublicState::Requested | PublicState::Promised)
    }

    /// Whether the oldest job, if there is one, is at `floor` or above, as seen a
    /// moment ago.
    ///
    /// Acquire: the top is not read before the bottom.
    pub(crate) fn is_above(&self, floor: u32) -> bool {
        let bottom = self.own.bottom.load(Ordering::Acquire);
        let oldest = Public(self.public.load(Ordering::Acquire)).top() + 1;
        floor <= oldest && oldest < bottom
    }

    /// A thief takes the oldest job at `floor` or above without the help of an
    /// owner that does not answer, and makes as many as half of the jobs public.
    /// Expensive: it interrupts every core that runs this process.
    #[cold]
    pub(crate) fn raise(&self, floor: u32, thief: Thief) -> Option<Claim> {
        // Acquire, as in `steal`.
        let word = Public(self.public.load(Ordering::Acquire));
        let top = word.top();
        let closed = match word.state() {
            PublicState::Requested | PublicState::Promised => true,
            PublicState::Open => top >= word.limit(),
            PublicState::Raising => false,
        };
        let index = top + 1;
        // Relaxed: what counts is read again, after the fence.
        let bottom = self.own.bottom.load(Ordering::Relaxed);
        if !closed || index < floor || bottom <= index {
            return None;
        }
        let limit = top + (bottom - index).div_ceil(2);
        let raised = Public(Public::raising(top, limit, thief.worker as usize).0 | self.fenced);
        self.exchange(word, raised).ok()?;
        // From here on the owner's every pop up to `limit` sees the raise and
        // cancels it, or its `bottom` is seen here.
        P::heavy_fence();
        // Acquire: the jobs below it are there.
        let limit = limit.min(self.own.bottom.load(Ordering::Acquire) - 1);
        if limit < index {
            // Whoever has changed the word meanwhile is welcome to it.
            let _ = self.exchange(raised, Public::open(top, top));
            return None;
        }
        self.exchange(raised, Public::open(index, limit)).ok()?;
        Some(self.claimed(index, thief))
    }

    /// How a claimed job is run, and with what.
    ///
    /// # Safety
    ///
    /// The claim is from this stack, and its job not done.
    pub(crate) unsafe fn job(&self, claim: &Claim) -> (Run, *const ()) {
        // Relaxed: ordered by the claim.
        let job = self.entry(claim.index).load(Ordering::Relaxed);
        // SAFETY: it was pushed, and is not over before the caller says so.
        (unsafe { (*job).0 }, job.cast_const().cast())
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
        let slot = self.slot(index);
        (slot.is_orphaned() && slot.adopt(thief)).then_some(Claim { index })
    }

    /// The thief has done the job; `true`: the owner sleeps and must be woken.
    pub(crate) fn done(&self, claim: Claim) -> bool {
        self.slot(claim.index).latch.set()
    }
}

impl<P: Platform> Drop for JobStack<P> {
    fn drop(&mut self) {
        let Owned {
            ready, jobs, slots, ..
        } = &mut *self.own;
        for index in 1..ready.get() as usize {
            // SAFETY: below `ready` both were made, and no other thread has the stack.
            unsafe {
                jobs[index].assume_init_drop();
                slots[index].assume_init_drop();
            }
        }
    }
}
