//! Where jobs wait to be taken: by their owner, without a locked instruction,
//! or by a thief. `README.md` beside this file argues the protocol.

mod public;
mod slot;
mod stack;

pub(crate) use slot::{Run, Thief};
pub(crate) use stack::{Claim, JobStack};
