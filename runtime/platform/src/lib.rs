//! The seam of manycore: the runtime reaches everything outside of its own memory through [`Platform`].
//!
//! The runtime is generic over a platform, and [`Native`] is the default type parameter. So the same code of pools and
//! loops runs on this machine's cores, under a model checker (`manycore-check`), and on a simulated chip
//! (`manycore-chip`). The platform is chosen at compile time. On [`Native`] every method is a `std::sync::atomic`
//! operation, one instruction or one system call, and inlines to exactly that (`ci/seam-cost.sh` counts the
//! instructions).
//!
//! ```
//! use manycore_platform::{Atomic, AtomicInteger, Native, Ordering, Platform};
//!
//! /// Claims `block` iterations from a shared counter, on any platform.
//! fn claim<P: Platform>(next: &P::AtomicU64, block: u64) -> u64 {
//!     next.fetch_add(block, Ordering::Relaxed)
//! }
//!
//! let next = <Native as Platform>::AtomicU64::new(0);
//! assert_eq!(claim::<Native>(&next, 16), 0);
//! assert_eq!(claim::<Native>(&next, 16), 16);
//! ```
//!
//! # Systems
//!
//! The table says what [`Native`] uses on each system. The runtime works without each of these parts, and the notes
//! say what the replacement costs.
//!
//! | target | checked by | sleep | light fences | clock | binding, [`core`](Platform::core) | mask, quota, topology | forks | coroutines |
//! |---|---|---|---|---|---|---|---|---|
//! | Linux x86-64 | all tests | futex | `membarrier` | time-stamp counter | yes | yes | counted | yes |
//! | Linux aarch64 | tests, emulated | futex | `membarrier` | virtual counter | yes | yes | counted | yes |
//! | Linux riscv64 | compiling | futex | `membarrier` | timer | yes | yes | counted | yes |
//! | Linux i686 | compiling | futex | `membarrier` | system's | yes | yes | counted | yes |
//! | macOS x86-64, aarch64 | compiling | table (1) | fences (2) | as Linux | no (3) | number of CPUs (4) | counted | yes |
//! | Windows x86-64, i686 | compiling | table (1) | fences (2) | as Linux | no (3) | number of CPUs (4) | none there | yes (5) |
//! | FreeBSD x86-64 | compiling | table (1) | fences (2) | as Linux | no (3) | number of CPUs (4) | counted | yes |
//! | wasm32 | a program in node | none (6) | fences (2) | counts calls (7) | no (3) | one CPU | none there | no (5) |
//!
//! 1. 64 condition variables, chosen by the word's address. A wake-up takes a lock, and sometimes also wakes a thread
//!    that sleeps on another word.
//! 2. Every join has a full fence. A join takes 9 ns instead of 4 ns on an x86-64 machine if no thread steals (a
//!    Chase-Lev deque with either fence, in `docs/design.md`).
//! 3. [`Platform::spawn`] fails with `Unsupported` for a thread that must be bound to CPUs. Other threads stay where
//!    the system puts them. The core is 0.
//! 4. The CPUs count as one group of equal CPUs. Their number is that of
//!    [`available_parallelism`](std::thread::available_parallelism).
//! 5. [`Platform::stack`] fails with `Unsupported`, also on 64-bit Arm under Windows. Only a team with more ranks than
//!    threads needs a stack.
//! 6. There are no threads. [`Platform::spawn`] fails with `Unsupported`, and a pool of one thread runs everything on
//!    its caller.
//! 7. `wasm32-unknown-unknown` has no clock. Each look at the clock advances it by 10 ns, so spinning with a time
//!    limit still ends.
//!
//! Sandboxes and old kernels of Linux may refuse some calls. If `membarrier` is refused from the beginning, note 2
//! applies. If it is refused later, the process is aborted ([`heavy_fence`](Platform::heavy_fence)). If the system
//! refuses a change of the timer slack or a move of a thread, nothing happens. If it refuses to bind a thread, this is
//! an error. If `/proc`, `/sys` or the control groups are missing, note 4 applies.
//!
//! `ci/platforms.sh` does the checks of the second column. It also runs Linux's tests with the parts that other
//! systems use (`--cfg manycore_portable`).

mod atomic;
mod cache_padded;
pub mod coroutine;
mod forward;
mod native;
mod platform;
pub mod process;
mod thread_spec;

pub use atomic::{Atomic, AtomicInteger, Futex};
pub use cache_padded::CachePadded;
pub use coroutine::Stack;
pub use native::{Native, NativeThread};
pub use platform::Platform;
pub use std::sync::atomic::Ordering;
pub use thread_spec::ThreadSpec;
