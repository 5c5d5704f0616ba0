//! The study's settings, for `--set` and for its help.

use crate::study::settings::Key;
use crate::study::trial::{PIN, RUNS, SECONDS};

/// The settings of this study.
pub(super) const KEYS: [Key; 5] = [
    Key::number(
        "scale",
        "logarithms of the number of vertices, a list [10; --full: 10,12,14]",
        1,
        20,
    ),
    Key::text(
        "programs",
        "a list of breadth-first, components, triangles (of edges that come and go) [all]",
    ),
    RUNS,
    SECONDS,
    PIN,
];
