//! How threads claim the iterations of a loop that [`adaptive`](super::adaptive) shares: from a counter if the loop
//! has few iterations, and otherwise from ranges.

use super::inline_run::InlineRun;
use super::launch::LoopFrame;
use crate::clusters::Invited;
use crate::partition::{
    BlockRate, Claims, FixedBlock, FixedBlockClaims, Partition, Ranges, TimedClaims,
};
use manycore_platform::{Atomic, Native, Ordering, Platform};
use std::ops::Range;

/// A loop of few iterations. Each iteration is claimed by itself.
pub(super) struct Few<'a, P: Platform> {
    pub(super) counter: FixedBlock<P>,
    /// Whether an iteration has ended. `None` in a pool of one cluster: a thread there soon claims its next iteration,
    /// and so sees that its last one has ended before. This is in the frame, which participants otherwise only read.
    pub(super) ended: Option<P::AtomicBool>,
    /// Whether an iteration has ended before another one began.
    pub(super) in_turn: &'a P::AtomicBool,
    /// The caller's rank (number in the loop).
    pub(super) caller: usize,
    /// The whole loop, if the pool's monitor watches its caller, and the iteration of that loop at which this counter
    /// begins.
    pub(super) watched: Option<(&'a InlineRun<'a, P>, usize)>,
}

pub(super) struct FewClaims<'a, P: Platform> {
    claims: FixedBlockClaims<'a, P>,
    ended: Option<&'a P::AtomicBool>,
    in_turn: &'a P::AtomicBool,
    has_one: bool,
    /// The times of the caller's iterations. Helpers' iterations are not timed.
    times: Option<Times>,
    /// The loop that the monitor watches, in the claims of its caller. `None` in the claims of a helper.
    watched: Option<&'a InlineRun<'a, P>>,
}

/// Sets a flag. If it is set already, the load avoids a write to the shared cache line.
#[inline]
fn set<B: Atomic<bool>>(flag: &B) {
    // Relaxed: the flags affect only time.
    if !flag.load(Ordering::Relaxed) {
        flag.store(true, Ordering::Relaxed);
    }
}

/// The times of one thread's iterations, without its claims: a thread may wait long for the counter's line.
#[derive(Default)]
struct Times {
    /// When the current iteration started.
    started: u64,
    /// The ticks of all earlier iterations.
    busy: u64,
}

impl<P: Platform> Partition for Few<'_, P> {
    type Claims<'a>
        = FewClaims<'a, P>
    where
        Self: 'a;

    #[inline]
    fn claims(&self, rank: usize) -> FewClaims<'_, P> {
        let watched = self.watched.filter(|_| rank == self.caller);
        if let Some((watched, first)) = watched {
            // SAFETY: dropping the claims ends this post (`end_post`), and the counter outlives the claims.
            unsafe { watched.post(&self.counter, first) };
        }
        FewClaims {
            claims: self.counter.claims(rank),
            ended: self.ended.as_ref(),
            in_turn: self.in_turn,
            has_one: false,
            times: (rank == self.caller).then(Times::default),
            watched: watched.map(|(watched, _)| watched),
        }
    }
}

impl<P: Platform> Claims for FewClaims<'_, P> {
    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        if let Some(watched) = self.watched {
            watched.step();
        }
        if self.has_one {
            if let Some(times) = &mut self.times {
                times.busy += P::now().saturating_sub(times.started);
            }
            self.ended.map(set);
        }
        let next = self.claims.next()?;
        if let Some(times) = &mut self.times {
            times.started = P::now();
        }
        // Relaxed: the iteration that set the flag has ended, and the iteration `next` has not begun.
        let ended = |flag: &P::AtomicBool| flag.load(Ordering::Relaxed);
        if std::mem::replace(&mut self.has_one, true) || self.ended.is_some_and(ended) {
            set(self.in_turn);
        }
        Some(next)
    }

    fn busy(&self) -> Option<u64> {
        self.times.as_ref().map(|times| times.busy)
    }
}

impl<P: Platform> Drop for FewClaims<'_, P> {
    fn drop(&mut self) {
        if let Some(watched) = self.watched {
            watched.end_post();
        }
    }
}

/// A loop whose threads have ranges, and steal from each other. The clock decides the sizes of blocks.
pub(super) struct Adaptive<'a, P: Platform> {
    pub(super) ranges: Ranges<'a, P>,
    /// The predicted ticks of an iteration, or 0 if nothing is known.
    pub(super) guess: f32,
    /// The ticks that a block may take at most.
    pub(super) max_ticks: f32,
    /// The ticks that a claim costs.
    pub(super) claim: u64,
    pub(super) caller: u32,
    /// Whether the caller's first block is one iteration.
    pub(super) tries: bool,
    /// Whether each participant's first block is one iteration. If a wrong guess makes a block long, many participants
    /// would be idle until its end.
    pub(super) all_try: bool,
}

const _: () = assert!(
    LoopFrame::<'static, Native, Adaptive<'static, Native>>::READ <= 128,
    "helpers read a line and its neighbour"
);

impl<P: Platform> Partition for Adaptive<'_, P> {
    type Claims<'a>
        = TimedClaims<'a, P>
    where
        Self: 'a;

    fn claims(&self, rank: usize) -> TimedClaims<'_, P> {
        let tries = self.all_try || (rank == self.caller as usize && self.tries);
        let rate = BlockRate::new(self.guess, self.claim, self.max_ticks, tries);
        TimedClaims::new(self.ranges.own(rank), rate)
    }

    fn admit(&self, more: Invited) {
        self.ranges.admit(more);
    }
}
