//! The stack of jobs that each worker has.

use super::public::{FENCED, MOST_JOBS, Public, PublicState};
use super::slot::{Head, JobSlot, Run, Thief};
use crate::sleep::Latch;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::cell::Cell;
use std::io;
use std::mem::MaybeUninit;

/// The number of entries that are initialised at a time. It is two in tests, so that a few jobs need several
/// chunks.
const CHUNK: usize = if cfg!(test) { 2 } else { 64 };

/// A worker's jobs. The owner pushes and pops at the bottom, and thieves steal the oldest job, at the top.
/// `README.md` argues why each job runs exactly once.
///
/// On x86-64, while no worker is idle, a push costs the owner two stores into cache lines that only the owner
/// writes. A pop costs one store, and one load of a line that thieves write rarely. Neither needs a locked
/// instruction or a fence.
pub(crate) struct JobStack<P: Platform> {
    own: CachePadded<Owned<P>>,
    public: CachePadded<P::AtomicU64>,
    /// FENCED or 0.
    fenced: u64,
}

/// The part that the owner writes. Thieves write only to `gate` and to slots.
struct Owned<P: Platform> {
    /// The index of the next job. Thieves read this only if the owner does not answer a request.
    bottom: P::AtomicU32,
    /// A push at this index or above takes the slow path. This is normally the end of the initialised entries. While
    /// thieves are starving (from a request until the owner takes back a public job), this is 0. Thieves write this
    /// too, and may overwrite the owner's value. The value affects only speed.
    gate: P::AtomicU32,
    /// The entries below this index (from 1 on) are initialised. No thread has ever touched the memory of the other
    /// entries.
    ready: Cell<u32>,
    /// The pointers to jobs, by index. The address space for the whole capacity is reserved at once, and the
    /// operating system provides pages on first use.
    jobs: Box<[MaybeUninit<P::AtomicPtr<Head>>]>,
    /// The slots, by index, reserved like `jobs`.
    slots: Box<[MaybeUninit<JobSlot<P>>]>,
}

// SAFETY: only the owner uses `ready`. Other threads use `jobs` and `slots` only below a `bottom` that the owner
// has released. Those entries are initialised, and are `Sync`.
unsafe impl<P: Platform> Sync for JobStack<P> {}
// SAFETY: as above, and nothing is bound to a thread. The entries are pointers, and only the thread that has
// claimed a job follows the job's pointer.
unsafe impl<P: Platform> Send for JobStack<P> {}

/// Reserves memory for this number of entries, and initialises none of them.
fn reserve<T>(entries: usize) -> io::Result<Box<[MaybeUninit<T>]>> {
    let mut memory = Vec::<MaybeUninit<T>>::new();
    memory
        .try_reserve_exact(entries)
        .map_err(io::Error::other)?;
    // SAFETY: the memory is reserved, and `MaybeUninit` is valid whatever the memory holds.
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
    /// Creates an empty stack for at most `capacity` jobs.
    ///
    /// # Errors
    ///
    /// If the address space has no room for that many jobs.
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

    /// Names the words for a simulator, which counts the accesses to each.
    pub(crate) fn name(&self) {
        P::name(&self.own, "jobs: bottom");
        P::name(&self.public, "jobs: public part");
    }

    /// Returns the index of the owner's next job. Only the owner may rely on it.
    #[inline(always)]
    pub(crate) fn bottom(&self) -> u32 {
        // Relaxed: only the owner writes this.
        self.own.bottom.load(Ordering::Relaxed)
    }

    /// Returns the index where the owner can push a job at once. If it returns `None`, the owner must call
    /// [`make_room`](Self::make_room).
    #[inline(always)]
    pub(crate) fn room(&self) -> Option<u32> {
        let index = self.bottom();
        // Relaxed: `gate` affects only speed.
        (index < self.own.gate.load(Ordering::Relaxed)).then_some(index)
    }

    /// Makes room for the owner's next job. Returns the job's index and whether thieves are starving. If they are,
    /// the owner must [`publish`](Self::publish) the job at once. Returns `None` if the stack is full.
    #[cold]
    #[inline(never)]
    pub(crate) fn make_room(&self) -> Option<(u32, bool)> {
        let own = &*self.own;
        let index = self.bottom();
        // Relaxed: the value is what the owner itself has written, or the hint of a thief.
        let starving = own.gate.load(Ordering::Relaxed) == 0;
        if index == own.ready.get() && !self.grow() {
            return None;
        }
        if !starving {
            own.gate.store(own.ready.get(), Ordering::Relaxed);
        }
        Some((index, starving))
    }

    /// Makes all of the owner's jobs public, up to the newest, which is at `index`.
    pub(crate) fn publish(&self, index: u32) {
        // Acquire is stronger than necessary, since only the word's value counts. The exchange releases the jobs.
        let word = Public(self.public.load(Ordering::Acquire));
        if word.state() != PublicState::Raising {
            // If the word has changed, a thief is active and needs no help.
            let _ = self.exchange(word, Public::open(word.top(), index));
        }
    }

    /// Pushes a job like the owner does in a `join`.
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

    /// Initialises more entries. Returns `false` if the stack has its full capacity.
    fn grow(&self) -> bool {
        let own = &*self.own;
        let from = own.ready.get() as usize;
        let to = (from + CHUNK).min(own.jobs.len());
        for index in from..to {
            let job = own.jobs[index].as_ptr().cast_mut();
            let slot = own.slots[index].as_ptr().cast_mut();
            // SAFETY: the caller is the owner, which alone uses `ready`. No other thread reads entries at `ready`
            // or above, so these are the only accesses to them.
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
        // Relaxed: `bottom`, or the public word after it, publishes the entry.
        self.entry(index).store(job.cast_mut(), Ordering::Relaxed);
        // Release: a thread that acquires this `bottom` finds the job there.
        self.own.bottom.store(index + 1, Ordering::Release);
    }

    /// Returns the entry at `index`, which must be initialised.
    #[inline(always)]
    fn entry(&self, index: u32) -> &P::AtomicPtr<Head> {
        debug_assert!((1..self.own.jobs.len()).contains(&(index as usize)));
        // SAFETY: an owner's index is below `ready`, since the caller has compared them. A thief's index is below
        // a `bottom` that the thief has acquired, so the entry was initialised before that.
        unsafe { (self.own.jobs.get_unchecked(index as usize)).assume_init_ref() }
    }

    fn slot(&self, index: u32) -> &JobSlot<P> {
        // SAFETY: as in `entry`, since an entry and its slot are initialised together.
        unsafe { self.own.slots[index as usize].assume_init_ref() }
    }

    /// Whether nothing can be stolen and nothing popped. For the owner the answer is exact. For other threads it
    /// is a hint, since it may change before they act.
    pub(crate) fn is_empty(&self) -> bool {
        // Acquire is enough: a worker that is about to sleep acts on this, and has executed a fence before.
        let bottom = self.own.bottom.load(Ordering::Acquire);
        let word = Public(self.public.load(Ordering::Acquire));
        bottom <= word.top() + 1
    }

    /// The owner calls this to take back its newest job, which is at `index`. Returns `true` if the owner has the
    /// job. If it returns `false`, a thief may have the job, and the owner must call [`confirm`](Self::confirm).
    #[inline(always)]
    pub(crate) fn pop(&self, index: u32) -> bool {
        debug_assert_eq!(self.bottom(), index + 1);
        // Release: a thief that acquires this `bottom` relies on the entries below it.
        self.own.bottom.store(index, Ordering::Release);
        // This fence pairs with the heavy fence in `raise`: either the raising thief sees this `bottom`, or the load
        // below sees that thief's word. On a platform without light fences, the word has FENCED, and `confirm` has a
        // real fence.
        P::untested_light_fence();
        // Relaxed: if the word does not cover `index`, no thief has claimed this job, so there is nothing to
        // acquire.
        !Public(self.public.load(Ordering::Relaxed)).covers(index)
    }

    /// If [`pop`](Self::pop) returned `false`, the owner calls this to put the job out of reach of thieves.
    /// Returns `true` if the owner has the job. If it returns `false`, a thief has the job. The owner must then
    /// wait for the job's latch and [`retire`](Self::retire) the job.
    pub(crate) fn confirm(&self, index: u32) -> bool {
        if self.fenced != 0 {
            // This fence does what the light fence in `pop` does on other platforms.
            P::fence(Ordering::SeqCst);
        }
        // Acquire: the owner sees what a thief did before it changed the word.
        let mut word = Public(self.public.load(Ordering::Acquire));
        loop {
            let top = word.top();
            if index <= top {
                // The index stays in use until the thief is done. Release as in `push`.
                self.own.bottom.store(index + 1, Ordering::Release);
                return false;
            }
            let older = index - 1;
            let next = match word.state() {
                PublicState::Open | PublicState::Promised if word.limit() < index => return true,
                PublicState::Open | PublicState::Promised => {
                    // No thief wanted the job, so thieves are no longer starving. Relaxed like all accesses to
                    // `gate`, which affects only speed.
                    (self.own.gate).store(self.own.ready.get(), Ordering::Relaxed);
                    Public::open(top, older)
                }
                // The thief that requests or raises gets the jobs that are left, which is cheaper for that thief than
                // a raise. If no job is left, the thief gets the next job that is pushed.
                PublicState::Requested | PublicState::Raising => {
                    self.own.gate.store(0, Ordering::Relaxed);
                    if top < older {
                        Public::open(top, older)
                    } else {
                        Public::promised(top)
                    }
                }
            };
            // Release publishes the jobs that become public. Acquire for the same reason as the load above.
            match self.exchange(word, next) {
                Ok(()) => return true,
                Err(now) => word = now,
            }
        }
    }

    fn exchange(&self, from: Public, to: Public) -> Result<(), Public> {
        let to = to.0 | self.fenced;
        // Release publishes the jobs that this thread makes public, and passes on the publication by earlier
        // exchanges. Acquire lets a thread that claims a job see the job. A failed exchange acquires too, for the next
        // round of the caller's loop.
        let swap = (self.public).compare_exchange(from.0, to, Ordering::AcqRel, Ordering::Acquire);
        swap.map(drop).map_err(Public)
    }

    /// Returns the latch of `index`, where a job must have been pushed at some time.
    pub(crate) fn latch(&self, index: u32) -> &Latch<P> {
        &self.slot(index).latch
    }

    /// Returns the worker that has stolen the job at `index`, if that worker has written its name yet.
    pub(crate) fn thief(&self, index: u32) -> Option<Thief> {
        self.slot(index).thief()
    }

    /// Frees the index of the owner's newest job, which was stolen. The owner calls this when it has seen the job's
    /// latch set.
    pub(crate) fn retire(&self, index: u32) {
        debug_assert_eq!(self.bottom(), index + 1);
        let slot = self.slot(index);
        slot.set_thief(None);
        slot.latch.reset();
        // `bottom` must go down before `top`: while `bottom` is two above `top`, a thief would see a job there.
        // The exchange's release lets a thread that sees the lower `top` see this `bottom` too. The store's own
        // release is for a thread that reads only `bottom`, as in `push`. The load is relaxed because only the
        // word's value counts, and the exchange compares it.
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

    /// A thief calls this to take the oldest job, if that is public and at `floor` or above.
    pub(crate) fn steal(&self, floor: u32, thief: Thief) -> Option<Claim> {
        // Acquire: the thief sees the public jobs.
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

    /// A thief that has found nothing public calls this to request jobs. At its next push or pop, the owner makes
    /// its jobs public, and continues to push public jobs. Returns whether the owner has an unanswered request of
    /// any thief.
    pub(crate) fn request(&self) -> bool {
        // Relaxed: only the word's value counts, and the exchange compares it.
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

    /// Whether the owner has a request and has given no job yet.
    pub(crate) fn is_requested(&self) -> bool {
        // Relaxed: this is a hint, and `raise` looks again.
        let state = Public(self.public.load(Ordering::Relaxed)).state();
        matches!(state, PublicState::Requested | PublicState::Promised)
    }

    /// Whether the stack has a job, and its oldest job is at `floor` or above. This is a hint.
    ///
    /// Acquire: `top` is not read before `bottom`.
    pub(crate) fn is_above(&self, floor: u32) -> bool {
        let bottom = self.own.bottom.load(Ordering::Acquire);
        let oldest = Public(self.public.load(Ordering::Acquire)).top() + 1;
        floor <= oldest && oldest < bottom
    }

    /// A thief calls this if the owner does not answer. Takes the oldest job if it is at `floor` or above, and
    /// makes up to half of the jobs public. This is expensive, since it interrupts every core that runs this
    /// process.
    #[cold]
    pub(crate) fn raise(&self, floor: u32, thief: Thief) -> Option<Claim> {
        // Acquire as in `steal`.
        let word = Public(self.public.load(Ordering::Acquire));
        let top = word.top();
        let closed = match word.state() {
            PublicState::Requested | PublicState::Promised => true,
            PublicState::Open => top >= word.limit(),
            PublicState::Raising => false,
        };
        let index = top + 1;
        // Relaxed: this is a hint, and `bottom` is read again after the fence.
        let bottom = self.own.bottom.load(Ordering::Relaxed);
        if !closed || index < floor || bottom <= index {
            return None;
        }
        let limit = top + (bottom - index).div_ceil(2);
        let raised = Public(Public::raising(top, limit, thief.worker as usize).0 | self.fenced);
        self.exchange(word, raised).ok()?;
        // From here on, each of the owner's pops up to `limit` sees the raise and cancels it, or this thread sees
        // the `bottom` of that pop.
        P::heavy_fence();
        // Acquire: this thread sees the jobs below `bottom`.
        let limit = limit.min(self.own.bottom.load(Ordering::Acquire) - 1);
        if limit < index {
            // If another thread has changed the word meanwhile, that change stays.
            let _ = self.exchange(raised, Public::open(top, top));
            return None;
        }
        self.exchange(raised, Public::open(index, limit)).ok()?;
        Some(self.claimed(index, thief))
    }

    /// Returns the function that runs a claimed job, and the function's first argument.
    ///
    /// # Safety
    ///
    /// The claim is from this stack, and its job is not done.
    pub(crate) unsafe fn job(&self, claim: &Claim) -> (Run, *const ()) {
        // Relaxed: the claim orders this load.
        let job = self.entry(claim.index).load(Ordering::Relaxed);
        // SAFETY: the job was pushed, and it lives until the claimer has called `done`.
        (unsafe { (*job).0 }, job.cast_const().cast())
    }

    /// A thief that will not run its job calls this. Any worker may then [`adopt`](Self::adopt) the job, including
    /// the owner. Returns the job's index.
    pub(crate) fn give_back(&self, claim: Claim) -> u32 {
        self.slot(claim.index).orphan();
        claim.index
    }

    /// Whether the job at `index` was given back. This is a hint.
    pub(crate) fn is_given_back(&self, index: u32) -> bool {
        self.slot(index).is_orphaned()
    }

    /// Takes the job at `index` if a thief has given it back. A job must have been pushed at `index` at some time.
    pub(crate) fn adopt(&self, index: u32, thief: Thief) -> Option<Claim> {
        let slot = self.slot(index);
        (slot.is_orphaned() && slot.adopt(thief)).then_some(Claim { index })
    }

    /// The thief calls this when it has run the job. Returns `true` if the owner sleeps and must be woken.
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
            // SAFETY: below `ready` both are initialised, and no other thread has the stack.
            unsafe {
                jobs[index].assume_init_drop();
                slots[index].assume_init_drop();
            }
        }
    }
}
