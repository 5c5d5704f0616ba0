//! Launching a loop: the frame that the helpers read, and what the caller of a posted loop does.

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

/// The part of a posted loop that all participants share. It is on the caller's stack.
///
/// The frame is aligned so that a helper reads only one cache line and its neighbour. These two lines end before the
/// mutex. The caller's stores must reach the helper, and the fewer lines they are on, the sooner the helper starts. A
/// third line in a row would also make helpers' prefetchers assume a stream. They would then fetch the next lines of
/// the caller's stack, and the caller would have to get them back one by one.
#[repr(C, align(128))]
pub(super) struct LoopFrame<'a, P: Platform, S: Partition> {
    body: Body<'a>,
    /// The index of the partition's iteration 0.
    start: usize,
    /// The allotment that helpers follow, if any.
    allotment: Option<&'a Allotment<P>>,
    partition: S,
    /// Set once a body has panicked. Participants then claim nothing more. They read this once for each block, from a
    /// line that is otherwise only read.
    stop: P::AtomicBool,
    /// Set when a helper has left iterations in its range. The caller reads this when it finds no more work.
    abandoned: P::AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<'a, P: Platform, S: Partition> LoopFrame<'a, P, S> {
    /// Helpers read only this many bytes at the beginning of a frame.
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

    /// The helper's part of the loop. The helper works until nothing is left, or until the allotment no longer allows
    /// this rank. If the helper has a partial result, it puts the result into the slot `partial`.
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

    /// The caller's part of the loop. Returns the number of iterations that the caller ran, and the ticks that they
    /// took if the partition times them. Between blocks the caller calls `between`, and continues while `between`
    /// returns true.
    pub(super) fn call(&self, rank: usize, between: impl Fn() -> bool) -> (usize, Option<u64>) {
        let (ran, busy) = (Cell::new(0), Cell::new(None));
        let add = |iterations| ran.set(ran.get() + iterations);
        let place = self.body.of_caller(rank);
        let _ =
            self.watched(|| self.work(rank, place, between, add, |claims| busy.set(claims.busy())));
        (ran.get(), busy.get())
    }

    /// Whether a helper has left iterations in its range. The helper sets this before it leaves, so a caller that
    /// looks again after all helpers have left finds those iterations.
    pub(super) fn is_abandoned(&self) -> bool {
        // Relaxed: `take_up` acquires.
        self.abandoned.load(Ordering::Relaxed)
    }

    /// The caller calls this before it runs the iterations that helpers left.
    pub(super) fn take_up(&self) {
        // Acquire pairs with the release in `abandon` of each helper so far: the caller finds the iterations where
        // the helpers left them.
        self.abandoned.swap(false, Ordering::Acquire);
    }

    /// Claims and runs blocks until nothing is left, or until `allowed` returns false. Calls `ran` with the length
    /// of each block, and `ended` with the claims when nothing is left.
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
            // Relaxed: if this thread sees the flag late, it runs a block more, which is still correct.
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

    /// Calls `work`. If the body panics, stops the loop and keeps the panic for the caller.
    #[inline(always)]
    fn watched(&self, work: impl FnOnce() -> Participation) -> Participation {
        // Unwind safety: the frame's own state is atomic. If the body broke a value, the caller learns of it from
        // the panic that it gets.
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
            // `let_go` runs user code if it drops the payload, so the lock is released first.
            drop(first);
            if let Some(payload) = later {
                let_go(payload);
            }
            Participation::Done
        })
    }

    /// Leaves the rest of the iterations to other threads. If other threads may have overlooked these iterations, sets
    /// the flag for the caller.
    #[cold]
    fn abandon(&self, claims: impl Claims) -> Participation {
        if !claims.abandon() {
            return Participation::Left;
        }
        // Release pairs with the acquire in `take_up`: a thread that sees the flag sees this helper's shard (its range)
        // as the helper left it, or a later state.
        self.abandoned.store(true, Ordering::Release);
        Participation::Abandoned
    }
}

/// The condition for helpers that follow no allotment.
fn always() -> bool {
    true
}

/// When a posted loop wakes sleepers, and how many ticks of work it has.
#[derive(Clone, Copy)]
pub(crate) enum Wake {
    /// Wakes at once.
    Always,
    /// Wakes at once, for a loop with this many ticks of work.
    Now(f32),
    /// Wakes once a loop with this many ticks of work has lasted as long as a wake-up takes. Then the prediction was
    /// too low, or waking a helper at the start would already have saved time (a ski-rental argument).
    Late(f32),
}

impl Wake {
    /// The ticks of work that the loop has, or infinity if unknown.
    pub(super) fn work(self) -> f32 {
        match self {
            Self::Always => f32::INFINITY,
            Self::Now(work) | Self::Late(work) => work,
        }
    }
}

/// The threads that a loop is about to invite. The loop's partition asks for their shares.
pub(crate) struct Shares<'p, P: Platform> {
    pool: &'p Shared<P>,
    slot: usize,
    /// The rank of the caller.
    pub(super) caller: usize,
    invited: Invited,
}

impl<'p, P: Platform> Shares<'p, P> {
    /// Makes the shares for a pool of one thread.
    pub(super) fn alone(pool: &'p Shared<P>, slot: usize) -> Self {
        Self {
            pool,
            slot,
            caller: ALONE,
            invited: pool.clusters().all(),
        }
    }

    /// Whether all clusters (groups of near workers) are invited.
    pub(super) fn are_for_all(&self) -> bool {
        self.invited == self.pool.clusters().all()
    }

    /// Divides the iterations `0..n`: each thread that may run now gets a share.
    pub(super) fn of(&self, n: usize) -> Ranges<'p, P> {
        let clusters = self.pool.clusters();
        let shards = self.pool.board().shards(self.slot, clusters);
        let allowed = self.pool.allowed();
        Ranges::new(shards, clusters, n, self.caller, allowed, self.invited)
    }
}

/// How a posted loop went. Times are in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    /// The time from the post to the end.
    pub(crate) took: f32,
    /// How long the caller worked in the loop, without its search for work if the time of that search is known.
    pub(crate) own: f32,
    /// How many iterations the caller ran.
    pub(crate) own_n: usize,
}

impl Posted {
    /// The ticks that an iteration took the caller, if it ran any.
    pub(crate) fn each(self) -> Option<f32> {
        (self.own_n > 0).then(|| self.own / self.own_n as f32)
    }
}

impl<P: Platform> Registry<P> {
    /// Posts a loop and works in it until it is done. Returns how the loop went, or `None` if all slots of the board
    /// (the list of posted loops) are in use and nothing has run. `partition` makes the partition. `partition` must run
    /// no user code, since in user code the thread may wait and continue with another permit, which means another rank.
    ///
    /// Memory traffic until a spinning helper runs its first block: the caller writes the frame, the slot's header (job
    /// and gate, one line) and the event count (which each post changes). The helper fetches these, and then its claim
    /// word. Each fetch is the transfer of one line. The caller also writes the words that say which threads hold
    /// iterations; a helper first touches its cluster's word when its range is empty. At the end, the helper's `leave`
    /// and the caller's look at the gate transfer a line each way. Bookkeeping waits until the loop is posted.
    ///
    /// # Panics
    ///
    /// If a body panics. This continues the first panic once every participant has left.
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

    /// Like `post`, in `slot`. This thread has taken the slot and takes part in the slot's loop. Also returns a
    /// body's panic.
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
            // SAFETY: `frame` is the `LoopFrame<P, S>` below, which lives until the gate is closed and empty. The
            // caller of this function is inside the gate. `partial` is the slot of this loop's entrance.
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
        // SAFETY: this thread took the slot, so the slot's gates are closed and empty. The frame lives until
        // `wait` below has seen the gates closed and empty again.
        unsafe { invitation.open(own_cluster, job) };
        let started = P::now();
        let mut began = started;
        if invitation.call(wake, started) {
            began = P::now();
        }
        let between = || {
            // SAFETY: as for `open` above.
            unsafe { invitation.between(job, |more| frame.partition.admit(more)) };
            true
        };
        // From here to the end of `wait` nothing may unwind past the frame. `watched` catches the body's panics,
        // and the rest does not panic.
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

    /// Takes the partial results of the helpers, which have left, for the caller of the loop in `slot`.
    #[inline(never)]
    fn gather(&self, slot: usize, invited: Invited, body: Body<'_>) {
        for partial in self.shared().board().entrances(slot, invited).partials() {
            // SAFETY: this thread has the slot, and the slot's gates are closed and empty.
            unsafe { body.take(std::ptr::from_ref(partial).cast()) };
        }
    }
}
