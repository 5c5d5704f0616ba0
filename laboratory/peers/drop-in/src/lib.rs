//! Small programs over rayon's interface. Each is run on rayon-core, and on
//! manycore in its place; `ci/rayon-bench.sh` does both in turn.

mod program;
mod programs;
mod runner;

pub use program::{Kind, Program};
pub use programs::KINDS;
pub use runner::main_with;
