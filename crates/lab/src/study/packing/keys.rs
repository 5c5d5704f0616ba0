//! The study's settings, for `--set` and for its help.

use crate::study::settings::Key;
use crate::study::trial::{RUNS, SECONDS};

/// The settings of this study.
pub(super) const KEYS: [Key; 9] = [
    Key::number(
        "threads",
        "what the programs were written for, a list [16; native: 2,3,4,5,8,9]",
        1,
        1024,
    ),
    Key::text("benchmarks", "a list of barnes, bt, canneal, cg, ft [all]"),
    Key::text(
        "programs",
        "a list of declared (told by their phases), intervals (the poster's), real (small inputs) [intervals,declared; --full: all; native: real]",
    ),
    Key::number(
        "intervals",
        "barriers that count, at least: a simulated run goes on until it is steady [12; --full: 50]",
        1,
        1_000_000,
    ),
    Key::text(
        "barrier",
        "where the threads meet, as in study barrier [futex]",
    ),
    Key::number(
        "sweep",
        "lengths of equal and unequal intervals, a list in us [10,100,1000,10000,100000]",
        1,
        1_000_000,
    ),
    Key::number(
        "skew",
        "percent that unequal ranks are apart from their mean [20]",
        1,
        100,
    ),
    RUNS,
    SECONDS,
];
