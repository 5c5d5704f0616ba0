//! How a rank waits: the layers below `carry` see no more of it than this.

use std::any::Any;
use std::cell::Cell;

/// A member of a team that is no thread of the system's while its region runs: `carry` executes it, and others in its
/// place while it waits.
pub(crate) trait Waiter: Any {
    /// Lets others run until the condition holds.
    fn wait_until(&self, condition: &dyn Fn() -> bool);

    /// The rank has taken a lock: no preemption until it has let all of them go.
    fn holds(&self);

    /// The rank has let a lock go.
    fn holds_no_more(&self);

    /// The rank is member `id` of its team.
    fn is_member(&'static self, id: u32);

    /// The rank has come to a barrier, or to the region's end.
    fn arrive(&self);

    /// The rank has let the others go: it makes room for the rank that its worker is to run first.
    fn make_room(&self);
}

/// The rank that a thread is while it is carried. The thread's own.
pub(crate) type Carried = Cell<Option<&'static dyn Waiter>>;
