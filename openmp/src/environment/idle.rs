//! How many threads are in regions; and whether none is, so that what looks at the machine now and then may rest.
//!
//! A region that begins counts its threads first ([`enter`]), and then asks whether the watch of the cores rests ([`end_rest`]). The watch
//! says first that it is about to rest, and then asks whether a region runs ([`is_idle`]). Both use sequentially
//! consistent accesses, so at least one side sees the other's.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// Threads of teams beside their leaders that are in a region.
static BUSY: AtomicUsize = AtomicUsize::new(0);
/// The watch rests, or is about to.
static RESTS: AtomicBool = AtomicBool::new(false);

/// `threads` more threads are in regions.
pub(crate) fn enter(threads: usize) {
    BUSY.fetch_add(threads, SeqCst);
}

/// `threads` threads have left their regions.
pub(crate) fn leave(threads: usize) {
    BUSY.fetch_sub(threads, SeqCst);
}

/// How many threads are in regions, if the caller is the only leader.
pub(crate) fn busy() -> usize {
    BUSY.load(SeqCst) + 1
}

/// Whether no region runs. The watch asks; it `rests` if that is so.
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

/// Whether the watch rests, or is about to; from now on it does not. A region calls this that has begun.
#[inline]
pub(super) fn end_rest() -> bool {
    RESTS.load(SeqCst) && RESTS.swap(false, SeqCst)
}
