//! How many cores a runtime may use now: one word, read at every safe point.

use manycore_platform::{Atomic, CachePadded, Futex, Native, Ordering, Platform};
use std::fmt;
use std::sync::Arc;

/// The low bits of the word: cores. Above them a count of changes.
const CORES_BITS: u32 = 16;
const CORES: u32 = (1 << CORES_BITS) - 1;

/// How many cores there are to use, from now until it is changed; shared by who sets it
/// and who follows it.
///
/// Worker `w` of a runtime may run while `w` is less than [`cores`](Self::cores). A clone
/// is the same allotment.
///
/// # Cost
///
/// A look is one load of a line that is written only when the allotment changes.
///
/// ```
/// use manycore::elastic::Allotment;
///
/// let allotment: Allotment = Allotment::new(3);
/// assert!(allotment.allows(2));
/// allotment.clone().set(2);
/// assert!(!allotment.allows(2));
/// ```
pub struct Allotment<P: Platform = Native> {
    word: Arc<CachePadded<P::Futex>>,
}

/// The allotment as somebody saw it; see [`Allotment::wait_while`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen(u32);

impl Seen {
    /// The cores there were.
    #[must_use]
    pub fn cores(self) -> usize {
        (self.0 & CORES) as usize
    }
}

impl<P: Platform> Allotment<P> {
    /// So many cores, until [`set`](Self::set) is called.
    ///
    /// # Panics
    ///
    /// If there are none, or more than 65,535.
    ///
    /// ```should_panic
    /// manycore::elastic::Allotment::<manycore::Native>::new(0);
    /// ```
    #[must_use]
    pub fn new(cores: usize) -> Self {
        let word = Arc::new(CachePadded::new(Atomic::new(checked(cores))));
        P::name(&**word, "allotment");
        Self { word }
    }

    /// How many cores there are now.
    #[inline]
    #[must_use]
    pub fn cores(&self) -> usize {
        self.seen().cores()
    }

    /// Whether the worker of this number, from 0, may run now.
    #[inline]
    #[must_use]
    pub fn allows(&self, worker: usize) -> bool {
        worker < self.cores()
    }

    /// The allotment now, to be compared later.
    ///
    /// Relaxed: a number, no other memory is read on its strength.
    #[inline]
    #[must_use]
    pub fn seen(&self) -> Seen {
        Seen(Atomic::load(&**self.word, Ordering::Relaxed))
    }

    /// So many cores from now on. Wakes all who [wait](Self::wait_while).
    ///
    /// # Panics
    ///
    /// As [`new`](Self::new).
    pub fn set(&self, cores: usize) {
        let cores = checked(cores);
        self.change(|_| cores);
    }

    /// Wakes all who [wait](Self::wait_while), as if there had been a change: something
    /// else that they look at has.
    pub fn nudge(&self) {
        self.change(|cores| cores);
    }

    fn change(&self, cores: impl Fn(u32) -> u32) {
        let word = &**self.word;
        let mut before = Atomic::load(word, Ordering::Relaxed);
        loop {
            let count = (before >> CORES_BITS).wrapping_add(1);
            let after = count << CORES_BITS | cores(before & CORES);
            // Release: who acquires the new word in `wait_while` sees what was written
            // before the nudge.
            match word.compare_exchange(before, after, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => before = now,
            }
        }
        word.wake(u32::MAX);
    }

    /// Sleeps until the allotment is no longer as it was seen; may return early.
    ///
    /// No wake-up is lost if the caller looks in this order: [`seen`](Self::seen), then
    /// at whatever else it waits for, then this. A change before the first look is in
    /// what it saw; one after it changes the word, which the futex compares; and the
    /// word differs from `seen` until 65,536 further changes have been made between the
    /// look and the sleep.
    pub fn wait_while(&self, seen: Seen) {
        let word = &**self.word;
        // Acquire pairs with the release of a change.
        if Atomic::load(word, Ordering::Acquire) == seen.0 {
            word.wait(seen.0, None);
            let _ = Atomic::load(word, Ordering::Acquire);
        }
    }
}

fn checked(cores: usize) -> u32 {
    assert!(
        (1..=CORES as usize).contains(&cores),
        "an allotment of {cores} cores; expected 1 to {CORES}"
    );
    cores as u32
}

impl<P: Platform> Clone for Allotment<P> {
    fn clone(&self) -> Self {
        Self {
            word: Arc::clone(&self.word),
        }
    }
}

impl<P: Platform> fmt::Debug for Allotment<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allotment")
            .field("cores", &self.cores())
            .finish_non_exhaustive()
    }
}
