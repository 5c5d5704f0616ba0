//! The ring of a worker's tasks, until a worker has taken them.

use super::super::Task;
use manycore_platform::{Atomic, Ordering, Platform};

/// Places of a ring. Few in tests, so that it is full now and then.
const CAPACITY: u32 = if cfg!(test) { 4 } else { 8_192 };

/// Tasks by place; a place of no task holds 0.
///
/// The words that hold ranges decide which place belongs to which worker. A place is used again
/// only once it is 0, and all accesses are relaxed: the content of a place was published with its
/// range, and the coherence of the place alone orders its owner's next task after the taking of the
/// last.
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

    /// The owner writes a task to a place that is in no range; `false`: the task that was
    /// there before has been claimed, or not even that, and not been taken yet.
    pub(super) fn write(&self, place: u32, task: Task) -> bool {
        let at = self.at(place);
        let free = at.load(Ordering::Relaxed) == 0;
        if free {
            at.store(task.get(), Ordering::Relaxed);
        }
        free
    }

    /// The worker that has claimed the place, and so is its owner, takes the task.
    pub(super) fn take(&self, place: u32) -> Task {
        let at = self.at(place);
        let task = at.load(Ordering::Relaxed);
        at.store(0, Ordering::Relaxed);
        claimed(task)
    }

    /// The same for another: at once, so that the line comes once.
    pub(super) fn take_from_afar(&self, place: u32) -> Task {
        claimed(self.at(place).swap(0, Ordering::Relaxed))
    }
}

fn claimed(task: u64) -> Task {
    Task::new(task).expect("a place that is in a range holds a task")
}
