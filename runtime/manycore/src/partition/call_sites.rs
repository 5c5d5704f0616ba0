//! What an iteration cost the last time, and whether sharing the loop gained, by the
//! place in the program.

use super::speedup::Speedup;
use manycore_platform::{Atomic, Ordering, Platform};

/// A small table of what loops were like, keyed by the loop's body (its code
/// address) and the magnitude of its length: the time an iteration takes on a thread
/// that runs the loop alone, and the [`Speedup`] of posting it.
///
/// A loop that has run before is so judged before it starts: a short one runs
/// inline at the cost of one lookup and two clock reads, a long one is posted
/// at once. Two bodies may share an entry, or one body may do other work the
/// next time: the entry is a guess, and every loop that relies on it measures
/// again and corrects it.
///
/// The time is one word (32 bits of key, a 32-bit float of ticks), the speedup
/// another, so readers see a consistent one of each. Relaxed: a stale guess is a
/// guess.
pub(crate) struct CallSites<P: Platform> {
    entries: Box<[Entry<P>]>,
}

struct Entry<P: Platform> {
    time: P::AtomicU64,
    speedup: P::AtomicU64,
}

/// 4 KiB a pool; a program has few hot loops at a time.
const ENTRIES: usize = 256;

/// Where a loop's entry is.
#[derive(Clone, Copy)]
pub(crate) struct CallSite {
    index: usize,
    tag: u32,
}

impl CallSite {
    /// The call site of a loop over `n` iterations of the code at `body`.
    #[inline]
    pub(crate) fn new(body: usize, n: usize) -> Self {
        // Relative to some other code: where the loader put the program must
        // not decide which bodies share an entry, least of all in a simulation.
        let body = body.wrapping_sub(Self::new as fn(usize, usize) -> Self as usize);
        // Fibonacci hashing: the product's high bits depend on all of the key.
        let key = (body as u64) << 6 | u64::from(n.leading_zeros());
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self {
            index: (hash >> 56) as usize,
            tag: (hash >> 16) as u32,
        }
    }
}

impl<P: Platform> CallSites<P> {
    pub(crate) fn new() -> Self {
        let entry = |_| Entry {
            time: P::AtomicU64::new(0),
            speedup: P::AtomicU64::new(0),
        };
        Self {
            entries: (0..ENTRIES).map(entry).collect(),
        }
    }

    /// Ticks an iteration took, if this loop ran lately.
    #[inline]
    pub(crate) fn recall(&self, call_site: CallSite) -> Option<f32> {
        let entry = self.entries[call_site.index].time.load(Ordering::Relaxed);
        let ticks = f32::from_bits(entry as u32);
        ((entry >> 32) as u32 == call_site.tag && ticks > 0.0).then_some(ticks)
    }

    /// [`recall`](Self::recall) for a loop of `n` iterations that is unknown, but has
    /// run with half or twice as many.
    pub(crate) fn recall_near(&self, body: usize, n: usize) -> Option<f32> {
        let near = [n / 2, n.saturating_mul(2)];
        near.into_iter()
            .find_map(|n| self.recall(CallSite::new(body, n)))
    }

    /// Keeps a new measurement. A fall counts at once by half, a rise by a
    /// quarter: an interrupt makes a loop look slow, nothing makes it look fast.
    #[inline]
    pub(crate) fn learn(&self, call_site: CallSite, before: Option<f32>, ticks: f32) {
        let ticks = ticks.max(f32::MIN_POSITIVE);
        let mean = match before {
            Some(old) if ticks > old => old + (ticks - old) / 4.0,
            Some(old) => (old + ticks) / 2.0,
            None => ticks,
        };
        let entry = &self.entries[call_site.index];
        // The line is read by every short loop; leave it be for small change.
        if before.is_none_or(|old| (mean - old).abs() > old / 16.0) {
            let time = u64::from(call_site.tag) << 32 | u64::from(mean.to_bits());
            entry.time.store(time, Ordering::Relaxed);
        }
        if before.is_none() {
            // The speedup was another loop's.
            entry
                .speedup
                .store(Speedup::new().bits(), Ordering::Relaxed);
        }
    }

    /// What posting the loop, which is known, has gained lately.
    #[inline]
    pub(crate) fn speedup(&self, call_site: CallSite) -> Speedup {
        Speedup::of_bits(
            self.entries[call_site.index]
                .speedup
                .load(Ordering::Relaxed),
        )
    }

    #[inline]
    pub(crate) fn set_speedup(&self, call_site: CallSite, speedup: Speedup) {
        self.entries[call_site.index]
            .speedup
            .store(speedup.bits(), Ordering::Relaxed);
    }
}
