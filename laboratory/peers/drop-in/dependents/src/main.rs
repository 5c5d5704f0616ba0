//! Runs the parallel work of one package that uses rayon; see [`manycore_drop_in::main_with`].

mod arrays;
#[cfg(feature = "polars")]
mod frames;
mod hashes;
mod images;

use manycore_drop_in::Kind;
use std::process::ExitCode;

const KINDS: &[Kind] = &[
    Kind {
        names: &["blake3_64k", "blake3_8m"],
        set_up: hashes::programs,
    },
    Kind {
        names: &["ndarray_map", "ndarray_zip", "ndarray_rows"],
        set_up: arrays::programs,
    },
    Kind {
        names: &["exr_write", "exr_read"],
        set_up: images::programs,
    },
    #[cfg(feature = "polars")]
    Kind {
        names: &["polars_sort", "polars_sort_descending", "polars_group"],
        set_up: frames::programs,
    },
];

fn main() -> ExitCode {
    manycore_drop_in::main_with(KINDS)
}
