//! Whether a rank that was interrupted only waits for memory that others write.
//!
//! A loop that waits comes back to the same instruction with the same registers, and has written
//! nothing. It does so again until another thread writes a word that it reads. So this module
//! follows by hand the instructions after a rank's interruption, with copies of its registers. If
//! they come back to their beginning and nothing has changed, the rank waits. A worker that asks
//! again later spends some instructions; a turn of the rank would cost a timer, a signal, and the
//! time until it comes.
//!
//! It knows only instructions of such loops. At any other one, and at a write that would change
//! memory, the answer is that the rank goes on, which is always right. It reads only memory that
//! the rank itself would read next.

#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(not(target_arch = "x86_64"), path = "unknown.rs")]
mod processor;

/// An interrupted rank's registers; whether it waits is asked of these.
pub(super) use processor::Machine;
