//! Locks and bells, at which threads wait.

pub(crate) mod bell;
pub(crate) mod lock;
pub(crate) mod spin;
mod waiter;

pub(crate) use waiter::{Carried, Waiter};
