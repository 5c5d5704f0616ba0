//! The description of a task that is to be made.

use super::{Outlined, Task};
use std::ffi::c_void;

/// See the module.
pub(crate) struct Order {
    pub(crate) function: Outlined,
    pub(crate) data: *mut c_void,
    pub(crate) copy: Option<unsafe extern "C" fn(*mut c_void, *const c_void)>,
    pub(crate) size: usize,
    pub(crate) align: usize,
    /// The first two words of the arguments of a `taskloop` task. The copy function does not write these words.
    pub(crate) bounds: Option<[u64; 2]>,
    pub(crate) deferred: bool,
    pub(crate) is_final: bool,
    pub(crate) priority: i32,
    /// The compiler's array of dependences, or null.
    pub(crate) depend: *mut *mut c_void,
    /// Frees `data`, if the task is dropped before it begins. Only programs that clang compiled need this.
    pub(crate) discard: Option<unsafe fn(*mut c_void)>,
    /// The address to which the handle of the task's event is written, or null.
    pub(crate) event: *mut *const Task,
}
