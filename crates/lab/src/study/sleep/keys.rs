//! The study's settings, for `--set` and for its help.

use crate::study::settings::Key;

/// The settings of this study.
pub(super) const KEYS: [Key; 4] = [
    key(
        "mode",
        "sound, as-published (with the wake-ups that it loses), or both, a list [sound]",
    ),
    key(
        "size",
        "inputs: quick, or document, as in the document [quick; --full: document]",
    ),
    key(
        "runs",
        "timed runs of each policy in each cell [as many as there is time for; simulated: 7; --full: 15]",
    ),
    key(
        "seconds",
        "time for all cells together, not simulated [15; --full: 900]",
    ),
];

const fn key(name: &'static str, meaning: &'static str) -> Key {
    Key { name, meaning }
}
