//! The study's settings, for `--set` and for its help.

use crate::study::settings::Key;

/// The largest loop: what a small machine's memory holds, with a counter for
/// every iteration while a loop is audited.
const LARGEST: u64 = 1 << 28;
/// The largest task's bytes, which each thread has for itself.
const LARGEST_BYTES: u64 = 1 << 24;

/// The settings of this study.
pub(super) const KEYS: [Key; 13] = [
    Key::number(
        "n",
        "iterations of a unit-task loop [1024; simulated: the document's, 4096 or 8192]",
        1,
        LARGEST,
    ),
    Key::number(
        "irregular-n",
        "iterations of an irregular loop, a list [1024; --full: and 100000]",
        1,
        LARGEST,
    ),
    Key::number(
        "tiny-n",
        "iterations of the tiny loop [1000000]",
        1,
        LARGEST,
    ),
    Key::number(
        "reads",
        "bytes read by an iteration, a list [2^10, 2^6; --full: 2^6..2^16; simulated: the document's]",
        1,
        LARGEST_BYTES,
    ),
    Key::number(
        "writes",
        "bytes written by an iteration, a list [2^10; --full: 2^6..2^16; simulated: the document's]",
        0,
        LARGEST_BYTES,
    ),
    Key::number(
        "comps",
        "additions of an iteration, a list [2^10 and, folded 2^60, opaque 2^12; --full: 2^10..2^60 and ..2^20; simulated: 2^10]",
        0,
        1 << 62,
    ),
    Key::text(
        "grid",
        "star: vary one size at a time, as in the document; cross: all pairs [star]",
    ),
    Key::text(
        "tasks",
        "folded, opaque, triangular, reverse-triangular, heavy-tailed, tiny [all; simulated: folded]",
    ),
    Key::number(
        "blocks",
        "fixed block sizes, a list [11 from 1 to N, evenly spaced in their logarithm; simulated: 1..1024]",
        1,
        LARGEST,
    ),
    Key::text("partitioners", "beside the fixed blocks, a list [all]"),
    Key::number(
        "rounds",
        "measurements of each policy in each cell [as many as there is time for; simulated: 2]",
        1,
        10_000,
    ),
    Key::text(
        "tables",
        "latencies to compare simulated ones with, a CSV file as for `model` [the document's]",
    ),
    Key::number(
        "seconds",
        "time for all cells together, not simulated [15; --full: 660]",
        1,
        1_000_000,
    ),
];
