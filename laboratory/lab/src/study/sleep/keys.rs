//! The study's settings, for `--set` and for its help.

use crate::study::settings::Key;

/// The settings of this study.
pub(super) const KEYS: [Key; 4] = [
    Key::text(
        "mode",
        "sound, as-published (with the wake-ups that it loses), or both, a list [sound]",
    ),
    Key::text(
        "size",
        "inputs: quick, or document, as in the document [quick; --full: document]",
    ),
    Key::number(
        "runs",
        "timed runs of each policy in each cell [as many as there is time for; simulated: 7; --full: 15]",
        1,
        100_000,
    ),
    Key::number(
        "seconds",
        "time for all cells together, not simulated [15; --full: 900]",
        1,
        1_000_000,
    ),
];
