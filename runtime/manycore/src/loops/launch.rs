//! Launching a loop: the frame that helpers share, and the caller's way through a
//! posted loop.

use super::invitation::Invitation;
use crate::clusters::Invited;
use crate::partition::{ALONE, Body, Claims, Partition, Place, Ranges};
use crate::pool::{Context, Participant, Participation, PostedLoop, Registry, Shared, Waited};
use manycore_cores::elastic::Allotment;
use manycore_cores::sync::let_go;
use manycore_platform::{Atomic, Ordering, Platform};
use std::any::Any;
use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

/// The part of a posted loop that all participants share; on the caller's stack.
///
/// Aligned so that what a helper reads, down to the mutex, is one line and its neighbour: the caller's
/// stores here must reach the helper, and the fewer lines they are on, the sooner it starts. And
/// a third line in a row would make helpers' prefetchers believe in a stream: they would fetch the
/// lines of the caller's stack that come next, and the caller would have to take them back one by one.
#[repr(C, align(128))]
pub(super) struct LoopFrame<'a, P: Platform, S: Partition> {
    body: Body<'a>,
    /// Index of the partition's iteration 0.
    start: usize,
    /// The allotment that helpers follow, if any.
    allotment: Option<&'a Allotment<P>>,
    partition: S,
    /// Set when a body has panicked: claim no more. Read once a block, from a
    /// line that is otherwise only read.
    stop: P::AtomicBool,
    /// Set when a helper has left iterations of its own; read by the caller when it
    /// has found no more work.
    abandoned: P::AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<'a, P: Platform, S: Partition> LoopFrame<'a, P, S> {
    /// Helpers read this many bytes of a frame, the first ones.
    pub(super) const READ: usize = std::mem::offset_of!(Self, panic);

    pub(super) fn new(
        body: Body<'a>,
        start: usize,
        partition: S,
        allotment: Option<&'a Allotment<P>>,
    ) -> Self {
        Self {
            body,
            start,
            partition,
            stop: P::AtomicBool::new(false),
            allotment,
            abandoned: P::AtomicBool::new(false),
            panic: Mutex::new(None),
        }
    }

    /// A helper's part: until nothing is left, or the allotment does not allow it. Its partial result, if
    /// it has one, goes to the slot `partial`.
    ///
    /// # Safety
    ///
    /// `partial` is a [`PartialSlot`](crate::pool::PartialSlot) that only this loop uses.
    pub(super) unsafe fn help(&self, rank: usize, partial: *const ()) -> Participation {
        let Some(allotment) = self.allotment else {
            // SAFETY: by contract.
            return unsafe { self.help_while(rank, partial, always) };
        };
        let allowed = || allotment.allows(rank);
        if !allowed() {
            return Participation::Left;
        }
        // SAFETY: by contract.
        unsafe { self.help_while(rank, partial, allowed) }
    }

    /// # Safety
    ///
    /// As for [`help`](Self::help).
    #[inline(always)]
    unsafe fn help_while(
        &self,
        rank: usize,
        partial: *const (),
        allowed: impl Fn() -> bool,
    ) -> Participation {
        self.watched(|| {
            let mut participation = Participation::Done;
            let mut work = |place| participation = self.work(rank, place, &allowed, |_| (), |_| ());
            // SAFETY: by contract.
            unsafe { self.body.inside(rank, partial, &mut work) };
            participation
        })
    }

    /// The caller's part, which is always allowed; the iterations that it ran, and the ticks that they
    /// took, if the partition times them. `between` is called between blocks, and says so.
    pub(super) fn call(&self, rank: usize, between: impl Fn() -> bool) -> (usize, Option<u64>) {
        let (ran, busy) = (Cell::new(0), Cell::new(None));
        let add = |iterations| ran.set(ran.get() + iterations);
        let place = self.body.of_caller(rank);
        let _ =
            self.watched(|| self.work(rank, place, between, add, |claims| busy.set(claims.busy())));
        (ran.get(), busy.get())
    }

    /// Whether a helper has left iterations of its own. The helper sets this before it leaves, so a caller
    /// that looks again after all have left misses nothing.
    pub(super) fn is_abandoned(&self) -> bool {
        // Relaxed: `take_up` acquires.
        self.abandoned.load(Ordering::Relaxed)
    }

    /// The caller goes back for what was left.
    pub(super) fn take_up(&self) {
        // Acquire pairs with the release in `abandon`, of each helper so far: the
        // iterations are found where they were left.
        self.abandoned.swap(false, Ordering::Acquire);
    }

    /// Claims and runs blocks until nothing is left, or it is no longer `allowed`. `ran` gets the length of
    /// each block, and `ended` the claims when nothing is left.
    #[inline(always)]
    fn work(
        &self,
        rank: usize,
        place: Place,
        allowed: impl Fn() -> bool,
        ran: impl Fn(usize),
        ended: impl Fn(&S::Claims<'_>),
    ) -> Participation {
        let mut claims = self.partition.claims(rank);
        while let Some(block) = claims.next() {
            // Relaxed: a late look costs a block, not correctness.
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            self.body
                .run_at(place, self.start + block.start..self.start + block.end);
            ran(block.len());
            if !allowed() {
                return self.abandon(claims);
            }
        }
        ended(&claims);
        Participation::Done
    }

    /// Calls `work`. A panic of the body stops the loop and is kept for the caller.
    #[inline(always)]
    fn watched(&self, work: impl FnOnce() -> Participation) -> Participation {
        // Unwind safety: the frame's own state is atomics, and what the body
        // broke the caller learns of by the panic it gets.
        let worked = catch_unwind(AssertUnwindSafe(work));
        worked.unwrap_or_else(|payload| {
            self.stop.store(true, Ordering::Relaxed);
            let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            let later = match &mut *first {
                Some(_) => Some(payload),
                none => {
                    *none = Some(payload);
                    None
                }
            };
            // Not under the lock: see below.
            drop(first);
            if let Some(payload) = later {
                let_go(payload);
            }
            Participation::Done
        })
    }

    /// Leaves what is left to others, and says so if they may have overlooked it.
    #[cold]
    fn abandon(&self, claims: impl Claims) -> Participation {
        if !claims.abandon() {
            return Participation::Left;
        }
        // Release pairs with the acquire in `take_up`: a thread that sees the flag sees this helper's shard
        // as the helper left it, or a later state.
        self.abandoned.store(true, Ordering::Release);
        Participation::Abandoned
    }
}

/// For helpers that follow no allotment, and for the caller.
fn always() -> bool {
    true
}

/// Whether a posted loop wakes a sleeper, when there is one; with the ticks of work that it has.
#[derive(Clone, Copy)]
pub(crate) enum Wake {
    /// At once.
    Always,
    /// At once, for a loop of so much work.
    Now(f32),
    /// Once it has lasted as long as a wake-up takes: what was known of it was wrong then, or waking a
    /// helper would have paid by now (the ski-rental argument again).
    Late(f32),
}

impl Wake {
    /// The ticks of work that the loop has; unknown: infinite.
    pub(super) fn work(self) -> f32 {
        match self {
            Self::Always => f32::INFINITY,
            Self::Now(work) | Self::Late(work) => work,
        }
    }
}

/// The threads that a loop is about to invite. Its partition asks for their shares.
pub(crate) struct Shares<'p, P: Platform> {
    pool: &'p Shared<P>,
    slot: usize,
    /// The rank of the caller.
    pub(super) caller: usize,
    invited: Invited,
}

impl<'p, P: Platform> Shares<'p, P> {
    /// In a pool of one thread.
    pub(super) fn alone(pool: &'p Shared<P>, slot: usize) -> Self {
        Self {
            pool,
            slot,
            caller: ALONE,
            invited: pool.clusters().all(),
        }
    }

    /// Whether all clusters are invited.
    pub(super) fn are_for_all(&self) -> bool {
        self.invited == self.pool.clusters().all()
    }

    /// The iterations `0..n`, a share for each of the threads that may run now.
    pub(super) fn of(&self, n: usize) -> Ranges<'p, P> {
        let clusters = self.pool.clusters();
        let shards = self.pool.board().shards(self.slot, clusters);
        let allowed = self.pool.allowed();
        Ranges::new(shards, clusters, n, self.caller, allowed, self.invited)
    }
}

/// How a posted loop went; times in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    /// From the post to the end.
    pub(crate) took: f32,
    /// How long the caller worked in it, without the search for work if that is known, and on how many
    /// iterations.
    pub(crate) own: f32,
    pub(crate) own_n: usize,
}

impl Posted {
    /// Ticks that an iteration took the caller, if it ran one.
    pub(crate) fn each(self) -> Option<f32> {
        (self.own_n > 0).then(|| self.own / self.own_n as f32)
    }
}

impl<P: Platform> Registry<P> {
    /// Posts a loop and works in it until it is done. Returns how that went;
    /// `None`: all slots of the board are in use, and nothing was run. `partition` makes the
    /// partition. It runs none of the user's
    /// code: that may bring the thread to another permit.
    ///
    /// Memory traffic until a spinning helper runs its first block: the caller
    /// writes the frame, the slot's header (job and gate, one line) and the event
    /// count; the helper fetches these, and then its claim word: a line
    /// transfer each. At the end the helper's `leave` and the caller's look at
    /// the gate are one transfer each way. Bookkeeping waits until the post is
    /// out.
    ///
    /// # Panics
    ///
    /// With the first panic of a body, after every participant has left.
    pub(crate) fn post<'p, S: Partition>(
        &'p self,
        body: Body<'_>,
        iterations: Range<usize>,
        wake: Wake,
        partition: impl FnOnce(Shares<'p, P>) -> S,
    ) -> Option<Posted> {
        let shared = self.shared();
        let slot = Context::take_slot(shared)?;
        let (posted, panic) = Context::take_part(shared, slot.index(), |me| {
            let invited = shared.invite(me.rank, wake.work(), iterations.len());
            let partition = partition(Shares {
                pool: shared,
                slot: slot.index(),
                caller: me.rank,
                invited,
            });
            let launch = (slot.index(), me, invited);
            self.run_posted(launch, body, iterations, partition, wake)
        });
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
        Some(posted)
    }

    /// As `post`, in `slot`. This thread has taken the slot and takes part in its loop. Returns a body's
    /// panic as well.
    fn run_posted<S: Partition>(
        &self,
        (slot, me, invited): (usize, Participant, Invited),
        body: Body<'_>,
        iterations: Range<usize>,
        partition: S,
        wake: Wake,
    ) -> (Posted, Option<Box<dyn Any + Send>>) {
        unsafe fn run<P: Platform, S: Partition>(
            frame: *const (),
            rank: usize,
            partial: *const (),
        ) -> Participation {
            // SAFETY: `frame` is the `Frame<P, S>` below, which lives until
            // the gate is closed and empty; the caller of this is inside. The slot is the entrance's.
            unsafe { (*frame.cast::<LoopFrame<'_, P, S>>()).help(rank, partial) }
        }
        let helpers = (self.shared().threads() - 1)
            .min(iterations.len().saturating_sub(1))
            .max(1);
        let helpers = self.shared().idle().helpers(wake.work(), helpers);
        let frame =
            LoopFrame::<P, S>::new(body, iterations.start, partition, self.shared().allotment());
        P::name(&frame.partition, "loop: claims");
        let job = PostedLoop {
            frame: std::ptr::from_ref(&frame).cast(),
            run: run::<P, S>,
            helpers: helpers as u32,
            invited,
        };
        self.shared().board().slot(slot).set_parent(me.parent);
        let invitation = Invitation::new(self, slot, helpers, invited);
        let own_cluster = self.shared().clusters().of(me.rank).cluster as usize;
        // SAFETY: this thread took the slot, so its gates are closed and empty; the frame lives until
        // `wait` below has seen them so again.
        unsafe { invitation.open(own_cluster, job) };
        let started = P::now();
        let mut began = started;
        if invitation.call(wake, started) {
            began = P::now();
        }
        let between = || {
            // SAFETY: as above.
            unsafe { invitation.between(job, |more| frame.partition.admit(more)) };
            true
        };
        // From here to the end of `wait` nothing may unwind past the frame:
        // `take_part` catches what the body throws, the rest does not panic.
        let (mut own, mut own_n) = (0, 0);
        loop {
            let (ran, busy) = frame.call(me.rank, between);
            own_n += ran;
            own += busy.unwrap_or_else(|| P::now().saturating_sub(began));
            let waited = self.wait(slot, invitation.invited(), &|| frame.is_abandoned());
            if waited == Waited::Over {
                break;
            }
            frame.take_up();
            invitation.open_again();
            began = P::now();
        }
        if body.gathers() {
            self.gather(slot, invitation.invited(), body);
        }
        let ended = P::now();
        self.shared()
            .idle()
            .loop_ended(body.caller(), started, ended);
        let panic = frame
            .panic
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let posted = Posted {
            took: ended.saturating_sub(started) as f32,
            own: own as f32,
            own_n,
        };
        (posted, panic)
    }

    /// The caller of the loop in `slot` takes the partial results of its helpers, which have left.
    #[inline(never)]
    fn gather(&self, slot: usize, invited: Invited, body: Body<'_>) {
        for partial in self.shared().board().entrances(slot, invited).partials() {
            // SAFETY: this thread has the slot, and the slot's gates are closed and empty.
            unsafe { body.take(std::ptr::from_ref(partial).cast()) };
        }
    }
}
