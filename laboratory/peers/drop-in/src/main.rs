//! Runs one of the programs over rayon's interface; see [`manycore_drop_in::main_with`].

use std::process::ExitCode;

fn main() -> ExitCode {
    manycore_drop_in::main_with(manycore_drop_in::KINDS)
}
