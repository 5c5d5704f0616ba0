//! Other systems: a table of condition variables, hashed by the word's
//! address. A wake-up wakes the whole bucket, which the contract allows.

use crate::Futex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

struct Bucket {
    lock: Mutex<()>,
    wake: Condvar,
}

static BUCKETS: [Bucket; 64] = [const {
    Bucket {
        lock: Mutex::new(()),
        wake: Condvar::new(),
    }
}; 64];

fn bucket(word: &AtomicU32) -> &'static Bucket {
    let address = std::ptr::from_ref(word) as usize;
    &BUCKETS[(address >> 7) % BUCKETS.len()]
}

impl Futex for AtomicU32 {
    fn wait(&self, expected: u32, timeout: Option<Duration>) {
        let bucket = bucket(self);
        let guard = bucket.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Compared under the lock that `wake` takes after the word has
        // changed: either this load sees the change, or the waker waits for
        // the lock until this thread is in the condition variable.
        if self.load(Ordering::SeqCst) != expected {
            return;
        }
        match timeout {
            Some(timeout) => drop(bucket.wake.wait_timeout(guard, timeout)),
            None => drop(bucket.wake.wait(guard)),
        }
    }

    fn wake(&self, _count: u32) -> usize {
        let bucket = bucket(self);
        drop(bucket.lock.lock().unwrap_or_else(PoisonError::into_inner));
        bucket.wake.notify_all();
        0
    }
}
