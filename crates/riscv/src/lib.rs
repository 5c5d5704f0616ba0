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
mod program;
#[cfg(test)]
mod tests;
mod timed;

pub use error::RunError;
pub use isa::EXTENSIONS;
pub use linux::system_calls;
pub use program::{HotSymbol, Outcome, Program, Timing};
