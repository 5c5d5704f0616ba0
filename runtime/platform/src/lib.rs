//! The seam of manycore: everything the runtime touches that is not private
//! memory goes through [`Platform`].
//!
//! The runtime is generic over a platform, with [`Native`] as the default
//! type parameter, so that the same pool and loop code runs on this machine's
//! cores, under a model checker (`manycore-check`), and on a simulated chip
//! (`manycore-chip`). The trait is chosen at compile time; on [`Native`] every method is a
//! `std::sync::atomic` operation, one instruction or one system call, and
//! inlines to exactly that (`ci/seam-cost.sh` counts the instructions).
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
//! [`Native`] uses these parts of each system. The runtime works without each of them, and the
//! notes say what the replacement costs.
//!
//! | target | checked by | sleep | light fences | clock | binding, [`core`](Platform::core) | mask, quota, topology | forks | coroutines |
//! |---|---|---|---|---|---|---|---|---|
//! | Linux x86-64 | all tests | futex | `membarrier` | time-stamp counter | yes | yes | counted | yes |
//! | Linux aarch64 | tests, emulated | futex | `membarrier` | virtual counter | yes | yes | counted | yes |
//! | Linux riscv64 | compiling | futex | `membarrier` | system's | yes | yes | counted | yes |
//! | Linux i686 | compiling | futex | `membarrier` | system's | yes | yes | counted | yes |
//! | macOS x86-64, aarch64 | compiling | table (1) | fences (2) | as Linux | no (3) | number of CPUs (4) | counted | yes |
//! | Windows x86-64, i686 | compiling | table (1) | fences (2) | as Linux | no (3) | number of CPUs (4) | none there | yes (5) |
//! | FreeBSD x86-64 | compiling | table (1) | fences (2) | as Linux | no (3) | number of CPUs (4) | counted | yes |
//! | wasm32 | a program in node | none (6) | fences (2) | counts calls (7) | no (3) | one CPU | none there | no (5) |
//!
//! 1. 64 condition variables, chosen by the word's address: a wake-up takes a lock, and
//!    now and then wakes a thread for its neighbour.
//! 2. Every join has a fence, and takes 9 ns instead of 4 on an x86-64 machine if no thread steals
//!    (a Chase-Lev deque with either, in `docs/design.md`).
//! 3. A thread that is to be bound to CPUs is an error of [`Platform::spawn`], of the kind
//!    `Unsupported`; threads that are not stay where the system puts them. The core is 0.
//! 4. The CPUs are taken for one group of equals; their number is
//!    [`available_parallelism`](std::thread::available_parallelism)'s.
//! 5. [`Platform::stack`] is an error of the kind `Unsupported`, on 64-bit Arm under Windows too.
//!    Nothing but the ranks of a team that outnumber its threads needs one.
//! 6. There are no threads: [`Platform::spawn`] is an error of the kind `Unsupported`, and a pool
//!    of one runs everything on its caller.
//! 7. `wasm32-unknown-unknown` has no clock. A budget of time still ends.
//!
//! Linux may refuse some calls, in sandboxes and old kernels. Without `membarrier` it is as in (2),
//! if it is refused from the beginning; if it is refused later, the process is aborted
//! ([`heavy_fence`](Platform::heavy_fence)). Refused timer slack and affinity are done without,
//! except for binding, which is an error. `/proc`, `/sys` and the control groups may be missing:
//! then it is as in (4).
//!
//! `ci/platforms.sh` does the checks of the second column; it also runs the tests of Linux with
//! what the others have in place of its own (`--cfg manycore_portable`).

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
