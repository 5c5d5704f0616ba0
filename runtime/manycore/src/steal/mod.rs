//! Where jobs wait to be taken: by their owner, without a locked instruction,
//! or by a thief. `README.md` beside this file argues the protocol.

#[cfg(test)]
mod checked;
mod public;
mod slot;
mod stack;

pub(crate) use slot::{Head, Thief};
pub(crate) use stack::{Claim, JobStack};
