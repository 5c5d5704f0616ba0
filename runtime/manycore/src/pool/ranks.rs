//! The state of each permit's holder with respect to loops.

use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};

/// The holder of a permit is at work.
const NEVER: u64 = u64::MAX;

/// For each permit a line of its own, which only its holder writes.
pub(crate) struct Ranks<P: Platform>(Box<[CachePadded<Rank<P>>]>);

struct Rank<P: Platform> {
    /// Whether the holder is at work: read by nested loops, to find out whether a thread could help.
    busy: P::AtomicBool,
    /// Since when the holder looks for work, in ticks, or `NEVER`: it has some. Read by threads
    /// that come to run late.
    idle_since: P::AtomicU64,
    /// The address of the last loop's frame: the next frame is most likely there too.
    last_frame: P::AtomicPtr<()>,
    /// How many loops the permit is barred from, and their slots.
    bars: P::AtomicU32,
    barred: Lock<P, Vec<usize>>,
}

impl<P: Platform> Ranks<P> {
    pub(super) fn new(permits: usize) -> Self {
        let rank = |permit| {
            CachePadded::new(Rank {
                busy: P::AtomicBool::new(true),
                // Callers that hold permit 0 note nothing, and other permits may have had no holder
                // yet.
                idle_since: P::AtomicU64::new(if permit == 0 { NEVER } else { 0 }),
                last_frame: P::AtomicPtr::new(std::ptr::null_mut()),
                bars: P::AtomicU32::new(0),
                barred: Lock::new(Vec::new()),
            })
        };
        Self((0..permits).map(rank).collect())
    }

    /// For a simulator's accounts.
    pub(super) fn name(&self) {
        P::name(&*self.0, "pool: ranks");
    }

    /// Says whether the holder of `permit` is at work.
    ///
    /// Relaxed: a hint, and no other memory is read on its strength. Looking first
    /// spares the line, which is written by this worker only.
    pub(super) fn set_busy(&self, permit: usize, busy: bool) {
        let word = &self.0[permit].busy;
        if word.load(Ordering::Relaxed) != busy {
            word.store(busy, Ordering::Relaxed);
        }
    }

    /// Whether the holder of `permit` is at work, as a hint.
    pub(super) fn is_busy(&self, permit: usize) -> bool {
        self.0[permit].busy.load(Ordering::Relaxed)
    }

    /// The holder of `permit` has looked for work, and found none.
    ///
    /// Relaxed, and a look first: as in `set_busy`.
    pub(super) fn note_idle(&self, permit: usize) {
        let since = &self.0[permit].idle_since;
        if since.load(Ordering::Relaxed) == NEVER {
            since.store(P::now(), Ordering::Relaxed);
        }
    }

    /// The holder of `permit` has found work, or leaves the permit to another thread, which may
    /// have some. Relaxed, and a look first: as in `set_busy`.
    pub(super) fn note_work(&self, permit: usize) {
        let since = &self.0[permit].idle_since;
        if since.load(Ordering::Relaxed) != NEVER {
            since.store(NEVER, Ordering::Relaxed);
        }
    }

    /// How many permits have had holders at work at some time `since` then, as a hint. Permit 0, if callers
    /// take it, always counts.
    pub(super) fn at_work_since(&self, since: u64) -> usize {
        let works = |rank: &&CachePadded<Rank<P>>| rank.idle_since.load(Ordering::Relaxed) > since;
        self.0.iter().filter(works).count()
    }

    /// Whether some worker is waiting for work, as a hint.
    pub(crate) fn anyone_idle(&self) -> bool {
        self.0.iter().any(|rank| !rank.busy.load(Ordering::Relaxed))
    }

    /// Fetches the frame of the last loop that the holder of `permit` helped with. Relaxed: an address to
    /// prefetch, which no thread dereferences.
    #[inline]
    pub(super) fn prefetch_frame(&self, permit: usize) {
        P::prefetch(self.0[permit].last_frame.load(Ordering::Relaxed));
    }

    /// The holder of `permit` helps with the loop that has this frame.
    #[inline]
    pub(super) fn note_frame(&self, permit: usize, frame: *const ()) {
        self.0[permit]
            .last_frame
            .store(frame.cast_mut(), Ordering::Relaxed);
    }

    /// Keeps the holder of `permit` out of the loop in `slot`, where another thread has that number as its
    /// rank.
    pub(super) fn bar(&self, permit: usize, slot: usize) {
        let rank = &self.0[permit];
        rank.barred.with(|slots| slots.push(slot));
        // Relaxed: handed over with the permit.
        rank.bars.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes `bar` back.
    pub(super) fn unbar(&self, permit: usize, slot: usize) {
        let rank = &self.0[permit];
        rank.barred.with(|slots| {
            let index = slots.iter().rposition(|&barred| barred == slot);
            slots.swap_remove(index.expect("barred by this thread"));
        });
        // Release: the next participant with this number comes after all that this thread did with it.
        rank.bars.fetch_sub(1, Ordering::Release);
    }

    /// Whether the holder of `permit` must not help in `slot`. Cost: one load of a line
    /// that is the holder's own.
    #[inline]
    pub(super) fn is_barred(&self, permit: usize, slot: usize) -> bool {
        let rank = &self.0[permit];
        // Acquire pairs with `unbar`.
        rank.bars.load(Ordering::Acquire) != 0 && rank.barred.with(|slots| slots.contains(&slot))
    }
}
