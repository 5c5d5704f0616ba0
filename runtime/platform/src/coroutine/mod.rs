//! Coroutines, and the stacks they run on.
//!
//! With the feature `coroutines` they are those of the crate `corosensei`, which says what each
//! does; here is where the rest of manycore has them from. Without it, and on processors that
//! `corosensei` does not know (WebAssembly, and 64-bit Arm under Windows), types of the same names
//! stand in for them: no stack can be had there ([`Platform::stack`](crate::Platform::stack)
//! is an error), and so no coroutine is ever made, but code over them compiles.
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

// The same systems stand in Cargo.toml.
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
