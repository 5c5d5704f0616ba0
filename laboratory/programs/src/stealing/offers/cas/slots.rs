use crate::mutex::Mutex;
use manycore_platform::{Atomic, Platform};
use std::ptr;
use std::sync::Arc;

/// Words of the first segment. Each further segment has twice as many.
const FIRST: usize = 64;

/// The words of one queue, in segments that do not move until this struct is dropped.
pub struct Slots<P: Platform> {
    /// Keeps the segments alive. The owner has references to them too.
    segments: Mutex<P, Vec<Arc<[P::AtomicU64]>>>,
}

impl<P: Platform> Slots<P> {
    pub(super) fn new() -> Self {
        Self {
            segments: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn grow(&self) -> Arc<[P::AtomicU64]> {
        self.segments.with(|segments| {
            let words = FIRST << segments.len();
            let segment: Arc<[_]> = (0..words).map(|_| Atomic::new(0)).collect();
            P::name(&*segment, "items");
            segments.push(Arc::clone(&segment));
            segment
        })
    }
}

/// The address of an offered word.
pub(super) fn address<W>(word: &W) -> u64 {
    ptr::from_ref(word).expose_provenance() as u64
}

/// The word at an address.
///
/// # Safety
///
/// The address is from [`address`], for a word of [`Slots`] that outlive `'a`.
pub(super) unsafe fn at<'a, P: Platform>(address: u64) -> &'a P::AtomicU64 {
    let word = ptr::with_exposed_provenance(address as usize);
    // SAFETY: by contract this is the address of a live word. Atomics may be shared.
    unsafe { &*word }
}
