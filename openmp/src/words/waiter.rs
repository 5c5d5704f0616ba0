//! The trait by which the layers below `carry` use a rank.

use crate::system::cpus::Cpus;
use std::any::Any;
use std::cell::Cell;

/// A rank: a member of a carried team. While it waits, its worker executes other ranks.
pub(crate) trait Waiter: Any {
    /// Whether the rank waits as a thread does now, since its own kernel thread executes it and is to go on with it.
    fn is_thread(&self) -> bool;

    /// Lets others run until a worker has found that the condition holds.
    fn wait_until(&self, condition: &dyn Fn() -> bool);

    /// How many locks the rank has. No preemption while this is not 0.
    fn held(&'static self) -> &'static Cell<u32>;

    /// The rank is a member of its team, at this position when members are divided among workers.
    fn is_member(&'static self, id: u32);

    /// The rank is to be on these CPUs, as far as it is asked where it is.
    fn bind(&self, cpus: &Cpus);

    /// The rank has come to a barrier, or to the region's end.
    fn arrive(&self);

    /// The rank has let the other ranks go. It leaves its worker, if the plan has another rank there first.
    fn make_room(&self);
}

/// The rank that a thread is while it is carried. The thread's own.
#[derive(Default)]
pub(crate) struct Carried {
    rank: Cell<Option<&'static dyn Waiter>>,
    /// The rank's count of locks, so that a lock calls no method of the rank's.
    held: Cell<Option<&'static Cell<u32>>>,
}

impl Carried {
    pub(crate) fn get(&self) -> Option<&'static dyn Waiter> {
        self.rank.get()
    }

    /// The rank, if it is to wait as one.
    #[inline]
    pub(super) fn waits(&self) -> Option<&'static dyn Waiter> {
        self.get().filter(|rank| !rank.is_thread())
    }

    #[allow(dead_code, reason = "where ranks cannot be carried nobody sets it")]
    pub(crate) fn set(&self, rank: Option<&'static dyn Waiter>) {
        self.rank.set(rank);
        self.held.set(rank.map(|rank| rank.held()));
    }

    /// The thread has taken a lock.
    #[inline]
    pub(super) fn takes_lock(&self) {
        if let Some(held) = self.held.get() {
            held.set(held.get() + 1);
        }
    }

    /// The thread has freed a lock, which another may have taken.
    #[inline]
    pub(super) fn frees_lock(&self) {
        if let Some(held) = self.held.get() {
            held.set(held.get().saturating_sub(1));
        }
    }
}
