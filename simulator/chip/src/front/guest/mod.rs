//! The interface for programs in the instruction set of another processor. A [`Guest`] is a thread that interprets its
//! own instructions and asks its [`Core`] for memory accesses, threads and messages.
//!
//! A guest chooses its own addresses, from [`FIRST_ADDRESS`] on. These addresses decide the cache lines. They should be
//! dense, since the machine keeps a record for each touched line.

mod channels;
mod clocks;
mod core;
mod kernel;
mod run;
mod seats;
mod threads;
mod warm;

pub use self::core::{Answer, Core};
pub use crate::engine::Before;
pub use crate::memory::{Operation, Rmw, Width};
pub use run::{Guest, State};
pub use threads::GuestThread;
pub use warm::Warmth;

pub use crate::broadcast::{Delivery, Filter, MatchOperation, Message};
pub use crate::network::Channel;

use crate::memory::Word;

/// The least address of a guest's memory.
///
/// ```
/// assert!(manycore_chip::guest::FIRST_ADDRESS.is_multiple_of(4096));
/// ```
pub const FIRST_ADDRESS: u64 = crate::memory::FIRST_ADDRESS;

/// Does `operation` on a word outside of simulated time. Returns the previous value.
///
/// # Safety
///
/// `word` is valid for reads and writes of `width`, aligned to it, and no other thread of the
/// host uses it.
///
/// ```
/// use manycore_chip::guest::{Operation, Width, apply};
///
/// let mut word = 41u64;
/// // SAFETY: the local variable above.
/// let before = unsafe { apply((&raw mut word).cast(), Width::Eight, Operation::Add(1)) };
/// assert_eq!((before, word), (41, 42));
/// ```
#[inline]
pub unsafe fn apply(word: *mut u8, width: Width, operation: Operation) -> u64 {
    // SAFETY: the caller promises the same.
    unsafe { Word::new(word, width) }.apply(operation)
}
