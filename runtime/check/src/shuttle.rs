//! The world of shuttle: whole pools under random schedules, one step at a time and sequentially consistent.

use crate::cells::{Cell, Sleepers, common_platform, impl_cells};
use ::shuttle::rand::{Rng, thread_rng};
use ::shuttle::sync::{Condvar, Mutex, atomic};
use ::shuttle::thread;
use manycore_platform::{Futex, Native, Ordering, Platform, ThreadSpec, impl_atomic_integer};
use std::io;
use std::sync::PoisonError;
use std::time::Duration;

/// The platform of [`shuttle_random`](crate::shuttle_random) and [`shuttle_pct`](crate::shuttle_pct).
///
/// All threads share one clock. It jumps at random, from a few ticks to far beyond any time limit, so every decision
/// that depends on time is made both ways. A timed sleep may end at any moment. An untimed sleep ends only by a
/// wake-up. If none comes, shuttle reports a deadlock.
///
/// ```
/// use manycore_check::{Shuttle, shuttle_random, team};
/// use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering::Relaxed, Platform};
///
/// shuttle_random(100, || {
///     let door = <Shuttle as Platform>::Futex::new(0);
///     team::<Shuttle>(2, |rank| {
///         if rank == 0 {
///             door.fetch_add(1, Relaxed);
///             door.wake(1);
///         } else {
///             door.wait(0, None);
///             assert_eq!(door.load(Relaxed), 1);
///         }
///     });
/// });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Shuttle;

impl_cells!();

::shuttle::thread_local! {
    static SLOT: std::cell::Cell<*const ()> = const { std::cell::Cell::new(std::ptr::null()) };
    static ID: u64 = crate::cells::next_id();
}

::shuttle::lazy_static! {
    // The standard library's atomic, so that reading the clock is no step of the model.
    static ref CLOCK: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
}

/// The threads that sleep on a word. The lock makes comparing and falling asleep one step. A wake-up picks sleepers at
/// random.
pub(crate) struct WaitQueue {
    sleepers: Mutex<Sleepers>,
    woken: Condvar,
}

impl Default for WaitQueue {
    fn default() -> Self {
        Self {
            sleepers: Mutex::new(Sleepers::default()),
            woken: Condvar::new(),
        }
    }
}

impl WaitQueue {
    /// Sleeps if `is_as_expected` returns `true`.
    pub(crate) fn wait(&self, is_as_expected: impl FnOnce() -> bool, timeout: Option<Duration>) {
        let lock = || self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sleepers = lock();
        if !is_as_expected() {
            return;
        }
        let ticket = sleepers.enter();
        while sleepers.queue.contains(&ticket) {
            if timeout.is_none() {
                sleepers = self
                    .woken
                    .wait(sleepers)
                    .unwrap_or_else(PoisonError::into_inner);
            } else if thread_rng().gen_bool(0.25) {
                sleepers.leave(ticket);
            } else {
                drop(sleepers);
                thread::yield_now();
                sleepers = lock();
            }
        }
    }

    /// Wakes up to `count` sleepers. Returns how many it woke.
    pub(crate) fn wake(&self, count: u32) -> usize {
        let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        let woken = sleepers.queue.len().min(count as usize);
        for _ in 0..woken {
            let chosen = thread_rng().gen_range(0..sleepers.queue.len());
            sleepers.queue.remove(chosen);
        }
        if woken > 0 {
            self.woken.notify_all();
        }
        woken
    }
}

/// A word, and the threads that sleep on it.
pub struct ShuttleFutex {
    word: atomic::AtomicU32,
    queue: WaitQueue,
}

impl ShuttleFutex {
    fn holding(value: u32) -> Self {
        Self {
            word: atomic::AtomicU32::new(value),
            queue: WaitQueue::default(),
        }
    }
}

impl_atomic_integer!(ShuttleFutex, u32, ShuttleFutex::holding, word);

impl Futex for ShuttleFutex {
    fn wait(&self, expected: u32, timeout: Option<Duration>) {
        (self.queue).wait(|| self.word.load(Ordering::SeqCst) == expected, timeout);
    }

    fn wake(&self, count: u32) -> usize {
        self.queue.wake(count)
    }
}

/// A thread of the model.
pub struct ShuttleThread(thread::JoinHandle<()>);

// SAFETY: by the number of the promise. 1 and 3: each operation is a step of one thread, and the steps have one order.
// 2: the comparison and the falling asleep are under the lock that `wake` takes. 4: the method returns what it has
// loaded. 5: shuttle's threads run their body once. 6: the slot is shuttle's thread-local variable. 7: the stack is
// `Native`'s. 8: models do not fork. 9: shuttle unwinds if a model has failed, and then none of its threads continues.
unsafe impl Platform for Shuttle {
    common_platform!(ShuttleFutex, ShuttleThread);

    fn now() -> u64 {
        // From 2 ns to a quarter of a millisecond. Every power of two is equally likely.
        let step = 2 << thread_rng().gen_range(0..18);
        CLOCK.fetch_add(step, Ordering::Relaxed) + step
    }

    fn spawn(spec: ThreadSpec, body: Box<dyn FnOnce() + Send>) -> io::Result<ShuttleThread> {
        let mut builder = thread::Builder::new().name(spec.name);
        if let Some(bytes) = spec.stack_size {
            builder = builder.stack_size(bytes);
        }
        builder.spawn(body).map(ShuttleThread)
    }
}
