//! The study's settings, for `--set` and for its help.

use crate::study::settings::Key;
use crate::study::trial::{PIN, RUNS, SECONDS};

/// The settings of this study.
pub(super) const KEYS: [Key; 5] = [
    Key::number(
        "episodes",
        "waits of the loop [100, and beyond 64 cores fewer by the square, 10 at least; --full: 1000]",
        1,
        1_000_000,
    ),
    Key::text(
        "beside",
        "presets to compare the machine with, a list, or none [kunpeng-920,westmere-ex]",
    ),
    RUNS,
    SECONDS,
    PIN,
];
