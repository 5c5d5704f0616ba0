//! The ring that holds a worker's tasks until they are taken.

use super::super::Task;
use manycore_platform::{Atomic, Ordering, Platform};

/// The places in a ring. There are few in tests, so that the ring is sometimes full.
const CAPACITY: u32 = if cfg!(test) { 4 } else { 8_192 };

/// The tasks, each at its place. An empty place holds 0.
///
/// The words that hold ranges decide which worker owns a place. A place is used again only once it is 0. All accesses
/// are relaxed, since the content of a place was published with its range. The coherence of the place alone orders the
/// owner's next task after the taking of the previous task.
pub(super) struct Ring<P: Platform> {
    places: Box<[P::AtomicU64]>,
}

impl<P: Platform> Ring<P> {
    pub(super) fn new() -> Self {
        let places = (0..CAPACITY).map(|_| P::AtomicU64::new(0)).collect();
        Self { places }
    }

    fn at(&self, place: u32) -> &P::AtomicU64 {
        &self.places[(place % CAPACITY) as usize]
    }

    /// The owner writes a task to a place that is in no range. Returns `false` if the place still holds its
    /// previous task.
    pub(super) fn write(&self, place: u32, task: Task) -> bool {
        let at = self.at(place);
        let free = at.load(Ordering::Relaxed) == 0;
        if free {
            at.store(task.get(), Ordering::Relaxed);
        }
        free
    }

    /// Takes the task from a place that the caller has claimed.
    pub(super) fn take(&self, place: u32) -> Task {
        let at = self.at(place);
        let task = at.load(Ordering::Relaxed);
        at.store(0, Ordering::Relaxed);
        claimed(task)
    }

    /// As `take`, for a place of another worker. It is one swap, so that the cache line is transferred only once.
    pub(super) fn take_from_afar(&self, place: u32) -> Task {
        claimed(self.at(place).swap(0, Ordering::Relaxed))
    }
}

fn claimed(task: u64) -> Task {
    Task::new(task).expect("a place that is in a range holds a task")
}
