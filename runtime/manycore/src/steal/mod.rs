//! Stacks of waiting jobs. The owner takes its jobs without a locked instruction, and thieves steal jobs.
//! `README.md` in this folder describes the protocol and argues that it is correct.

#[cfg(test)]
mod checked;
mod public;
mod slot;
mod stack;

pub(crate) use slot::{Head, Thief};
pub(crate) use stack::{Claim, JobStack};
