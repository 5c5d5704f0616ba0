//! Threads of this library, and the list of them.
//!
//! Each thread of this library puts its number on the list as it begins, and takes the number away as it ends. A child
//! process has none of its parent's threads. So each entry also has the generation of its process
//! ([`Platform::forks`]), and an entry of another generation is free.

use super::report::fatal;
use manycore_platform::{Native, Platform};
use std::ffi::{CString, c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicPtr, AtomicU64};
use std::time::Duration;
use std::{io, ptr};

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

/// Whether the calling thread is the process's first.
pub(crate) fn is_first() -> bool {
    // SAFETY: a call without arguments.
    number() == unsafe { libc::getpid() }
}

/// The calling kernel thread's number, by the system call: `gettid` is not in the C libraries before 2.30.
pub(crate) fn number() -> libc::pid_t {
    #[cfg(miri)]
    // SAFETY: a call without arguments.
    return unsafe { libc::gettid() };
    #[cfg(not(miri))]
    // SAFETY: as above.
    unsafe {
        super::next::syscall(libc::SYS_gettid, [0; 6]) as libc::pid_t
    }
}

impl Ours {
    fn new() -> Self {
        let word = word(number());
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

/// A new thread's name and body.
struct Start {
    name: CString,
    body: Box<dyn FnOnce() + Send>,
}

extern "C" fn begin(start: *mut c_void) -> *mut c_void {
    // SAFETY: `try_spawn` has made it of a box, for this thread alone.
    let Start { name, body } = *unsafe { Box::from_raw(start.cast::<Start>()) };
    // SAFETY: the kernel reads a name that ends with a zero. It keeps 15 bytes.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
    drop(name);
    let ours = Ours::new();
    body();
    drop(ours);
    ptr::null_mut()
}

/// How often a thread is asked for where the system has none: a thread that has ended may count for a moment.
const TRIES: u32 = 10;
/// The largest stack that is tried.
const MOST: usize = 64 << 20;

/// Starts a thread of this library, if the system has one.
///
/// The C library's own function starts it. The standard library's threads register destructors as they begin, and the loader's
/// lock is taken for that. A program may begin a region in a constructor of a library that it opens. The leader has that lock
/// then, and waits for its threads.
pub(crate) fn try_spawn(
    name: &str,
    stack: Option<usize>,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let start = Box::into_raw(Box::new(Start {
        name: CString::new(name).unwrap_or_default(),
        body: Box::new(body),
    }));
    let mut stack = stack.map(|bytes| bytes.max(libc::PTHREAD_STACK_MIN));
    let mut tries = 0;
    loop {
        let error = create(stack, start.cast());
        match (error, stack) {
            (0, _) => return Ok(()),
            // The program's thread-locals lie there as well, and leave no room.
            (libc::EINVAL, Some(bytes)) if bytes < MOST => stack = Some(2 * bytes),
            (libc::EAGAIN, _) if tries < TRIES => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
            _ => {
                // SAFETY: no thread has it.
                drop(unsafe { Box::from_raw(start) });
                return Err(io::Error::from_raw_os_error(error));
            }
        }
    }
}

/// Returns the error's number, or 0.
fn create(stack: Option<usize>, start: *mut c_void) -> c_int {
    // SAFETY: attributes of this function's own, which the C library fills first; the function takes what `start` is.
    unsafe {
        let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
        let attributes = attributes.as_mut_ptr();
        if libc::pthread_attr_init(attributes) != 0 {
            return libc::ENOMEM;
        }
        libc::pthread_attr_setdetachstate(attributes, libc::PTHREAD_CREATE_DETACHED);
        let mut error = 0;
        if let Some(bytes) = stack {
            error = libc::pthread_attr_setstacksize(attributes, bytes.next_multiple_of(page));
        }
        if error == 0 {
            let mut thread = MaybeUninit::uninit();
            error = libc::pthread_create(thread.as_mut_ptr(), attributes, begin, start);
        }
        libc::pthread_attr_destroy(attributes);
        error
    }
}

/// Starts a thread of this library; without one the program cannot go on.
pub(crate) fn spawn(name: &str, stack: Option<usize>, body: impl FnOnce() + Send + 'static) {
    if let Err(error) = try_spawn(name, stack, body) {
        fatal(format_args!("no thread for a team: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_used_again() {
        let here = number();
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
