//! The programs, one at a time; see [`manycore_drop_in::main_with`].

use std::process::ExitCode;

fn main() -> ExitCode {
    manycore_drop_in::main_with(manycore_drop_in::KINDS)
}
