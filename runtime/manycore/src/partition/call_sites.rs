//! Data about loops, by the place in the program.

use crate::decide::{Choice, Units};
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};

/// A small table of what loops were like, keyed by the loop's body (its code
/// address) and the magnitude of its length: the time an iteration takes on a thread
/// that runs the loop alone, and the [`Choice`] between that and posting it.
///
/// A loop that has run before is so judged before it starts: a short one runs
/// inline at the cost of one lookup and two clock reads, a long one is posted
/// at once. Two bodies may share an entry, or one body may do other work the
/// next time: the entry is a guess, and every loop that relies on it measures
/// again and corrects it.
///
/// The time is one word (32 bits of key, a 32-bit float of ticks), the choice six others,
/// so readers see a consistent value of each word. Relaxed: a stale guess is a guess.
pub(crate) struct CallSites<P: Platform> {
    entries: Box<[CachePadded<Entry<P>>]>,
    units: Units,
}

struct Entry<P: Platform> {
    time: P::AtomicU64,
    choice: [P::AtomicU64; 6],
}

/// 32 KiB a pool; a program has few hot loops at a time.
const ENTRIES: usize = 256;

/// The place of a loop's entry.
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
        let entry = |_| {
            CachePadded::new(Entry {
                time: P::AtomicU64::new(0),
                choice: std::array::from_fn(|_| P::AtomicU64::new(0)),
            })
        };
        Self {
            entries: (0..ENTRIES).map(entry).collect(),
            units: Units {
                ticks_per_ns: P::ticks_per_ns() as f32,
            },
        }
    }

    /// The unit of its times.
    pub(crate) fn units(&self) -> Units {
        self.units
    }

    /// Ticks an iteration typically takes, if this loop ran lately.
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

    /// A loop that is new here takes `each` ticks an iteration.
    pub(crate) fn begin(&self, call_site: CallSite, each: f32) {
        let choice = Choice::new(each, self.units);
        let entry = &self.entries[call_site.index];
        for (word, bits) in entry.choice.iter().zip(choice.words()) {
            word.store(bits, Ordering::Relaxed);
        }
        self.set_time(call_site, choice.each_alone());
    }

    /// Nothing is known of the loop any more.
    pub(crate) fn forget(&self, call_site: CallSite) {
        self.entries[call_site.index]
            .time
            .store(0, Ordering::Relaxed);
    }

    /// The data of a loop that was recalled.
    #[inline]
    pub(crate) fn choice(&self, call_site: CallSite) -> Choice {
        let entry = &self.entries[call_site.index];
        let words = std::array::from_fn(|word| entry.choice[word].load(Ordering::Relaxed));
        Choice::of_words(words)
    }

    /// Applies `change` to it.
    #[inline]
    pub(crate) fn update(&self, call_site: CallSite, change: impl FnOnce(Choice) -> Choice) {
        let before = self.choice(call_site);
        let after = change(before);
        let entry = &self.entries[call_site.index];
        for (word, (old, new)) in
            (entry.choice.iter()).zip(before.words().into_iter().zip(after.words()))
        {
            if old != new {
                word.store(new, Ordering::Relaxed);
            }
        }
        let each = after.each_alone();
        // Every short loop reads this word: it is left alone for small change.
        if self
            .recall(call_site)
            .is_none_or(|old| (each - old).abs() > old / 16.0)
        {
            self.set_time(call_site, each);
        }
    }

    fn set_time(&self, call_site: CallSite, ticks: f32) {
        let ticks = ticks.max(f32::MIN_POSITIVE);
        let time = u64::from(call_site.tag) << 32 | u64::from(ticks.to_bits());
        let entry = &self.entries[call_site.index];
        entry.time.store(time, Ordering::Relaxed);
    }
}
