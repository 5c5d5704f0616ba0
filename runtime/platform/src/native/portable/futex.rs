//! Words on which threads sleep, by a table of condition variables. The word's address chooses a bucket of the table.
//! A wake-up wakes all sleepers of the bucket, which the contract allows.
//!
//! # No wake-up is lost
//!
//! The waiter compares the word under the bucket's lock, and the waker takes that lock after the word has changed. If
//! the waker takes the lock first, the waiter's comparison happens after the change and sees the change. If the waiter
//! takes the lock first, the waker gets it only when the waiter waits for the condition variable. That wait releases
//! the lock and begins to sleep in one step. So the waker wakes the waiter.
//!
//! # After a fork
//!
//! If another thread held a lock when the process was copied, the lock stays locked in the copy. So a child starts
//! with a new table and leaves the parent's table as it is. No thread sleeps in the old table: its threads do not
//! exist in the child.

use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

#[derive(Default)]
struct Bucket {
    lock: Mutex<()>,
    woken: Condvar,
}

/// The number of buckets, which is larger than the number of sleepers in most programs.
const BUCKETS: usize = 64;

/// The table, or null until a thread needs it. It is null again in a child.
static TABLE: AtomicPtr<[Bucket; BUCKETS]> = AtomicPtr::new(std::ptr::null_mut());

/// A child of a fork must call this while it has one thread. This function is async-signal-safe.
#[cfg(all(unix, not(miri)))]
pub(in crate::native) fn begin_anew() {
    // Relaxed: the child has one thread.
    TABLE.store(std::ptr::null_mut(), Ordering::Relaxed);
}

fn table() -> &'static [Bucket; BUCKETS] {
    // Acquire pairs with the release of the thread that stored the table, so the buckets are initialised.
    let mut table = TABLE.load(Ordering::Acquire);
    if table.is_null() {
        table = make_table();
    }
    // SAFETY: `make_table` has stored the pointer, and the table is never freed.
    unsafe { &*table }
}

/// Makes the table. This uses no lock and no `OnceLock`, since a fork could leave them locked.
#[cold]
fn make_table() -> *mut [Bucket; BUCKETS] {
    let null = std::ptr::null_mut();
    let mine = Box::into_raw(Box::new(std::array::from_fn(|_| Bucket::default())));
    // Release: a thread that loads the pointer sees initialised buckets. Acquire: if another thread was first, this
    // thread sees that thread's initialised buckets.
    match TABLE.compare_exchange(null, mine, Ordering::Release, Ordering::Acquire) {
        Ok(_) => mine,
        Err(first) => {
            // SAFETY: `mine` is from `into_raw` above, and no other thread has seen it.
            drop(unsafe { Box::from_raw(mine) });
            first
        }
    }
}

fn bucket(word: &AtomicU32) -> &'static Bucket {
    let address = std::ptr::from_ref(word) as usize;
    &table()[(address >> 7) % BUCKETS]
}

pub(in crate::native) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    let bucket = bucket(word);
    let guard = bucket.lock.lock().unwrap_or_else(PoisonError::into_inner);
    // Relaxed: the lock orders this load and the change, as the module argues.
    if word.load(Ordering::Relaxed) != expected {
        return;
    }
    match timeout {
        Some(timeout) => drop(bucket.woken.wait_timeout(guard, timeout)),
        None => drop(bucket.woken.wait(guard)),
    }
}

pub(in crate::native) fn wake(word: &AtomicU32, _count: u32) -> usize {
    let bucket = bucket(word);
    drop(bucket.lock.lock().unwrap_or_else(PoisonError::into_inner));
    bucket.woken.notify_all();
    // The number of sleepers is not known.
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Each thread sleeps until the other has made the same step. A lost wake-up hangs the test.
    #[test]
    fn threads_that_wait_for_each_other_make_progress() {
        const STEPS: u32 = if cfg!(miri) { 50 } else { 20_000 };
        let (mine, theirs) = (AtomicU32::new(0), AtomicU32::new(0));
        let go = |mine: &AtomicU32, theirs: &AtomicU32| {
            for step in 1..=STEPS {
                mine.store(step, Ordering::Release);
                wake(mine, 1);
                loop {
                    let seen = theirs.load(Ordering::Acquire);
                    if seen >= step {
                        break;
                    }
                    wait(theirs, seen, None);
                }
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| go(&mine, &theirs));
            go(&theirs, &mine);
        });
        assert_eq!((mine.into_inner(), theirs.into_inner()), (STEPS, STEPS));
    }

    #[test]
    fn a_wait_ends_when_the_word_has_changed_or_the_time_is_up() {
        let word = AtomicU32::new(1);
        wait(&word, 0, None);
        wait(&word, 1, Some(Duration::from_millis(1)));
        // This time is more than the system's clock can count. There must be no overflow, and a wake-up must end the
        // wait.
        thread::scope(|scope| {
            scope.spawn(|| {
                while word.load(Ordering::Relaxed) == 1 {
                    wait(&word, 1, Some(Duration::MAX));
                }
            });
            thread::sleep(Duration::from_millis(5));
            word.store(2, Ordering::Relaxed);
            wake(&word, 1);
        });
    }

    /// The child's bucket is locked by a thread that the child does not have.
    #[cfg(all(unix, not(miri)))]
    #[test]
    fn a_child_does_not_wait_for_its_parents_locks() {
        let word = AtomicU32::new(0);
        let guard = bucket(&word).lock.lock();
        // SAFETY: the child calls `begin_anew`, as the handler of forks does. Its allocation needs only the C library's
        // own locks. Then it exits.
        let child = unsafe { libc::fork() };
        if child == 0 {
            begin_anew();
            wait(&word, 1, None);
            wake(&word, 1);
            // SAFETY: the call only ends the process.
            unsafe { libc::_exit(7) };
        }
        assert!(child > 0, "{}", std::io::Error::last_os_error());
        let mut status = 0;
        // SAFETY: `status` is a variable of this function.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!((waited, libc::WEXITSTATUS(status)), (child, 7));
        drop(guard);
    }
}
