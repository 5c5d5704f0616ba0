//! A table of the kernel threads that execute ranks (threads of a team).
//!
//! A kernel thread that executes a rank has the rank's thread pointer. So no thread-local identifies the kernel thread:
//! only its number in the kernel does. This table maps that number to the kernel thread's own thread pointer and to the
//! address of its [worker](super::worker). Signal handlers read the table.
//!
//! Only the kernel thread itself writes its entry, and writes its number last. So a thread that finds its own number
//! reads its own writes, in program order, and needs no other order. If another thread reads the entry meanwhile, that
//! thread finds a number that is not its own, and reads no further.

use crate::system::threads::number;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicUsize, Ordering, compiler_fence};

/// The most workers at once. One of them belongs to the leader's home, and the others execute teams.
const MOST: usize = super::registry::MOST + 1;

struct Entry {
    /// The number of the thread in the kernel, or 0 if the entry is free.
    thread: AtomicI32,
    /// The kernel thread's own thread pointer.
    home: AtomicUsize,
    worker: AtomicPtr<c_void>,
}

static TABLE: [Entry; MOST] = [const {
    Entry {
        thread: AtomicI32::new(0),
        home: AtomicUsize::new(0),
        worker: AtomicPtr::new(ptr::null_mut()),
    }
}; MOST];
/// The number of entries that were ever used.
static USED: AtomicUsize = AtomicUsize::new(0);
/// The number in an entry that a thread is filling. No kernel thread has this number.
const TAKEN: i32 = -1;

fn mine() -> Option<&'static Entry> {
    let number = number();
    let used = USED.load(Relaxed).min(MOST);
    TABLE[..used]
        .iter()
        .find(|entry| entry.thread.load(Relaxed) == number)
}

/// The calling kernel thread will execute ranks for the worker at this address. Its own thread pointer is `home`.
pub(super) fn enter(worker: *const c_void, home: usize) {
    leave();
    let is_taken = |entry: &&Entry| {
        entry
            .thread
            .compare_exchange(0, TAKEN, Relaxed, Relaxed)
            .is_ok()
    };
    let Some((at, entry)) = TABLE.iter().enumerate().find(|(_, entry)| is_taken(entry)) else {
        crate::system::report::fatal(format_args!("more than {MOST} workers; expected fewer"));
    };
    USED.fetch_max(at + 1, Relaxed);
    entry.home.store(home, Relaxed);
    entry.worker.store(worker.cast_mut(), Relaxed);
    // If a signal handler on this thread finds the number, it finds the other fields as well.
    compiler_fence(Ordering::Release);
    entry.thread.store(number(), Relaxed);
}

/// From now on, the calling kernel thread executes no ranks.
pub(super) fn leave() {
    if let Some(entry) = mine() {
        entry.thread.store(0, Relaxed);
    }
}

/// The calling kernel thread's own thread pointer, if it executes ranks.
pub(super) fn home() -> Option<usize> {
    mine().map(|entry| entry.home.load(Relaxed))
}

/// Whether the calling kernel thread executes ranks for the worker at this address.
pub(super) fn is_of(worker: *const c_void) -> bool {
    mine().is_some_and(|entry| ptr::eq(entry.worker.load(Relaxed), worker))
}
