//! For each permit (right to run jobs), the state of its holder with respect to loops.

use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};

/// The value of `idle_since` while the permit's holder is at work.
const NEVER: u64 = u64::MAX;

/// The state of the holder of each permit. Each state is on a cache line of its own, which only that holder writes.
pub(crate) struct PermitHolders<P: Platform>(Box<[CachePadded<PermitHolder<P>>]>);

struct PermitHolder<P: Platform> {
    /// Whether the holder is at work. Nested loops read this to find out whether a thread could help.
    busy: P::AtomicBool,
    /// The time, in ticks, since which the holder looks for work, or `NEVER` if it has work. A thread reads this when
    /// the system has run it late, to find out which other threads were idle meanwhile.
    idle_since: P::AtomicU64,
    /// The address of the last loop's frame (the loop's state on its caller's stack). The next loop's frame is most
    /// likely at the same address.
    last_frame: P::AtomicPtr<()>,
    /// The number of loops that the permit is barred from.
    bars: P::AtomicU32,
    /// The slots of these loops.
    barred: Lock<P, Vec<usize>>,
}

impl<P: Platform> PermitHolders<P> {
    pub(super) fn new(permits: usize) -> Self {
        let holder = |permit| {
            CachePadded::new(PermitHolder {
                busy: P::AtomicBool::new(true),
                // Callers that hold permit 0 do not record idle times. Other permits may have no holder yet.
                idle_since: P::AtomicU64::new(if permit == 0 { NEVER } else { 0 }),
                last_frame: P::AtomicPtr::new(std::ptr::null_mut()),
                bars: P::AtomicU32::new(0),
                barred: Lock::new(Vec::new()),
            })
        };
        Self((0..permits).map(holder).collect())
    }

    /// Names the words for a simulator, which counts the accesses to each.
    pub(super) fn name(&self) {
        P::name(&*self.0, "pool: permit holders");
    }

    /// Records whether the holder of `permit` is at work.
    ///
    /// Relaxed: this is a hint, and no other memory is read because of it. The load before the store avoids a
    /// needless write of the cache line, which only this worker writes.
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

    /// Records that the holder of `permit` has looked for work, and found none.
    ///
    /// Relaxed, and a load first: as in `set_busy`.
    pub(super) fn note_idle(&self, permit: usize) {
        let since = &self.0[permit].idle_since;
        if since.load(Ordering::Relaxed) == NEVER {
            since.store(P::now(), Ordering::Relaxed);
        }
    }

    /// Records that the holder of `permit` has found work, or leaves the permit to another thread, which may have
    /// work. Relaxed, and a load first: as in `set_busy`.
    pub(super) fn note_work(&self, permit: usize) {
        let since = &self.0[permit].idle_since;
        if since.load(Ordering::Relaxed) != NEVER {
            since.store(NEVER, Ordering::Relaxed);
        }
    }

    /// The number of permits whose holders were at work at some time after `since`, as a hint. If callers take permit
    /// 0, this permit always counts.
    pub(super) fn at_work_since(&self, since: u64) -> usize {
        let works = |holder: &&CachePadded<PermitHolder<P>>| {
            holder.idle_since.load(Ordering::Relaxed) > since
        };
        self.0.iter().filter(works).count()
    }

    /// Whether some worker is waiting for work, as a hint.
    pub(crate) fn anyone_idle(&self) -> bool {
        self.0
            .iter()
            .any(|holder| !holder.busy.load(Ordering::Relaxed))
    }

    /// Prefetches the frame of the last loop that the holder of `permit` helped with. Relaxed: no thread
    /// dereferences the address.
    #[inline]
    pub(super) fn prefetch_frame(&self, permit: usize) {
        P::prefetch(self.0[permit].last_frame.load(Ordering::Relaxed));
    }

    /// Records that the holder of `permit` helps with the loop that has this `frame`.
    #[inline]
    pub(super) fn note_frame(&self, permit: usize, frame: *const ()) {
        self.0[permit]
            .last_frame
            .store(frame.cast_mut(), Ordering::Relaxed);
    }

    /// Keeps the holder of `permit` out of the loop in `slot`, in which another thread has the permit's number.
    pub(super) fn bar(&self, permit: usize, slot: usize) {
        let holder = &self.0[permit];
        holder.barred.with(|slots| slots.push(slot));
        // Relaxed: the next holder gets the count with the permit.
        holder.bars.fetch_add(1, Ordering::Relaxed);
    }

    /// Undoes `bar`.
    pub(super) fn unbar(&self, permit: usize, slot: usize) {
        let holder = &self.0[permit];
        holder.barred.with(|slots| {
            let index = slots.iter().rposition(|&barred| barred == slot);
            slots.swap_remove(index.expect("barred by this thread"));
        });
        // Release: all that this thread did under this number happens before the next participant uses the number.
        holder.bars.fetch_sub(1, Ordering::Release);
    }

    /// Whether the holder of `permit` must not help in `slot`. Cost: one load of the holder's own cache line.
    #[inline]
    pub(super) fn is_barred(&self, permit: usize, slot: usize) -> bool {
        let holder = &self.0[permit];
        // Acquire pairs with `unbar`.
        holder.bars.load(Ordering::Acquire) != 0
            && holder.barred.with(|slots| slots.contains(&slot))
    }
}
