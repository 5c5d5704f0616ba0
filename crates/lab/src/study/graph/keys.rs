//! The study's settings, for `--set` and for its help.

use crate::study::settings::Key;
use crate::study::trial::{PIN, RUNS, SECONDS};

/// The settings of this study.
pub(super) const KEYS: [Key; 5] = [
    Key {
        name: "scale",
        meaning: "logarithms of the number of vertices, a list [10; --full: 10,12,14]",
    },
    Key {
        name: "programs",
        meaning: "a list of breadth-first, components [both]",
    },
    RUNS,
    SECONDS,
    PIN,
];
