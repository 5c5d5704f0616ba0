//! Small programs over one trait, [`Runtime`]. Each binary of this crate has the same programs on a
//! different runtime. `manycore study peers` runs the binaries on simulated machines.
//!
//! ```sh
//! PEER PROGRAM THREADS [STEADY [GAPS]]
//! ```
//!
//! A binary runs one program. It prints a line `KIND,CALL,NS` for each call: ten calls of the kind
//! `first`, then STEADY of the kind `steady`, then GAPS of the kind `gap`, each after 1 ms without
//! work. If the result is right, the last line is `right`. The exit status is 1 if the result is
//! wrong, 2 if the arguments are wrong, and 3 if the runtime cannot run the program.

mod calls;
mod command;
pub mod foreign;
mod programs;
mod runtime;
mod work;

pub use command::run_program;
pub use runtime::{Runtime, Together, halve};
