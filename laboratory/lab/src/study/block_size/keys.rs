//! The study's settings, for `--set` and for its help.

use crate::study::settings::{Key, keys};

/// The most iterations of a loop: an audit's counters for all of them fit a small machine's memory.
const LARGEST: u64 = 1 << 28;
/// The most bytes that an iteration reads or writes.
const LARGEST_BYTES: u64 = 1 << 24;

pub(super) const KEYS: &[Key] = keys![
    "n" [1, LARGEST]
        "iterations of a loop of unit tasks [1024; simulated: 4096 or 8192, as in Shuai's paper]",
    "irregular-n" [1, LARGEST]
        "iterations of an irregular loop, a list [1024; --full: also 100000]",
    "tiny-n" [1, LARGEST]
        "iterations of the tiny loop [1000000]",
    "reads" [1, LARGEST_BYTES]
        "bytes that an iteration reads, a list [2^10, 2^6; --full: 2^6..2^16; simulated: as in \
         Shuai's paper]",
    "writes" [0, LARGEST_BYTES]
        "bytes that an iteration writes, a list [2^10; --full: 2^6..2^16; simulated: as in \
         Shuai's paper]",
    "comps" [0, 1 << 62]
        "additions of an iteration, a list [folded: 2^10, 2^60, opaque: 2^10, 2^12; \
         --full: 2^10..2^60, 2^10..2^20; simulated: 2^10]",
    "grid"
        "star: vary one size at a time, as in Shuai's paper; cross: all pairs [star]",
    "tasks"
        "folded, opaque, triangular, reverse-triangular, heavy-tailed, tiny [all; simulated: folded]",
    "blocks" [1, LARGEST]
        "fixed block sizes, a list [11 from 1 to N, evenly spaced in their logarithm; simulated: 1..1024]",
    "partitioners"
        "partitioners to measure in addition to the fixed blocks, a list [all]",
    "rounds" [1, 10_000]
        "measurements of each policy in each cell [as many as there is time for; simulated: 2]",
    "tables"
        "a CSV file as for `model`, with published latencies to compare with simulated latencies \
         [from Shuai's paper]",
    "seconds" [1, 1_000_000]
        "seconds for all native measurements together [15; --full: 660]",
];
