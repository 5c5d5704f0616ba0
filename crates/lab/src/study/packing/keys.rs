//! The study's settings, for `--set` and for its help.

use crate::study::settings::Key;
use crate::study::trial::{RUNS, SECONDS};

/// The settings of this study.
pub(super) const KEYS: [Key; 9] = [
    Key {
        name: "threads",
        meaning: "what the programs were written for, a list [16; native: 2,3,4,5,8,9]",
    },
    Key {
        name: "benchmarks",
        meaning: "a list of barnes, bt, canneal, cg, ft [all]",
    },
    Key {
        name: "programs",
        meaning: "a list of declared (told by their phases), intervals (the poster's), real (small inputs) [intervals,declared; --full: all; native: real]",
    },
    Key {
        name: "intervals",
        meaning: "about so many barriers a run [12; --full: 50]",
    },
    Key {
        name: "barrier",
        meaning: "where the threads meet, as in study barrier [futex]",
    },
    Key {
        name: "sweep",
        meaning: "lengths of equal and unequal intervals, a list in us [10,100,1000,10000,100000]",
    },
    Key {
        name: "skew",
        meaning: "percent that unequal ranks are apart from their mean [20]",
    },
    RUNS,
    SECONDS,
];
