//! The study's settings, for `--set` and for its help.

use crate::study::settings::Key;
use crate::study::trial::{PIN, RUNS, SECONDS};

/// The settings of this study.
pub(super) const KEYS: [Key; 6] = [
    Key::number("tasks", "tasks a core, on average [16]", 1, 100_000),
    Key::number(
        "task-cycles",
        "cycles of a task (natively ns), a list [120000,12000,1200; --full: 1200..1200000]",
        1,
        1 << 40,
    ),
    Key::text(
        "distributions",
        "a list of total-skew, half, quarter, even, random [all]",
    ),
    RUNS,
    SECONDS,
    PIN,
];
