//! Small programs over one trait, [`Runtime`]. Each binary of this crate is the same programs on
//! one runtime; `manycore study peers` runs the binaries on simulated machines.
//!
//! ```sh
//! PEER PROGRAM THREADS [STEADY [GAPS]]
//! ```
//!
//! A binary runs one program. It prints a line `KIND,CALL,NS` for each call: ten calls of the kind
//! `first`, then STEADY of the kind `steady`, then GAPS of the kind `gap`, each after 1 ms without
//! work. It verifies the result, and its last line is then `right`. Its exit status is 1 if the
//! result is wrong, 2 if the arguments are, and 3 if the runtime has no way to run the program.

mod calls;
mod command;
mod programs;
mod runtime;
mod work;

pub use command::run_program;
pub use runtime::{Runtime, Together, halve};
