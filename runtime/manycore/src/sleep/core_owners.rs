//! Records which worker ran last on each core. If a sleeper fell asleep on a core that another worker owns now, it is
//! woken on another core.
//!
//! In this module, worker `w` is the thread that has permit `w` (one of the pool's rights to run jobs). A worker owns
//! at most one core, where it last woke up or posted work. So if a pool has a core for each worker and two workers run
//! on one core, another core has no owner.
//!
//! All entries are hints: a wrong entry costs two system calls, or leaves two workers on one core until one of them
//! sleeps again. So all accesses are relaxed, and no proof depends on them. The atomics are from the standard library,
//! so they take no time on a simulated machine.

use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// Cores with this or a higher number are not recorded.
const CORES: usize = 1024;
const NONE: u16 = u16::MAX;

pub(super) struct CoreOwners {
    /// The owner of each core.
    owners: Box<[AtomicU16]>,
    /// The core of each worker.
    cores: Box<[AtomicU16]>,
}

impl CoreOwners {
    pub(super) fn new(workers: usize) -> Self {
        let nones = |count| (0..count).map(|_| AtomicU16::new(NONE)).collect();
        Self {
            owners: nones(CORES),
            cores: nones(workers),
        }
    }

    /// Records that `worker` runs on `core`. Reads two cache lines, and writes them only if they change.
    pub(super) fn claim(&self, core: usize, worker: usize) {
        let (Some(owner), number) = (self.owners.get(core), short(worker)) else {
            return;
        };
        let before = self.cores[worker].load(Relaxed);
        if before != short(core) {
            self.cores[worker].store(short(core), Relaxed);
            let last = self.owners.get(usize::from(before));
            if let Some(last) = last.filter(|last| last.load(Relaxed) == number) {
                last.store(NONE, Relaxed);
            }
        }
        if owner.load(Relaxed) != number {
            owner.store(number, Relaxed);
        }
    }

    /// Whether a worker other than `worker` owns `core`.
    pub(super) fn is_anothers(&self, core: usize, worker: usize) -> bool {
        let owner = self
            .owners
            .get(core)
            .map_or(NONE, |owner| owner.load(Relaxed));
        owner != NONE && owner != short(worker)
    }
}

/// Returns `NONE` for a number that does not fit.
fn short(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the workers claim, each owns at most one core.
    #[test]
    fn two_workers_on_one_core_leave_another_core_free() {
        let mut random = fastrand::Rng::with_seed(1);
        let owners = CoreOwners::new(8);
        for _ in 0..1000 {
            owners.claim(random.usize(0..8), random.usize(0..8));
            let nobody = 8;
            let free = (0..8)
                .filter(|&core| !owners.is_anothers(core, nobody))
                .count();
            let mut on: Vec<u16> = owners.cores.iter().map(|core| core.load(Relaxed)).collect();
            on.retain(|&core| core != NONE);
            on.sort_unstable();
            on.dedup();
            assert!(free >= 8 - on.len());
        }
        owners.claim(CORES, 3);
        assert!(!owners.is_anothers(CORES, 4));
    }
}
