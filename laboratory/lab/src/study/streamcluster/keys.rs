//! The study's settings, for `--set` and for its help.

use crate::study::settings::Key;
use crate::study::trial::{PIN, RUNS, SECONDS};

/// The settings of this study.
pub(super) const KEYS: [Key; 4] = [
    Key::text(
        "input",
        "PARSEC's inputs, a list of test, simdev, simsmall, simmedium, simlarge [test]",
    ),
    RUNS,
    SECONDS,
    PIN,
];
