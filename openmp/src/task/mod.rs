//! Tasks as data: what a task is, which are ready, and what they wait for. [`tasking`](crate::tasking) makes and runs
//! them.
//!
//! Each member of a team has a queue of its own tasks that no thread has begun (`queue`, `tasks`),
//! and blocks of memory for them (`memory`). It runs the newest of its own first; members without
//! tasks take the oldest of others. Only dependences (`depend`) and priorities need data that a
//! team shares.

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
