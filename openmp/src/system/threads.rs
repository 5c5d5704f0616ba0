//! Starts threads of this library, and keeps a list of them.
//!
//! Each thread of this library adds its number to the list as it begins, and removes the number as it ends. A child
//! process has none of the threads of its parent. So each entry also has the generation of its process
//! ([`Platform::forks`]), and entries of other generations are free.
//!
//! The thread that starts another one allocates what is needed here, so a new thread does not allocate until its body
//! does. At a thread's first allocation the C library reserves 64 MiB of addresses for it, in four system calls. The
//! bodies of workers and of the helping threads never allocate.

use super::report::fatal;
use super::shared_core::{self, NONE, Slot};
use manycore_platform::{Native, Platform};
use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicPtr, AtomicU64};
use std::time::Duration;
use std::{io, ptr};

/// The entry of a thread of this library. Entries are never freed.
struct Entry {
    /// The high half is the generation, and the low half the number of the thread. A free entry has 0.
    thread: AtomicU64,
    slot: Slot,
    next: *const Self,
}

static THREADS: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());

fn entries() -> impl Iterator<Item = &'static Entry> {
    // SAFETY: entries are never freed. Acquire makes visible the contents of the first entry, and so of all entries
    // behind it.
    let first = unsafe { THREADS.load(Acquire).as_ref() };
    // SAFETY: `next` is null or the address of an entry, and was written before other threads found its entry.
    std::iter::successors(first, |entry| unsafe { entry.next.as_ref() })
}

/// The word of an entry for a thread of this process.
fn word(thread: libc::pid_t) -> u64 {
    u64::from(Native::forks()) << 32 | u64::from(thread.cast_unsigned())
}

/// Stands for the number of a thread that has not begun. No thread has this number.
const STARTING: libc::pid_t = -1;

/// Whether the thread belongs to this library.
pub(super) fn is_ours(thread: libc::pid_t) -> bool {
    let word = word(thread);
    // Relaxed: no other data depends on the word of an entry.
    entries().any(|entry| entry.thread.load(Relaxed) == word)
}

/// The slots of the threads of this library.
pub(super) fn slots() -> impl Iterator<Item = &'static Slot> {
    let generation = word(0);
    let is_alive = move |word: u64| word > generation && word >> 32 == generation >> 32;
    // Relaxed: as above.
    let alive = entries().filter(move |entry| is_alive(entry.thread.load(Relaxed)));
    alive.map(|entry| &entry.slot)
}

#[cfg(test)]
pub(super) fn new_slot() -> &'static Slot {
    &add(word(number())).slot
}

/// An entry for a thread that does not exist yet, or for the calling thread. It is free again when this value is dropped.
struct Ours(&'static Entry);

/// Whether the calling thread is the first thread of the process.
pub(crate) fn is_first() -> bool {
    // SAFETY: the call has no arguments.
    number() == unsafe { libc::getpid() }
}

/// The number of the calling kernel thread. Makes the system call itself, since glibc has no `gettid` before 2.30.
pub(crate) fn number() -> libc::pid_t {
    #[cfg(miri)]
    // SAFETY: the call has no arguments.
    return unsafe { libc::gettid() };
    #[cfg(not(miri))]
    // SAFETY: the call has no arguments.
    unsafe {
        super::next::syscall(libc::SYS_gettid, [0; 6]) as libc::pid_t
    }
}

impl Ours {
    /// Takes an entry for a thread that the caller is about to start.
    fn reserve() -> Self {
        let word = word(STARTING);
        // Relaxed: no other data depends on the word of an entry.
        let take = |entry: &&Entry| {
            let known = entry.thread.load(Relaxed);
            (known == 0 || known >> 32 != word >> 32)
                && (entry.thread)
                    .compare_exchange(known, word, Relaxed, Relaxed)
                    .is_ok()
        };
        Self(entries().find(take).unwrap_or_else(|| add(word)))
    }

    /// The calling thread is that of the entry.
    fn begin(&self) {
        self.0.thread.store(word(number()), Relaxed);
        shared_core::take(&self.0.slot);
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        self.0.slot.store(NONE, Relaxed);
        self.0.thread.store(0, Relaxed);
    }
}

fn add(word: u64) -> &'static Entry {
    let entry = Box::into_raw(Box::new(Entry {
        thread: AtomicU64::new(word),
        slot: Slot::new(NONE),
        next: THREADS.load(Relaxed),
    }));
    loop {
        // SAFETY: no other thread has the entry yet.
        let next = unsafe { (*entry).next };
        // Release publishes the new entry. Acquire makes the entries behind it visible, so that the release publishes
        // these too.
        match THREADS.compare_exchange(next.cast_mut(), entry, AcqRel, Relaxed) {
            // SAFETY: entries are never freed.
            Ok(_) => return unsafe { &*entry },
            // SAFETY: the exchange has failed, so no other thread has found the entry.
            Err(next) => unsafe { (*entry).next = next },
        }
    }
}

/// Memory that is never freed, for a value that a new thread makes of itself.
pub(crate) struct Place<T: 'static>(&'static mut MaybeUninit<T>);

// SAFETY: the memory has no value, so no value moves to another thread with it.
unsafe impl<T> Send for Place<T> {}

impl<T> Place<T> {
    pub(crate) fn new() -> Self {
        Self(Box::leak(Box::new_uninit()))
    }

    pub(crate) fn fill(self, value: T) -> &'static mut T {
        self.0.write(value)
    }
}

/// What a new thread needs.
struct Start {
    name: &'static CStr,
    ours: Ours,
    body: Box<dyn FnOnce() + Send>,
}

extern "C" fn begin(start: *mut c_void) -> *mut c_void {
    // SAFETY: `try_spawn` got the pointer from a box and gave it only to this thread. The box is freed as the thread
    // ends.
    let start = unsafe { Box::from_raw(start.cast::<Start>()) };
    // SAFETY: the name ends with a zero. The kernel only reads it, and keeps 15 bytes.
    unsafe { libc::prctl(libc::PR_SET_NAME, start.name.as_ptr()) };
    start.ours.begin();
    (start.body)();
    ptr::null_mut()
}

/// How often to try again, 1 ms apart, if the system has no thread left: for a moment, a thread that has ended may
/// still count.
const TRIES: u32 = 10;
/// If a stack of this size is too small, no larger stack is tried.
const MOST: usize = 64 << 20;

/// Starts a thread of this library. Fails if the system has no thread left.
///
/// This calls `pthread_create` itself. Threads of Rust's standard library take the loader's lock as they begin, to
/// register destructors. If a program begins a region in a constructor of a library that it opens, the leader holds
/// that lock while it waits for its threads: a deadlock.
pub(crate) fn try_spawn(
    name: &'static CStr,
    stack: Option<usize>,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let start = Box::into_raw(Box::new(Start {
        name,
        ours: Ours::reserve(),
        body: Box::new(body),
    }));
    let mut stack = stack.map(|bytes| bytes.max(libc::PTHREAD_STACK_MIN));
    let mut tries = 0;
    loop {
        let error = create(stack, start.cast());
        match (error, stack) {
            (0, _) => return Ok(()),
            // The stack also contains the thread-locals of the program, which may leave no room.
            (libc::EINVAL, Some(bytes)) if bytes < MOST => stack = Some(2 * bytes),
            (libc::EAGAIN, _) if tries < TRIES => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
            _ => {
                // SAFETY: no thread was started, so no other thread has the box.
                drop(unsafe { Box::from_raw(start) });
                return Err(io::Error::from_raw_os_error(error));
            }
        }
    }
}

/// Starts a thread with `begin`. Returns the error's number, or 0.
fn create(stack: Option<usize>, start: *mut c_void) -> c_int {
    // SAFETY: the C library initialises the local attributes first. `begin` takes a pointer such as `start`.
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
            let bytes = bytes.checked_next_multiple_of(page).unwrap_or(bytes);
            error = libc::pthread_attr_setstacksize(attributes, bytes);
        }
        if error == 0 {
            let mut thread = MaybeUninit::uninit();
            error = libc::pthread_create(thread.as_mut_ptr(), attributes, begin, start);
        }
        libc::pthread_attr_destroy(attributes);
        error
    }
}

/// Starts a thread of this library. If the system has no thread left, ends the program.
pub(crate) fn spawn(
    name: &'static CStr,
    stack: Option<usize>,
    body: impl FnOnce() + Send + 'static,
) {
    if let Err(error) = try_spawn(name, stack, body) {
        fatal(format_args!(
            "no thread could be started for a team: {error}"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_used_again() {
        let here = number();
        drop(Ours::reserve());
        let ours = Ours::reserve();
        assert!(!is_ours(here));
        ours.begin();
        assert!(is_ours(here) && slots().any(|it| ptr::eq(it, &raw const ours.0.slot)));
        drop(ours);
        assert!(!is_ours(here));
    }

    #[test]
    fn an_entry_of_another_generation_is_free() {
        let entry = add(1 << 63 | 7);
        assert!(!is_ours(7) && !slots().any(|it| ptr::eq(it, &raw const entry.slot)));
        // This fills every free entry, and adds more.
        let ours: Vec<_> = entries().map(|_| Ours::reserve()).collect();
        assert_ne!(entry.thread.load(Relaxed), 1 << 63 | 7);
        drop(ours);
    }
}
