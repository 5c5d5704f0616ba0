//! The study's settings, for `--set` and for its help.

use crate::study::settings::Key;
use crate::study::trial::{PIN, RUNS, SECONDS};

/// The settings of this study.
pub(super) const KEYS: [Key; 5] = [
    Key::number(
        "n",
        "iterations of the loop [4096, the document's]",
        1,
        1 << 24,
    ),
    Key::number(
        "sizes",
        "bytes read, and written, by an iteration while the other stays 1024, a list [2^6, 2^10, \
         2^12; --full: 2^6, 2^8 .. 2^16]",
        1,
        1 << 20,
    ),
    RUNS,
    SECONDS,
    PIN,
];
