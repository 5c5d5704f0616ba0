//! What an iteration cost the last time, by the place in the program.

use manycore_platform::{Atomic, Ordering, Platform};

/// A small table of measured times per iteration, keyed by the loop's body
/// (its code address) and the magnitude of its length.
///
/// A loop that has run before is so judged before it starts: a short one runs
/// inline at the cost of one lookup and two clock reads, a long one is posted
/// at once. Two bodies may share an entry, or one body may do other work the
/// next time: the entry is a guess, and every loop that relies on it measures
/// again and corrects it.
///
/// An entry is one word (32 bits of key, a 32-bit float of ticks), so readers
/// see a consistent one. Relaxed: a stale guess is a guess.
pub(crate) struct Sites<P: Platform> {
    entries: Box<[P::AtomicU64]>,
}

/// 2 KiB a pool; a program has few hot loops at a time.
const ENTRIES: usize = 256;

/// Where a loop's entry is.
#[derive(Clone, Copy)]
pub(crate) struct Site {
    index: usize,
    tag: u32,
}

impl Site {
    /// The site of a loop over `n` iterations of the code at `body`.
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

impl<P: Platform> Sites<P> {
    pub(crate) fn new() -> Self {
        Self {
            entries: (0..ENTRIES).map(|_| P::AtomicU64::new(0)).collect(),
        }
    }

    /// Ticks an iteration took, if this loop ran lately.
    #[inline]
    pub(crate) fn recall(&self, site: Site) -> Option<f32> {
        let entry = self.entries[site.index].load(Ordering::Relaxed);
        let ticks = f32::from_bits(entry as u32);
        ((entry >> 32) as u32 == site.tag && ticks > 0.0).then_some(ticks)
    }

    /// Keeps a new measurement. Falls are believed at once by half, rises by a
    /// quarter: an interrupt makes a loop look slow, nothing makes it look fast.
    #[inline]
    pub(crate) fn learn(&self, site: Site, before: Option<f32>, ticks: f32) {
        let ticks = ticks.max(f32::MIN_POSITIVE);
        let mean = match before {
            Some(old) if ticks > old => old + (ticks - old) / 4.0,
            Some(old) => (old + ticks) / 2.0,
            None => ticks,
        };
        // The line is read by every short loop; leave it be for small change.
        if before.is_none_or(|old| (mean - old).abs() > old / 16.0) {
            let entry = u64::from(site.tag) << 32 | u64::from(mean.to_bits());
            self.entries[site.index].store(entry, Ordering::Relaxed);
        }
    }
}
