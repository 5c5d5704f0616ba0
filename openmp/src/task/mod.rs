//! Tasks as data: their descriptions, the queues of ready tasks, and dependences. [`tasking`](crate::tasking) makes and
//! runs them.
//!
//! Each member of a team has a queue of its ready tasks (`queue`, `tasks`) and blocks of memory for tasks (`memory`). A
//! member runs the newest task of its own queue first. A member without tasks takes the oldest tasks of other members.
//! Only dependences (`depend`) and priorities need data that a team shares.

mod counts;
pub(crate) mod depend;
mod group;
mod item;
pub(crate) mod memory;
mod order;
mod queue;
mod tasks;

pub(crate) use counts::Counts;
pub(crate) use group::Group;
pub(crate) use item::{FULFILLED, Kept, Outlined, RETURNED, Task, let_go};
pub(crate) use order::Order;
pub(crate) use tasks::Tasks;
