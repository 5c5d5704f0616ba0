//! The pool's memory of loops, by the place of the loop in the program.

use crate::decide::{Choice, Units};
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};

/// A small table of earlier loops. The key is the code address of the loop's body and the magnitude of the loop's
/// length. An entry has the time that an iteration takes if one thread runs the loop alone, and the [`Choice`]
/// between running alone and posting.
///
/// So if a loop has run before, its entry decides before the loop starts. A short loop runs inline at the cost of one
/// lookup and two clock reads. A long loop is posted at once. Two bodies may share an entry, and a body may do other
/// work in its next run. So the entry is a guess: every loop that relies on it measures again and corrects it.
///
/// The time is one word (32 bits of key, a 32-bit float of ticks), and the choice is six other words, so readers
/// see a consistent value of each word. All accesses are relaxed, since a stale entry is still only a guess.
pub(crate) struct CallSites<P: Platform> {
    entries: Box<[CachePadded<Entry<P>>]>,
    units: Units,
}

struct Entry<P: Platform> {
    time: P::AtomicU64,
    choice: [P::AtomicU64; 6],
}

/// The table takes 32 KiB in each pool. That is enough, since a program has few hot loops at a time.
const ENTRIES: usize = 256;

/// The place of a loop's entry.
#[derive(Clone, Copy)]
pub(crate) struct CallSite {
    index: usize,
    tag: u32,
}

impl CallSite {
    /// Returns the call site of a loop over `n` iterations of the code at `body`.
    #[inline]
    pub(crate) fn new<P: Platform>(body: usize, n: usize) -> Self {
        let body = P::code_number(body);
        // This is Fibonacci hashing: the product's high bits depend on all bits of the key.
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

    pub(crate) fn units(&self) -> Units {
        self.units
    }

    /// Returns the ticks that an iteration typically takes, if this loop ran lately.
    #[inline]
    pub(crate) fn recall(&self, call_site: CallSite) -> Option<f32> {
        let entry = self.entries[call_site.index].time.load(Ordering::Relaxed);
        let ticks = f32::from_bits(entry as u32);
        ((entry >> 32) as u32 == call_site.tag && ticks > 0.0).then_some(ticks)
    }

    /// Like [`recall`](Self::recall), for an unknown loop of `n` iterations that has run with half or twice as many
    /// iterations.
    pub(crate) fn recall_near(&self, body: usize, n: usize) -> Option<f32> {
        let near = [n / 2, n.saturating_mul(2)];
        near.into_iter()
            .find_map(|n| self.recall(CallSite::new::<P>(body, n)))
    }

    /// Records that an iteration of a new loop takes `each` ticks.
    pub(crate) fn begin(&self, call_site: CallSite, each: f32) {
        let choice = Choice::new(each, self.units);
        let entry = &self.entries[call_site.index];
        for (word, bits) in entry.choice.iter().zip(choice.words()) {
            word.store(bits, Ordering::Relaxed);
        }
        self.set_time(call_site, choice.each_alone());
    }

    /// Makes the loop unknown again.
    pub(crate) fn forget(&self, call_site: CallSite) {
        self.entries[call_site.index]
            .time
            .store(0, Ordering::Relaxed);
    }

    /// Returns the choice of a loop that was recalled.
    #[inline]
    pub(crate) fn choice(&self, call_site: CallSite) -> Choice {
        let entry = &self.entries[call_site.index];
        let words = std::array::from_fn(|word| entry.choice[word].load(Ordering::Relaxed));
        Choice::of_words(words)
    }

    /// Applies `change` to the choice of a loop that was recalled.
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
        // Every short loop reads this word, so small changes do not write it.
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
