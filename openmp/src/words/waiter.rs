//! The trait by which the layers below `carry` use a rank.

use std::any::Any;
use std::cell::Cell;

/// A rank: a member of a carried team. While it waits, its worker executes other ranks.
pub(crate) trait Waiter: Any {
    /// Lets others run until the condition holds.
    fn wait_until(&self, condition: &dyn Fn() -> bool);

    /// The rank has taken a lock. No preemption until it has freed all its locks.
    fn holds(&self);

    /// The rank has freed a lock.
    fn holds_no_more(&self);

    /// The rank is member `id` of its team.
    fn is_member(&'static self, id: u32);

    /// The rank has come to a barrier, or to the region's end.
    fn arrive(&self);

    /// The rank has let the other ranks go. It leaves its worker, if the plan has another rank there first.
    fn make_room(&self);
}

/// The rank that a thread is while it is carried. The thread's own.
pub(crate) type Carried = Cell<Option<&'static dyn Waiter>>;
