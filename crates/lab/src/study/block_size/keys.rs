//! The study's settings, for `--set` and for its help.

use crate::study::settings::Key;

/// The settings of this study.
pub(super) const KEYS: [Key; 13] = [
    key(
        "n",
        "iterations of a unit-task loop [1024; simulated: 4096, the document's]",
    ),
    key(
        "irregular-n",
        "iterations of an irregular loop, a list [1024; --full: and 100000]",
    ),
    key("tiny-n", "iterations of the tiny loop [1000000]"),
    key(
        "reads",
        "bytes read by an iteration, a list [2^10, 2^6; --full: 2^6..2^16; simulated: the document's]",
    ),
    key(
        "writes",
        "bytes written by an iteration, a list [2^10; --full: 2^6..2^16; simulated: the document's]",
    ),
    key(
        "comps",
        "additions of an iteration, a list [2^10 and, folded 2^60, opaque 2^12; --full: 2^10..2^60 and ..2^20; simulated: 2^10]",
    ),
    key(
        "grid",
        "star: vary one size at a time, as in the document; cross: all pairs [star]",
    ),
    key(
        "tasks",
        "folded, opaque, triangular, reverse-triangular, heavy-tailed, tiny [all; simulated: folded]",
    ),
    key(
        "blocks",
        "fixed block sizes, a list [11 from 1 to N, evenly spaced in their logarithm; simulated: 1..1024]",
    ),
    key("partitioners", "beside the fixed blocks, a list [all]"),
    key(
        "rounds",
        "measurements of each policy in each cell [as many as there is time for; simulated: 2]",
    ),
    key(
        "tables",
        "latencies to compare simulated ones with, a CSV file as for `model` [the document's]",
    ),
    key(
        "seconds",
        "time for all cells together, not simulated [15; --full: 660]",
    ),
];

const fn key(name: &'static str, meaning: &'static str) -> Key {
    Key { name, meaning }
}
