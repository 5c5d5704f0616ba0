//! Parallel work of packages that use rayon, one at a time; see [`manycore_drop_in::main_with`].

mod arrays;
mod frames;
mod hashes;
mod images;

use std::process::ExitCode;

fn main() -> ExitCode {
    let programs = [
        hashes::programs(),
        arrays::programs(),
        images::programs(),
        frames::programs(),
    ];
    manycore_drop_in::main_with(&programs.into_iter().flatten().collect::<Vec<_>>())
}
