//! Finds out whether an interrupted rank (a thread of a team) only waits for memory that other threads write.
//!
//! A loop that waits comes back to the same instruction with the same registers, and has written nothing. It repeats
//! this until another thread writes a word that the loop reads. So this module simulates the rank's next instructions,
//! on copies of its registers. If the simulation comes back to the first instruction and nothing has changed, the rank
//! waits. To look again later costs a [worker](super::worker) only some instructions. To run the rank for a while would
//! cost a timer, a signal, and the time until the signal comes.
//!
//! The module knows only the instructions of such loops. At any other instruction, and at a write that would change
//! memory, its answer is that the rank does not wait. That answer is always safe. The module reads only memory that the
//! rank itself would read next.

#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(not(target_arch = "x86_64"), path = "unknown.rs")]
mod processor;

/// The registers of an interrupted rank, with the simulation of its instructions.
pub(super) use processor::Machine;
