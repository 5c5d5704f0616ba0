//! The study's settings, for `--set` and for its help.

use crate::study::settings::Key;
use crate::study::trial::{PIN, RUNS, SECONDS};

/// The settings of this study.
pub(super) const KEYS: [Key; 6] = [
    Key {
        name: "tasks",
        meaning: "tasks a core, on average [16]",
    },
    Key {
        name: "task-cycles",
        meaning: "cycles of a task (natively ns), a list [120000,12000,1200; --full: 1200..1200000]",
    },
    Key {
        name: "distributions",
        meaning: "a list of total-skew, half, quarter, even, random [all]",
    },
    RUNS,
    SECONDS,
    PIN,
];
