//! Instructions (`instruction`), and their decoding from words of 32 bits (`decode`) and of 16 bits (`compressed`).

mod class;
mod compressed;
mod decode;
mod instruction;

pub use class::{Class, Mix};
pub(crate) use decode::decode;
pub(crate) use instruction::{Instruction, Kind, SINK};

/// The instruction set with its supported extensions, as an ISA string.
///
/// ```
/// assert!(manycore_riscv::EXTENSIONS.starts_with("rv64imafdc"));
/// ```
pub const EXTENSIONS: &str = "rv64imafdc_zicsr_zifencei_zihintpause_zawrs_zba_zbb";
