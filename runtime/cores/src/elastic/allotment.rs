//! How many cores a runtime may use now: one word, read at every safe point.

use crate::sync::Lock;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Native, Ordering, Platform};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// The low bits of the word: cores. Above them a count of changes.
const CORES_BITS: u32 = 16;
const CORES: u32 = (1 << CORES_BITS) - 1;

/// Places where workers await their turn; further ones share them, by remainder.
/// More than one, so that a change from one core to two does not wake a crowd.
const PLACES: usize = 32;

/// The number of cores to use, until it is changed. The code that sets it and the runtimes that
/// follow it share it.
///
/// Worker `w` of a runtime may run while `w` is less than [`cores`](Self::cores). A clone
/// is the same allotment.
///
/// # Cost
///
/// A look is one load of a line that is written only when the allotment changes.
///
/// ```
/// use manycore_cores::elastic::Allotment;
///
/// let allotment: Allotment = Allotment::new(3);
/// assert!(allotment.allows(2));
/// allotment.clone().set(2);
/// assert!(!allotment.allows(2));
/// ```
pub struct Allotment<P: Platform = Native> {
    shared: Arc<Words<P>>,
}

struct Words<P: Platform> {
    /// Read at every safe point, written when the allotment changes.
    word: CachePadded<P::Futex>,
    /// Each place counts the wake-ups sent to it. The places are on other lines than the word: only
    /// threads that park or wake look here.
    places: CachePadded<[P::Futex; PLACES]>,
    /// The followers that hear of growth.
    followers: Lock<P, Vec<Weak<dyn Follower>>>,
}

/// A runtime with workers that may sleep outside of [`Allotment::await_turn`]. For example, a
/// pool's worker that waits inside of a job sleeps until the end of its wait.
pub trait Follower: Send + Sync {
    /// The workers of these numbers may run from now on. The allotment has its new value, but this
    /// thread has not fenced since: a follower fences before it looks which of its workers sleep.
    fn may_run(&self, workers: Range<usize>);
}

/// A version of the allotment, for [`Allotment::wait_while`].
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
    /// An allotment of `cores`, until [`set`](Self::set) is called.
    ///
    /// # Panics
    ///
    /// Panics if `cores` is 0 or more than 65,535.
    ///
    /// ```should_panic
    /// manycore_cores::elastic::Allotment::<manycore_platform::Native>::new(0);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn new(cores: usize) -> Self {
        let shared = Arc::new(Words {
            word: CachePadded::new(Atomic::new(checked(cores))),
            places: CachePadded::new(std::array::from_fn(|_| Atomic::new(0))),
            followers: Lock::new(Vec::new()),
        });
        P::name(&*shared.word, "allotment");
        P::name(&*shared.places, "allotment: who awaits a turn");
        Self { shared }
    }

    fn word(&self) -> &P::Futex {
        &self.shared.word
    }

    /// How many cores there are now.
    ///
    /// Relaxed: a number, no other memory is read on its strength.
    #[inline]
    #[must_use]
    pub fn cores(&self) -> usize {
        Seen(Atomic::load(self.word(), Ordering::Relaxed)).cores()
    }

    /// Whether the worker of this number, from 0, may run now.
    #[inline]
    #[must_use]
    pub fn allows(&self, worker: usize) -> bool {
        worker < self.cores()
    }

    /// The allotment now, to be compared later.
    ///
    /// Acquire pairs with the release of a change: a thread that sees a [`nudge`](Self::nudge) also
    /// sees the reason for it.
    #[inline]
    #[must_use]
    pub fn seen(&self) -> Seen {
        Seen(Atomic::load(self.word(), Ordering::Acquire))
    }

    /// Allots `cores` from now on. Wakes the threads that [wait](Self::wait_while), the workers
    /// whose [turn](Self::await_turn) it now is, and sleeping workers of pools that may run now.
    ///
    /// # Panics
    ///
    /// As [`new`](Self::new).
    #[track_caller]
    pub fn set(&self, cores: usize) {
        let cores = checked(cores);
        let before = self.change(|_| cores).cores();
        let gained = before..cores as usize;
        if gained.is_empty() {
            return;
        }
        self.wake_places(gained.clone());
        // Cloned, since a follower that ends with its last reference here must not do so under the
        // lock.
        let followers: Vec<_> = (self.shared.followers)
            .with(|followers| followers.iter().filter_map(Weak::upgrade).collect());
        for follower in followers {
            follower.may_run(gained.clone());
        }
    }

    /// From now on growth reaches `follower`, while it lives.
    ///
    /// ```
    /// use manycore_cores::elastic::{Allotment, Follower};
    /// use std::ops::Range;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// use std::sync::{Arc, Weak};
    ///
    /// struct Gained(AtomicUsize);
    /// impl Follower for Gained {
    ///     fn may_run(&self, workers: Range<usize>) {
    ///         self.0.fetch_add(workers.len(), Ordering::Relaxed);
    ///     }
    /// }
    /// let gained = Arc::new(Gained(AtomicUsize::new(0)));
    /// let weak: Weak<Gained> = Arc::downgrade(&gained);
    /// let allotment: Allotment = Allotment::new(1);
    /// allotment.add_follower(weak);
    /// allotment.set(3);
    /// assert_eq!(gained.0.load(Ordering::Relaxed), 2);
    /// ```
    pub fn add_follower(&self, follower: Weak<dyn Follower>) {
        self.shared.followers.with(|followers| {
            followers.retain(|follower| follower.strong_count() > 0);
            followers.push(follower);
        });
    }

    /// Wakes all threads that [wait](Self::wait_while) or [await their turn](Self::await_turn), as
    /// if the allotment had changed: something else that they check has changed.
    pub fn nudge(&self) {
        self.change(|cores| cores);
        self.wake_places(0..PLACES);
    }

    /// Changes the word; returns what it was.
    fn change(&self, cores: impl Fn(u32) -> u32) -> Seen {
        let word = self.word();
        let mut before = Atomic::load(word, Ordering::Relaxed);
        loop {
            let count = (before >> CORES_BITS).wrapping_add(1);
            let after = count << CORES_BITS | cores(before & CORES);
            // Release: a thread that acquires the new word in `seen` sees the writes before the
            // nudge.
            match word.compare_exchange(before, after, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => before = now,
            }
        }
        word.wake(u32::MAX);
        Seen(before)
    }

    fn wake_places(&self, workers: Range<usize>) {
        let (first, count) = (workers.start, workers.len().min(PLACES));
        for worker in first..first + count {
            let place = &self.shared.places[worker % PLACES];
            // Release: a thread that reads this count sees the word written before it, and the
            // reason for the nudge.
            place.fetch_add(1, Ordering::Release);
            place.wake(u32::MAX);
        }
    }

    /// Sleeps until the allotment is no longer as it was seen; may return early.
    ///
    /// No wake-up is lost if the caller looks in this order: [`seen`](Self::seen), then
    /// at whatever else it waits for, then this. A change before the first look is in
    /// what it saw; one after it changes the word, which the futex compares; and the
    /// word differs from `seen` until 65,536 further changes have been made between the
    /// look and the sleep.
    pub fn wait_while(&self, seen: Seen) {
        // The futex compares; what a change was for the caller's next `seen` acquires.
        self.word().wait(seen.0, None);
    }

    /// Sleeps until `worker` may run, or is `wanted` nevertheless. A change that does not concern
    /// the worker does not wake it. (Workers are woken together if their numbers differ by a
    /// multiple of 32.)
    ///
    /// # Why it is always woken
    ///
    /// The worker reads the count of its place, checks the word and `wanted`, and sleeps while the
    /// count is unchanged. A thread that makes room for the worker changes the word and then the
    /// count. A thread that [nudges](Self::nudge) first does what makes the worker `wanted`, and
    /// then changes the count. If the worker read the new count, its checks come after the change
    /// (acquire). If it read the old count, the futex compares and does not sleep, or is woken.
    /// `elastic::checked` checks this.
    ///
    /// ```
    /// use manycore_cores::elastic::Allotment;
    ///
    /// let allotment: Allotment = Allotment::new(1);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| allotment.await_turn(1, || false));
    ///     allotment.set(2);
    /// });
    /// ```
    pub fn await_turn(&self, worker: usize, mut wanted: impl FnMut() -> bool) {
        let place = &self.shared.places[worker % PLACES];
        loop {
            let count = Atomic::load(place, Ordering::Acquire);
            if self.allows(worker) || wanted() {
                return;
            }
            place.wait(count, None);
        }
    }
}

#[track_caller]
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
            shared: Arc::clone(&self.shared),
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
