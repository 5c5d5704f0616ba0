//! What a program may have called when something happens.

use std::any::Any;
use std::sync::Arc;

/// Of a thread that starts or ends, with its number.
pub(crate) type ThreadHandler = Box<dyn Fn(usize) + Send + Sync>;

/// Of a panic that no caller waits for.
pub(crate) type PanicHandler = Arc<dyn Fn(Box<dyn Any + Send>) + Send + Sync>;

/// A thread's name by its number.
pub(crate) type NameOf = Box<dyn FnMut(usize) -> String>;
