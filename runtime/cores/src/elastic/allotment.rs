//! How many cores a runtime may use now. This is one word, which workers read at every safe point (a point where they
//! could stop).

use crate::sync::Lock;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Native, Ordering, Platform};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// The low bits of the word hold the number of cores. The bits above them count changes.
const CORES_BITS: u32 = 16;
const CORES: u32 = (1 << CORES_BITS) - 1;

/// The number of places where workers await their turn. Workers whose numbers have the same remainder, divided by
/// this, share a place. With one place, a change from one core to two would wake all workers.
const PLACES: usize = 32;

/// The number of cores to use, until it is changed. The runtimes that follow an allotment share it with the code
/// that sets it.
///
/// Worker `w` of a runtime may run while `w` is less than [`cores`](Self::cores). A clone refers to the same
/// allotment.
///
/// # Cost
///
/// Each look is a load from a cache line that is written only when the allotment changes.
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
    /// The number of cores and the count of changes. Followers read the word at every safe point. It is written when
    /// the allotment changes.
    word: CachePadded<P::Futex>,
    /// Each place counts its wake-ups. Only threads that park or wake read the places, so the places are on other
    /// cache lines than the word.
    places: CachePadded<[P::Futex; PLACES]>,
    /// The followers to notify of growth.
    followers: Lock<P, Vec<Weak<dyn Follower>>>,
}

/// A runtime with workers that may sleep outside of [`Allotment::await_turn`]. For example, a pool's worker that
/// waits within a job sleeps until its wait ends.
pub trait Follower: Send + Sync {
    /// Notifies the follower that the workers of these numbers may run from now on. The allotment has its new value,
    /// or a later value, but the calling thread has made no fence since the change. So the follower must make a fence
    /// before it looks which of its workers sleep.
    fn may_run(&self, workers: Range<usize>);
}

/// A version of the allotment's word, for [`Allotment::wait_while`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen(u32);

impl Seen {
    /// The number of cores in this version.
    #[must_use]
    pub fn cores(self) -> usize {
        (self.0 & CORES) as usize
    }
}

impl<P: Platform> Allotment<P> {
    /// Makes an allotment of `cores` cores, until [`set`](Self::set) is called.
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

    /// The number of cores now.
    ///
    /// Relaxed: the number publishes no other memory.
    #[inline]
    #[must_use]
    pub fn cores(&self) -> usize {
        Seen(Atomic::load(self.word(), Ordering::Relaxed)).cores()
    }

    /// Returns whether the worker of this number may run now. Workers are numbered from 0.
    #[inline]
    #[must_use]
    pub fn allows(&self, worker: usize) -> bool {
        worker < self.cores()
    }

    /// The current version of the allotment, for a comparison with a later version.
    ///
    /// Acquire pairs with the release of a change: a thread that sees a [`nudge`](Self::nudge) also sees the reason
    /// for it.
    #[inline]
    #[must_use]
    pub fn seen(&self) -> Seen {
        Seen(Atomic::load(self.word(), Ordering::Acquire))
    }

    /// Allots `cores` cores from now on. If the number grows, wakes the threads that [wait](Self::wait_while), the
    /// workers whose [turn](Self::await_turn) has come, and the sleeping workers of pools that may now run.
    ///
    /// # Panics
    ///
    /// Panics like [`new`](Self::new).
    #[track_caller]
    pub fn set(&self, cores: usize) {
        let gained = self.change_to(cores);
        self.notify_followers(gained);
    }

    /// Allots `cores` cores, and calls no follower. Returns the workers that may run from now on.
    #[track_caller]
    pub(super) fn change_to(&self, cores: usize) -> Range<usize> {
        let cores = checked(cores);
        let gained = self.change(|_| cores).cores()..cores as usize;
        self.wake_places(gained.clone());
        gained
    }

    /// Calls [`Follower::may_run`] of all followers for these workers.
    pub(super) fn notify_followers(&self, gained: Range<usize>) {
        if gained.is_empty() {
            return;
        }
        // The references are cloned, since the last reference to a follower may end in this function, and must not end
        // under the lock.
        let followers: Vec<_> = (self.shared.followers)
            .with(|followers| followers.iter().filter_map(Weak::upgrade).collect());
        for follower in followers {
            follower.may_run(gained.clone());
        }
    }

    /// From now on, notifies `follower` of growth, while the follower lives.
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

    /// Wakes all threads that [wait](Self::wait_while) or [await their turn](Self::await_turn), because another
    /// condition that they check has changed.
    pub fn nudge(&self) {
        self.change(|cores| cores);
        self.wake_places(0..PLACES);
    }

    /// Changes the word. Returns the version before the change.
    fn change(&self, cores: impl Fn(u32) -> u32) -> Seen {
        let word = self.word();
        let mut before = Atomic::load(word, Ordering::Relaxed);
        loop {
            let count = (before >> CORES_BITS).wrapping_add(1);
            let after = count << CORES_BITS | cores(before & CORES);
            // Release: a thread that acquires the new word in `seen` sees the writes before the nudge.
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
            // Release: a thread that reads this count sees the word written before it, and the reason for the
            // nudge.
            place.fetch_add(1, Ordering::Release);
            place.wake(u32::MAX);
        }
    }

    /// Sleeps until the allotment differs from `seen`. May return early.
    ///
    /// No wake-up is lost if the caller first reads [`seen`](Self::seen), then checks whatever else it waits for, and
    /// then calls this. The caller has seen any change before the first read. A later change alters the word, which
    /// the futex compares. A change is missed only if exactly 65,536 changes, or a multiple of this, between the read
    /// and the sleep restore the word.
    pub fn wait_while(&self, seen: Seen) {
        // The futex only compares the word, and acquires nothing. The caller acquires the reason for the change by its
        // next call of `seen`.
        self.word().wait(seen.0, None);
    }

    /// Sleeps until `worker` may run, or until `wanted` returns `true`. Changes for other workers do not wake this
    /// worker, unless their numbers differ by a multiple of 32.
    ///
    /// # Why the worker is always woken
    ///
    /// The worker reads the count of its place, checks the word and `wanted`, and sleeps while the count is unchanged.
    /// A thread that makes room for the worker changes the word and then the count. A thread that
    /// [nudges](Self::nudge) first makes `wanted` true and then changes the count. If the worker reads the new count,
    /// its checks come after the change (acquire). If it reads the old count, the futex compares the count, so the
    /// worker does not sleep, or it is woken. `elastic::checked` checks this.
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
