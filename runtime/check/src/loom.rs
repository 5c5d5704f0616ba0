//! The world of loom: every interleaving and every value that a load may
//! return, for a handful of threads and steps.

use crate::cells::{Cell, Sleepers, common_platform, impl_cells};
use ::loom::sync::{Condvar, Mutex, atomic};
use ::loom::thread;
use manycore_platform::{Futex, Native, Ordering, Platform, ThreadSpec, impl_atomic_integer};
use std::io;
use std::sync::PoisonError;
use std::time::Duration;

/// The platform of [`loom_model`](crate::loom_model), which is exhaustive: loom's atomics, with the
/// orderings of the code under test.
///
/// Time is counted in calls: each [`now`](Platform::now) of a thread is 20 us
/// after its last one, so that what waits by the clock soon waits otherwise. A
/// timed sleep ends when the others have had a turn, woken or not.
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

/// The step of [`Platform::now`], in ticks of a nanosecond.
const TICKS_A_CALL: u64 = 20_000;

::loom::thread_local! {
    static SLOT: std::cell::Cell<*const ()> = std::cell::Cell::new(std::ptr::null());
    static CLOCK: std::cell::Cell<u64> = std::cell::Cell::new(0);
}

/// Plain memory. Loom fails the model if two accesses, at least one a write, are not ordered by
/// synchronisation.
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

// SAFETY: the threads of a model take turns on one thread of the system, and
// no turn ends inside an access.
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

    /// Reads.
    ///
    /// # Panics
    ///
    /// If a write is not ordered before or after this.
    ///
    /// ```
    /// # use manycore_check::{Plain, loom_model};
    /// loom_model(None, || assert_eq!(Plain::new(7).read(), 7));
    /// ```
    pub fn read(&self) -> T {
        // SAFETY: see `Sync`; the pointer is the cell's own.
        self.0.with(|value| unsafe { *value })
    }

    /// Writes.
    ///
    /// # Panics
    ///
    /// If another access is not ordered before or after this.
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

/// A word with a queue of sleepers behind a lock.
///
/// The lock is what makes comparing and falling asleep one step. It orders a
/// waker after the sleepers it finds and nothing more: a waker that looks at
/// another word to see whether it need come here at all gets no help from it.
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
        // Relaxed: a protocol that needs this load to be ordered must bring
        // its own fence.
        if self.word.load(Ordering::Relaxed) != expected {
            return;
        }
        let ticket = sleepers.enter();
        if timeout.is_some() {
            // The others run; some come to their wake-up before this thread
            // goes on, some do not: loom tries both.
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

// SAFETY: by the number of the promise. 1 and 3: loom's fences and cells keep to the orderings that are asked for.
// 2: the comparison and the falling asleep are under the lock that `wake` takes. 4: a load.
// 5: loom's threads, which run their body once. 6: loom's thread-local variable. 7: `Native`'s
// stack. 8: models do not fork. 9: loom unwinds when a model has failed, and lets none of its
// threads go on.
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
