//! The coroutines of `corosensei`, and the system's stacks.

pub(crate) use corosensei::stack::DefaultStack as NativeStack;
#[cfg(windows)]
pub use corosensei::stack::StackTebFields;
pub use corosensei::stack::{Stack, StackPointer};
pub use corosensei::{Coroutine, CoroutineResult, Yielder};

use std::io;

pub(crate) fn native_stack(bytes: usize) -> io::Result<NativeStack> {
    // No address space is so large, and the sum with the guard must not overflow.
    if bytes > isize::MAX as usize / 2 {
        let what = format!("a stack of {bytes} bytes");
        return Err(io::Error::new(io::ErrorKind::OutOfMemory, what));
    }
    NativeStack::new(bytes)
}
