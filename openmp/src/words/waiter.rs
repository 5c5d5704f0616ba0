//! The trait through which the modules below `carry` use a rank.

use crate::system::cpus::Cpus;
use std::any::Any;
use std::cell::Cell;

/// A rank: a member of a *carried* team. Kernel threads, the workers, execute the ranks. While a rank waits, its worker
/// executes others.
pub(crate) trait Waiter: Any {
    /// Whether the rank now waits like a usual thread. It does while its own kernel thread executes it and may execute
    /// no other rank.
    fn is_thread(&self) -> bool;

    /// Suspends the rank until a worker has found that the condition holds. The worker executes other ranks meanwhile.
    fn wait_until(&self, condition: &dyn Fn() -> bool);

    /// The number of locks that the rank holds. The rank is not preempted while this number is not 0.
    fn held(&'static self) -> &'static Cell<u32>;

    /// Makes the rank a member of its team. `id` is its position when members are divided among workers.
    fn is_member(&'static self, id: u32);

    /// Sets the CPUs that the program sees as the rank's affinity.
    fn bind(&self, cpus: &Cpus);

    /// Notes that the rank has arrived at a barrier or at the end of the region.
    fn arrive(&self);

    /// Called after the rank has released the other ranks. If the plan for its worker begins with another rank, the
    /// calling rank leaves the worker.
    fn make_room(&self);
}

/// The rank that a thread is, while the thread is carried. Only this thread uses the value.
#[derive(Default)]
pub(crate) struct Carried {
    rank: Cell<Option<&'static dyn Waiter>>,
    /// The rank's count of locks. A lock changes it without a call of the trait.
    held: Cell<Option<&'static Cell<u32>>>,
}

impl Carried {
    pub(crate) fn get(&self) -> Option<&'static dyn Waiter> {
        self.rank.get()
    }

    /// The rank, unless it waits like a usual thread: see [`Waiter::is_thread`].
    #[inline]
    pub(super) fn waits(&self) -> Option<&'static dyn Waiter> {
        self.get().filter(|rank| !rank.is_thread())
    }

    pub(crate) fn set(&self, rank: Option<&'static dyn Waiter>) {
        self.rank.set(rank);
        self.held.set(rank.map(|rank| rank.held()));
    }

    #[inline]
    pub(super) fn takes_lock(&self) {
        if let Some(held) = self.held.get() {
            held.set(held.get() + 1);
        }
    }

    /// Counts that the thread frees a lock. Another thread may have taken that lock, so the count stops at 0.
    #[inline]
    pub(super) fn frees_lock(&self) {
        if let Some(held) = self.held.get() {
            held.set(held.get().saturating_sub(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lock::WordLock;
    use super::*;

    #[test]
    fn each_way_to_take_a_lock_is_counted_once() {
        let held = Box::leak(Box::new(Cell::new(0)));
        let carried = Carried {
            rank: Cell::new(None),
            held: Cell::new(Some(held)),
        };
        let [one, other] = [WordLock::new(), WordLock::new()];
        one.lock(&carried);
        assert!(other.try_lock(&carried));
        assert_eq!(held.get(), 2);
        assert!(!other.try_lock(&carried));
        assert_eq!(held.get(), 2);
        other.unlock(&carried);
        assert_eq!(held.get(), 1);
        one.unlock(&carried);
        assert_eq!(held.get(), 0);
    }
}
