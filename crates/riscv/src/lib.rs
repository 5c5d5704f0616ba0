#![doc = include_str!("../README.md")]

#[cfg(test)]
mod differential;
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
mod timed;

pub use error::RunError;
pub use isa::EXTENSIONS;
pub use linux::system_calls;
pub use program::{HotSymbol, Outcome, Program, Timing};
