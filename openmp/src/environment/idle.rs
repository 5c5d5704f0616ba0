//! The number of threads in parallel regions. While no thread is in a region, the watch (a thread that follows how many
//! cores this process may use) may rest.
//!
//! A beginning region first counts its threads ([`enter`]), and then checks whether the watch rests ([`end_rest`]). The
//! watch first writes that it is about to rest, and then checks whether a region runs ([`is_idle`]). Both use
//! sequentially consistent accesses, so at least one of the two sees the write of the other.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// The number of threads that are in a region, without the leaders of the teams.
static BUSY: AtomicUsize = AtomicUsize::new(0);
/// Whether the watch rests or is about to rest.
static RESTS: AtomicBool = AtomicBool::new(false);

/// Counts that `threads` more threads are in regions.
pub(crate) fn enter(threads: usize) {
    BUSY.fetch_add(threads, SeqCst);
}

/// Counts that `threads` threads have left their regions. After `fork` they may be threads of the parent, which are not
/// counted. So the count stops at 0.
pub(crate) fn leave(threads: usize) {
    let subtract = |busy: usize| Some(busy.saturating_sub(threads));
    _ = BUSY.fetch_update(SeqCst, SeqCst, subtract);
}

/// The only thread of a child process after `fork` calls this. Only the parent has the watch, so no thread of the child
/// is to wake it.
pub(crate) fn forget_regions() {
    BUSY.store(0, SeqCst);
    RESTS.store(false, SeqCst);
}

/// The number of threads in regions with the caller, if the caller is the only leader.
pub(crate) fn busy() -> usize {
    BUSY.load(SeqCst) + 1
}

/// Whether no region runs. The watch calls this. If `rests`, the watch will rest when the answer is `true`.
pub(super) fn is_idle(rests: bool) -> bool {
    if rests {
        RESTS.store(true, SeqCst);
    }
    let is_idle = busy() == 1;
    if rests && !is_idle {
        RESTS.store(false, SeqCst);
    }
    is_idle
}

/// A region that has begun calls this. Returns whether the watch rested or was about to rest, and notes that it no
/// longer does.
#[inline]
pub(super) fn end_rest() -> bool {
    RESTS.load(SeqCst) && RESTS.swap(false, SeqCst)
}
