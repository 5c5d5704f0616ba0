//! What the numbers mean, in words.

use super::cell::Policy;
use super::config::SleepConfig;
use super::measured::MeasuredPolicies;
use super::published;
use super::speedup;
use super::tables::percent;
use crate::measure::disturbance;
use crate::study::trial::CellRecord;
use manycore_programs::sleep::Mode;

/// Under the figure of times.
pub(super) const FIGURE: &str = "A dot left of the line is faster than packed; a range that ends in an arrow goes on. Policies \
     without a mode are sound; those as published may lose a wake-up. Names say what differs from packed, whose \
     three counters are one word: split, each is a word; padded, each has a cache line of its own; sleepers, who posts \
     a job reads only how many threads sleep; nojec, without the counter of posts (jobs event counter); \
     lazy-inactive and no-inactive, idle threads that are awake are read late, or not counted; ours, manycore's.";

/// Under the figure of speedups.
pub(super) const SPEEDUPS: &str =
    "Speedup against threads: the fastest single-thread time of any policy over the median time.";

/// Before the tables of algorithms.
pub(super) const BASELINES: &str = "\"Fastest\" divides the fastest single-thread time of any policy by a policy's time, \
     \"own\" the policy's own single-thread time. \"To packed\" is a policy's time relative to that \
     of packed, rayon's, in the same mode: with one common single-thread time for both (then it \
     is the times' ratio), and with each its own. The document divided by each branch's own; \
     with the common one its losses on QuickSort and TSP vanish, as its author found a week later.";

/// Before the tables, if some of them have columns of 2022.
pub(super) const PUBLISHED: &str = "The columns of 2022 are the document's own raw times, medians of 30 runs of rayon's \
     branches on two Xeon Gold 6130, analysed in the same two ways. A policy with a dash there, ours \
     among them, was none of these branches: 2022 has no time of it. The single-thread times of \
     MergeSort and QuickSort there have two levels (74.8 and 84 ms, 66.2 and 71.8 ms) that flip \
     between builds whatever the branch: placement of code. MergeSort's -17% is that, not \
     scheduling, which is why it is small against each policy's own single-thread time.";

/// Before the tables, if the inputs are not the document's.
pub(super) const SMALLER: &str = "The inputs are smaller than the document's, so what it measured in 2022 does not stand beside \
     these times; with --set size=document it does.";

/// Beside simulated numbers: what the document asks at its end.
pub(super) const QUESTIONS: &str = "The document ends with two questions: what a varying frequency does, and what 64 threads do. \
     Two machines ask them: dahu-governed, whose cores run the slower the longer they idled (--on \
     dahu-governed --threads 32), and dahu-smt, whose cores have two hardware threads each (--on dahu-smt \
     --threads 32,64).";

/// Before the tables of cache lines.
pub(super) const LINES: &str = "Policies differ only in the words they touch and the lines these share. A line that every \
     post reads and every change between busy and idle writes costs each post a miss; \
     sleep.lines.csv has these counts for all algorithms and thread counts, and those of all other \
     named lines.";

/// What was measured and how.
pub(super) fn what(config: &SleepConfig, measured: &[MeasuredPolicies]) -> String {
    let counts: Vec<String> = config.threads.iter().map(usize::to_string).collect();
    let counts = counts.join(", ");
    let runs = measured
        .iter()
        .map(MeasuredPolicies::runs)
        .filter(|&runs| runs > 0);
    let (fewest, most) = (runs.clone().min().unwrap_or(0), runs.max().unwrap_or(0));
    let runs = match fewest == most {
        true if most == 1 => "1 run".to_owned(),
        true => format!("{most} runs"),
        false => format!("{fewest} to {most} runs"),
    };
    match &config.chip {
        Some(_) => format!(
            "Fork-join programs on {counts} threads of a machine that is simulated ({}, seed {}); \
             cycles are its clock's. Threads are bound to cores that fill one core group after \
             the other. Each policy of a cell is a simulation of its own: a pool, a run for \
             warmth, and {runs}, the answer of each verified.",
            config.machine, config.seed,
        ),
        None => format!(
            "Fork-join programs on {counts} threads of this machine ({}), seed {}. Each round runs \
             every policy of a cell in shuffled order, each in a new pool after a run for warmth; \
             first answers were verified. Times are medians of {runs}. Kernels join through an \
             indirect call, the same for all policies.",
            config.machine, config.seed,
        ),
    }
}

/// What to think of a run on a busy machine; `cpus` are those that the threads
/// may use.
pub(super) fn disturbance(measured: &[MeasuredPolicies], cpus: usize) -> Option<String> {
    let (mut waited, mut time) = (0.0, 0.0);
    // With more threads than CPUs they wait for each other.
    for cell in measured.iter().filter(|cell| cell.cell.threads <= cpus) {
        for run in cell.policies.iter().flat_map(|samples| &samples.runs) {
            waited += run.waited;
            time += run.time * cell.cell.threads as f64;
        }
    }
    disturbance::warning(waited / time)
}

/// For a reader of nothing else.
pub(super) fn summary(config: &SleepConfig, measured: &[MeasuredPolicies]) -> String {
    let threads = config.most_threads();
    let mean = |policy: &Policy| {
        speedup::mean_delta(measured, &config.algorithms, policy, threads)
            .map(|mean| (policy.to_string(), mean))
    };
    let least = |wanted: &dyn Fn(&&Policy) -> bool| {
        let means = config.policies.iter().filter(wanted).filter_map(mean);
        means.min_by(|a, b| a.1.total_cmp(&b.1))
    };
    let of_2022 = |policy: &&Policy| published::branch(&policy.name).is_some() && !policy.is_base();
    let ours = |policy: &&Policy| policy.name == Policy::OURS && policy.mode == Mode::Sound;
    let mut text = String::new();
    for (what, found) in [
        ("the best of the published cells", least(&of_2022)),
        ("the default", least(&ours)),
    ] {
        if let Some((name, mean)) = found {
            let mean = percent(mean);
            text += &format!("{what}, {name}: {mean} time to packed, {threads} threads\n");
        }
    }
    text
}
