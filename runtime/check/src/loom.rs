//! The world of loom: every interleaving, and every value that a load may return, for a few threads and steps.

use crate::cells::{Cell, Sleepers, common_platform, impl_cells};
use ::loom::sync::{Condvar, Mutex, atomic};
use ::loom::thread;
use manycore_platform::{Futex, Native, Ordering, Platform, ThreadSpec, impl_atomic_integer};
use std::io;
use std::sync::PoisonError;
use std::time::Duration;

/// The platform of [`loom_model`](crate::loom_model), which is exhaustive. It uses loom's atomics, with the orderings
/// of the code under test.
///
/// Time is counted in calls: each [`now`](Platform::now) of a thread returns 20 us more than its last one, so that a
/// wait with a time limit soon ends. A timed sleep ends when the other threads have had a turn, whether or not they
/// woke it.
///
/// ```
/// use manycore_check::{Loom, loom_model, team};
/// use manycore_platform::{AtomicInteger, Atomic, Ordering::Relaxed, Platform};
///
/// loom_model(None, || {
///     let sum = <Loom as Platform>::AtomicU32::new(0);
///     team::<Loom>(2, |_| {
///         sum.fetch_add(1, Relaxed);
///     });
///     assert_eq!(sum.load(Relaxed), 2);
/// });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Loom;

impl_cells!();

/// The step of [`Platform::now`]. A tick is a nanosecond.
const TICKS_A_CALL: u64 = 20_000;

::loom::thread_local! {
    static SLOT: std::cell::Cell<*const ()> = std::cell::Cell::new(std::ptr::null());
    static ID: u64 = crate::cells::next_id();
    static CLOCK: std::cell::Cell<u64> = std::cell::Cell::new(0);
}

/// Plain memory. If two accesses, at least one a write, are not ordered by synchronisation, loom fails the model.
///
/// ```
/// use manycore_check::{Plain, caught, loom_model, team, Loom};
///
/// let why = caught(|| {
///     loom_model(None, || {
///         let memory = Plain::new(0);
///         team::<Loom>(2, |rank| match rank {
///             0 => memory.write(1),
///             _ => drop(memory.read()),
///         });
///     })
/// });
/// assert!(why.contains("Causality violation"));
/// ```
#[derive(Debug)]
pub struct Plain<T>(::loom::cell::UnsafeCell<T>);

// SAFETY: the threads of a model take turns on one thread of the system, and no turn ends inside an access.
unsafe impl<T: Copy + Send> Sync for Plain<T> {}

impl<T: Copy> Plain<T> {
    /// Memory that holds `value`.
    ///
    /// ```
    /// # use manycore_check::{Plain, loom_model};
    /// loom_model(None, || assert_eq!(Plain::new(7).read(), 7));
    /// ```
    pub fn new(value: T) -> Self {
        Self(::loom::cell::UnsafeCell::new(value))
    }

    /// Reads the memory.
    ///
    /// # Panics
    ///
    /// Panics if a write is not ordered before or after this read.
    ///
    /// ```
    /// # use manycore_check::{Plain, loom_model};
    /// loom_model(None, || assert_eq!(Plain::new(7).read(), 7));
    /// ```
    pub fn read(&self) -> T {
        // SAFETY: as for `Sync` above. The pointer is the cell's own.
        self.0.with(|value| unsafe { *value })
    }

    /// Writes the memory.
    ///
    /// # Panics
    ///
    /// Panics if another access is not ordered before or after this write.
    ///
    /// ```
    /// # use manycore_check::{Plain, loom_model};
    /// loom_model(None, || {
    ///     let memory = Plain::new(7);
    ///     memory.write(8);
    ///     assert_eq!(memory.read(), 8);
    /// });
    /// ```
    pub fn write(&self, value: T) {
        // SAFETY: as in `read`.
        self.0.with_mut(|old| unsafe { *old = value });
    }
}

/// A word, and its sleepers behind a lock.
///
/// The lock makes comparing and falling asleep one step. It also orders a waker after the sleepers that it finds, but
/// not a waker that decides by another word whether to wake at all.
pub struct LoomFutex {
    word: atomic::AtomicU32,
    sleepers: Mutex<Sleepers>,
    woken: Condvar,
}

impl LoomFutex {
    fn holding(value: u32) -> Self {
        Self {
            word: atomic::AtomicU32::new(value),
            sleepers: Mutex::new(Sleepers::default()),
            woken: Condvar::new(),
        }
    }
}

impl_atomic_integer!(LoomFutex, u32, LoomFutex::holding, word);

impl Futex for LoomFutex {
    fn wait(&self, expected: u32, timeout: Option<Duration>) {
        let lock = || self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sleepers = lock();
        // Relaxed: a protocol that needs an order for this load must have its own fence.
        if self.word.load(Ordering::Relaxed) != expected {
            return;
        }
        let ticket = sleepers.enter();
        if timeout.is_some() {
            // The other threads run. Loom tries both orders of their wake-up and of this thread's return.
            drop(sleepers);
            thread::yield_now();
            lock().leave(ticket);
            return;
        }
        while sleepers.queue.contains(&ticket) {
            sleepers = self
                .woken
                .wait(sleepers)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn wake(&self, count: u32) -> usize {
        let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        let woken = sleepers.queue.len().min(count as usize);
        sleepers.queue.drain(..woken);
        if woken > 0 {
            self.woken.notify_all();
        }
        woken
    }
}

/// A thread of the model.
pub struct LoomThread(thread::JoinHandle<()>);

// SAFETY: by the number of the promise. 1 and 3: loom's fences and cells keep the requested orderings. 2: the
// comparison and the falling asleep are under the lock that `wake` takes. 4: the method returns what it has loaded. 5:
// loom's threads run their body once. 6: the slot is loom's thread-local variable. 7: the stack is `Native`'s. 8:
// models do not fork. 9: loom unwinds if a model has failed, and then none of its threads continues.
unsafe impl Platform for Loom {
    common_platform!(LoomFutex, LoomThread);

    fn now() -> u64 {
        CLOCK.with(|clock| clock.replace(clock.get() + TICKS_A_CALL))
    }

    fn spawn(spec: ThreadSpec, body: Box<dyn FnOnce() + Send>) -> io::Result<LoomThread> {
        let mut builder = thread::Builder::new().name(spec.name);
        if let Some(bytes) = spec.stack_size {
            // Loom counts stack in words.
            builder = builder.stack_size(bytes / size_of::<usize>());
        }
        builder.spawn(body).map(LoomThread)
    }
}
