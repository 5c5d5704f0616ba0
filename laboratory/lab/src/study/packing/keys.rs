//! The study's settings, for `--set` and for its help.

use crate::study::settings::{Key, keys};
use crate::study::trial::{RUNS, SECONDS};

pub(super) const KEYS: &[Key] = keys![
    "threads" [1, 1024]
        "numbers of threads with which the programs start, a list [16; native: 2,3,4,5,8,9]",
    "benchmarks"
        "a list of barnes, bt, canneal, cg, ft [all]",
    "programs"
        "a list of declared (phases with a declared cost), intervals (the poster's), real (small inputs) \
         [intervals,declared; --full: all; native: real]; or openmp: your own compiled programs",
    "intervals" [1, 1_000_000]
        "least number of barriers that count; a simulated run goes on until it is steady [12; --full: 50]",
    "doublings" [0, 4]
        "how often a simulated run is doubled again after it has become steady [0]",
    "barrier"
        "barrier at which the threads meet, a name of study barrier [futex]",
    "sweep" [1, 1_000_000]
        "lengths of intervals of equal and unequal ranks, a list in us [100,1000,10000,100000; \
         --full: thirteen from 10 to 100000]",
    "skew" [1, 100]
        "largest difference of unequal ranks from their mean, in percent [20]",
    "binaries"
        "openmp: the folder with the programs, each run without arguments",
    "library"
        "openmp: manycore's libgomp [libmanycore_gomp.so in this command's folder]",
    "says"
        "openmp: a regular expression for the text that a program writes if its result is right \
         [\\bSUCCESSFUL]",
    "limit" [1, 86_400]
        "openmp: seconds after which a run is ended [60]",
    .. RUNS, SECONDS
];

/// The keys that apply only to compiled programs.
pub(super) const OF_BINARIES: [&str; 4] = ["binaries", "library", "says", "limit"];

/// The keys that do not apply to compiled programs.
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
