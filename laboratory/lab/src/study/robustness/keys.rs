//! The study's settings, for `--set` and for its help.

use crate::study::settings::Key;

/// The settings of this study.
pub(super) const KEYS: [Key; 4] = [
    Key::number(
        "transport",
        "cycles from sender to lambda queue, a list [5..20000; --full: more of them]",
        0,
        1_000_000,
    ),
    Key::number(
        "controller",
        "cycles of a controller for a message, a list [10..1000; --full: more of them]",
        0,
        1_000_000,
    ),
    Key::number(
        "check",
        "cycles of a core's look into its buffer, a list [3..300; --full: more of them]",
        0,
        1_000_000,
    ),
    Key::number(
        "episodes",
        "waits of the loop [100; --full: 1000]",
        1,
        1_000_000,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_chip::config::range;

    #[test]
    fn what_is_swept_is_what_a_machine_may_have() {
        for key in &KEYS[..3] {
            let (least, most) = range(&format!("optical.{}", key.name)).unwrap();
            assert_eq!(key.range(), format!("; from {least} to {most}"));
        }
    }
}
