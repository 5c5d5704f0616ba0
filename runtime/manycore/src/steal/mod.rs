//! Stacks of waiting jobs: the owner takes its jobs without a locked instruction, and thieves take
//! the others. `README.md` in this folder argues the protocol.

#[cfg(test)]
mod checked;
mod public;
mod slot;
mod stack;

pub(crate) use slot::{Head, Thief};
pub(crate) use stack::{Claim, JobStack};
