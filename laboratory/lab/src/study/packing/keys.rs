//! The study's settings, for `--set` and for its help.

use crate::study::settings::{Key, keys};
use crate::study::trial::{RUNS, SECONDS};

/// The settings of this study.
pub(super) const KEYS: &[Key] = keys![
    "threads" [1, 1024]
        "what the programs were written for, a list [16; native: 2,3,4,5,8,9]",
    "benchmarks"
        "a list of barnes, bt, canneal, cg, ft [all]",
    "programs"
        "a list of declared (told by their phases), intervals (the poster's), real (small inputs) [intervals,declared; --full: all; native: real]; or openmp: your own, compiled",
    "intervals" [1, 1_000_000]
        "barriers that count, at least: a simulated run goes on until it is steady [12; --full: 50]",
    "doublings" [0, 4]
        "how often a simulated run that has become steady is doubled again [0]",
    "barrier"
        "where the threads meet, as in study barrier [futex]",
    "sweep" [1, 1_000_000]
        "lengths of equal and unequal intervals, a list in us [100,1000,10000,100000; --full: 10 to 100000, thirteen of them]",
    "skew" [1, 100]
        "percent that unequal ranks are apart from their mean [20]",
    "binaries"
        "openmp: the folder with the programs, each run without arguments",
    "library"
        "openmp: our libgomp [libmanycore_gomp.so beside this command]",
    "says"
        "openmp: what a program writes if its result is right, a regular expression [SUCCESSFUL]",
    "limit" [1, 86_400]
        "openmp: seconds after which a run is ended [60]",
    .. RUNS, SECONDS
];

/// The keys for compiled programs alone.
pub(super) const OF_BINARIES: [&str; 4] = ["binaries", "library", "says", "limit"];

/// The keys without use for compiled programs.
pub(super) const OF_OTHERS: [&str; 6] = [
    "benchmarks",
    "intervals",
    "doublings",
    "barrier",
    "sweep",
    "skew",
];

/// The value of `--set programs` for compiled programs.
pub(super) const BINARIES: (&str, &str) = ("programs", "openmp");
