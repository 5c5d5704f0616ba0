//! Warms the caches of the machine that will run the region, and chooses the tasks that run by their times there.

use super::Functional;
use crate::linux::Task;
use crate::memory::Place;
use manycore_chip::guest::{Warmth, Width};

impl Functional {
    /// Makes accesses warm the caches of the machine that will run the region.
    pub(crate) fn warming(mut self, mut warmth: Warmth) -> Self {
        warmth.spawn(0, &[]);
        self.warmth = Some(warmth);
        self
    }

    /// Makes an access in the caches of the task's core. This is not inlined, since most programs are not handed over.
    #[cold]
    #[inline(never)]
    pub(super) fn warm(&mut self, place: Place, width: Width, writes: bool) {
        if let Some(warmth) = &mut self.warmth {
            // SAFETY: the place is in the process's space, and the hart has aligned it. One host thread runs all harts.
            unsafe { warmth.access(place.physical, place.host, width, writes) };
            if warmth.now() >= self.slice_end {
                self.until = self.clock;
            }
        }
    }

    /// The caches, with the running task's time up to now.
    pub(super) fn warmth(&mut self) -> Option<&mut Warmth> {
        let warmth = self.warmth.as_mut()?;
        warmth.execute(self.clock - self.passed);
        self.passed = self.clock;
        Some(warmth)
    }

    /// Takes the ready task that runs next.
    pub(super) fn take_next(&mut self) -> Option<(u32, Task)> {
        let at = match &self.warmth {
            None => 0,
            Some(warmth) => {
                let places = 0..self.ready.len();
                places.min_by_key(|&at| warmth.time_of(self.ready[at].0))?
            }
        };
        self.ready.remove(at)
    }

    /// Whether another ready task is behind the running task, on the machine whose caches are warmed.
    pub(super) fn is_ahead(&mut self) -> bool {
        let now = self.warmth().map_or(0, |warmth| warmth.now());
        let mut ready = self.ready.iter();
        let warmth = self.warmth.as_ref();
        warmth.is_some_and(|warmth| ready.any(|(handle, _)| warmth.time_of(*handle) < now))
    }
}
