//! Whether a rank that was interrupted only waits for memory that others write.
//!
//! A loop that waits comes back to the same instruction with the same registers, and has written nothing. It
//! does so again for as long as nobody else writes what it reads. So the instructions at which a rank
//! was interrupted are followed by hand, with copies of its registers. If they come back to where they
//! began and nothing has changed, the rank waits; a worker that asks again later spends some
//! instructions, where a turn of the rank costs a timer, a signal, and the time until it comes.
//!
//! Only instructions of such loops are known. At any other one, and at a write that would change
//! memory, the answer is that the rank goes on, which is always right. What is read is what the rank
//! itself would read next.

#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(not(target_arch = "x86_64"), path = "unknown.rs")]
mod processor;

/// An interrupted rank's registers; whether it waits is asked of these.
pub(super) use processor::Machine;
