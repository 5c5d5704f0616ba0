//! Coroutines, and the stacks they run on.
//!
//! With the feature `coroutines` these are the types of the crate `corosensei`, which documents them. Without the
//! feature, and on processors that `corosensei` does not support (WebAssembly, and 64-bit Arm under Windows), types of
//! the same names replace these types. Then [`Platform::stack`](crate::Platform::stack) fails, so no stack and no
//! coroutine exists, but code that uses these types compiles.
//!
#![cfg_attr(feature = "coroutines", doc = "```")]
#![cfg_attr(not(feature = "coroutines"), doc = "```ignore")]
//! use manycore_platform::coroutine::{Coroutine, CoroutineResult};
//! use manycore_platform::{Native, Platform};
//!
//! let stack = Native::stack(64 << 10)?;
//! let mut coroutine = Coroutine::with_stack(stack, |yielder, first: u32| {
//!     let second = yielder.suspend(first + 1);
//!     second + 2
//! });
//! assert!(matches!(coroutine.resume(1), CoroutineResult::Yield(2)));
//! assert!(matches!(coroutine.resume(10), CoroutineResult::Return(12)));
//! # Ok::<(), std::io::Error>(())
//! ```

// Cargo.toml lists the same systems.
#[cfg(all(
    feature = "coroutines",
    not(any(target_family = "wasm", all(windows, target_arch = "aarch64")))
))]
mod real;
#[cfg(not(all(
    feature = "coroutines",
    not(any(target_family = "wasm", all(windows, target_arch = "aarch64")))
)))]
mod stand_in;

#[cfg(all(
    feature = "coroutines",
    not(any(target_family = "wasm", all(windows, target_arch = "aarch64")))
))]
use real as provider;
#[cfg(not(all(
    feature = "coroutines",
    not(any(target_family = "wasm", all(windows, target_arch = "aarch64")))
)))]
use stand_in as provider;

#[cfg(windows)]
pub use provider::StackTebFields;
pub use provider::{Coroutine, CoroutineResult, Stack, StackPointer, Yielder};
pub(crate) use provider::{NativeStack, native_stack};
