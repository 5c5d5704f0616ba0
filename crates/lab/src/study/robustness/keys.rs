//! The study's settings, for `--set` and for its help.

use crate::study::settings::Key;

/// The settings of this study.
pub(super) const KEYS: [Key; 4] = [
    Key {
        name: "transport",
        meaning: "cycles from sender to lambda queue, a list [5..20000; --full: more of them]",
    },
    Key {
        name: "controller",
        meaning: "cycles of a controller for a message, a list [10..1000; --full: more of them]",
    },
    Key {
        name: "check",
        meaning: "cycles of a core's look into its buffer, a list [3..300; --full: more of them]",
    },
    Key {
        name: "episodes",
        meaning: "waits of the loop [100; --full: 1000]",
    },
];
