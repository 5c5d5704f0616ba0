//! Threads of this library, and the list of them.
//!
//! Each thread of this library puts its number on the list as it begins, and takes the number away as it ends. A child
//! process has none of its parent's threads. So each entry also has the generation of its process
//! ([`Platform::forks`]), and an entry of another generation is free.

use super::report::fatal;
use manycore_platform::{Native, Platform};
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicPtr, AtomicU64};

/// A thread of this library. Never freed.
struct Entry {
    /// The generation in the high half, the thread's number in the low half; 0 in a free entry.
    thread: AtomicU64,
    next: *const Self,
}

/// The list.
static THREADS: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());

fn entries() -> impl Iterator<Item = &'static Entry> {
    // SAFETY: entries live for ever. Acquire: what is in the first, and so in all behind it.
    let first = unsafe { THREADS.load(Acquire).as_ref() };
    // SAFETY: `next` is null or the address of an entry, and was written before other threads found its entry.
    std::iter::successors(first, |entry| unsafe { entry.next.as_ref() })
}

/// The word of an entry: this process's generation, and the thread's number.
fn word(thread: libc::pid_t) -> u64 {
    u64::from(Native::forks()) << 32 | u64::from(thread.cast_unsigned())
}

/// Whether the thread is this library's.
pub(super) fn is_ours(thread: libc::pid_t) -> bool {
    let word = word(thread);
    // Relaxed: the number is all that an entry says.
    entries().any(|entry| entry.thread.load(Relaxed) == word)
}

/// The calling thread is this library's, until this is dropped.
struct Ours(&'static Entry);

impl Ours {
    fn new() -> Self {
        // SAFETY: a call without arguments.
        let word = word(unsafe { libc::gettid() });
        // Relaxed: the number is all that an entry says.
        let take = |entry: &&Entry| {
            let known = entry.thread.load(Relaxed);
            (known == 0 || known >> 32 != word >> 32)
                && (entry.thread)
                    .compare_exchange(known, word, Relaxed, Relaxed)
                    .is_ok()
        };
        Self(entries().find(take).unwrap_or_else(|| add(word)))
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        self.0.thread.store(0, Relaxed);
    }
}

fn add(word: u64) -> &'static Entry {
    let entry = Box::into_raw(Box::new(Entry {
        thread: AtomicU64::new(word),
        next: THREADS.load(Relaxed),
    }));
    loop {
        // SAFETY: no other thread has it yet.
        let next = unsafe { (*entry).next };
        // Release: what is in it. Acquire: the entries behind it, which it leads to.
        match THREADS.compare_exchange(next.cast_mut(), entry, AcqRel, Relaxed) {
            // SAFETY: it lives for ever.
            Ok(_) => return unsafe { &*entry },
            // SAFETY: the exchange has failed, so no other thread has found the entry.
            Err(next) => unsafe { (*entry).next = next },
        }
    }
}

/// Starts a thread of this library; without one the program cannot go on.
pub(crate) fn spawn(name: &str, stack: Option<usize>, body: impl FnOnce() + Send + 'static) {
    let mut thread = std::thread::Builder::new().name(name.into());
    if let Some(bytes) = stack {
        thread = thread.stack_size(bytes);
    }
    let body = || {
        let _ours = Ours::new();
        body();
    };
    if let Err(error) = thread.spawn(body) {
        fatal(format_args!("no thread for a team: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_used_again() {
        // SAFETY: a call without arguments.
        let here = unsafe { libc::gettid() };
        drop(Ours::new());
        assert!(!is_ours(here));
        let ours = Ours::new();
        assert!(is_ours(here));
        drop(ours);
        assert!(!is_ours(here));
    }

    #[test]
    fn an_entry_of_another_generation_is_free() {
        let entry = add(1 << 63 | 7);
        assert!(!is_ours(7));
        // This takes every free entry.
        let ours: Vec<_> = entries().map(|_| Ours::new()).collect();
        assert_ne!(entry.thread.load(Relaxed), 1 << 63 | 7);
        drop(ours);
    }
}
