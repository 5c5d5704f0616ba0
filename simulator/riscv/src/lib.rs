#![doc = include_str!("../README.md")]

mod elf;
mod error;
mod float;
mod functional;
mod hart;
mod isa;
mod linux;
mod memory;
mod network;
mod outcome;
mod program;
mod region;
mod source;
#[cfg(test)]
mod tests;
mod timed;

pub use error::RunError;
pub use isa::{Class, EXTENSIONS, Mix};
pub use linux::system_calls;
pub use outcome::{HotSymbol, Outcome, ProcessCounts, Timing};
pub use program::Program;
pub use region::Region;
