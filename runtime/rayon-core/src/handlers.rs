//! The handlers that a program may set.

use std::any::Any;
use std::sync::Arc;

/// Called with a thread's number when the thread starts or ends.
pub(crate) type ThreadHandler = Box<dyn Fn(usize) + Send + Sync>;

/// Called with a panic's payload if no caller waits for it.
pub(crate) type PanicHandler = Arc<dyn Fn(Box<dyn Any + Send>) + Send + Sync>;

/// Returns a thread's name by its number.
pub(crate) type NameOf = Box<dyn FnMut(usize) -> String>;
