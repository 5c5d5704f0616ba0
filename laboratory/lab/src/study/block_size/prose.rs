//! What the numbers mean, in words.

use super::config::BlockSizeConfig;
use super::measure::MeasuredLoops;
use super::regret::Overall;
use super::tables::percent;
use crate::measure::disturbance;
use crate::study::trial::CellRecord;

/// Under the figure.
pub(super) const FIGURE: &str = "Medians, with bars from the 10th to the 90th percentile; a bar that a disturbed host made far \
     longer than the others ends in an arrow. Small blocks pay for many claims; large ones leave \
     threads idle at the end. Where the dashed line touches the bottom of its curve nothing was \
     left to tune.";

/// Before the document's tables.
pub(super) const DOCUMENT: &str = "The document measured a pool of its own. Each thread sleeps on a condition variable until \
     the caller, which wakes one after the other, has put the loop into its queue; the caller \
     takes part, so T threads make T + 1 participants. Where threads are in several core groups, \
     every claim takes the line of the counter away from all tasks, which read their sizes there. That \
     pool is simulated here with each block size; all other rows are our pool's, in which the caller is \
     one of the T.";

/// The same, where the document has tables of the machine.
pub(super) const STEPS: &str = "The document's loops have 4096 iterations, in the table of 1024^4 additions on the Threadripper \
     3970X 8192: only these, and T + 1 participants, explain how its latencies step where blocks are few. \
     (Three of its columns for 8 threads step as with 4.)";

/// After the rank correlations.
pub(super) const RANKS: &str = "The inputs are the machine's latencies, six instructions a byte, and what waking costs; \
     nothing is fitted to the tables. What limits the correlation is their noise: between blocks \
     4 and 64 they are flat to a few percent, and columns that differ only in unit_comp, which \
     takes no time, order those blocks differently. One latency is a slip of print (4132000 \
     among 418000s). On the W-3225R at 8 threads the document loses more from block 128 on than \
     a caller beside the eighth thread explains: here hardware threads of a core do not slow \
     each other. The Gold 5225R ran faster than the 2.2 GHz by which \
     cycles become time here, so its latencies come out longer by about the turbo's part.";

/// Before the regrets.
pub(super) const REGRET: &str = "Regret is a partitioner's latency over that of the best fixed block of this very run, minus \
     one; below zero it beat every block. The best of many noisy numbers is partly luck, so the \
     best block is picked on one half of the rounds and compared on the other, both ways round; \
     \"plain\" picks and compares on the same rounds, which overstates the regret.";

/// What was measured and how.
pub(super) fn what(config: &BlockSizeConfig, measured: &[MeasuredLoops]) -> String {
    let rounds = measured
        .iter()
        .map(MeasuredLoops::runs)
        .filter(|&rounds| rounds > 0);
    let (fewest, most) = (rounds.clone().min(), rounds.max());
    let rounds = match (fewest.unwrap_or(0), most.unwrap_or(0)) {
        (fewest, most) if fewest == most => format!("{most} rounds"),
        (fewest, most) => format!("{fewest} to {most} rounds"),
    };
    let counts: Vec<String> = config.threads.iter().map(usize::to_string).collect();
    if let Some(chip) = &config.chip {
        return format!(
            "Loops on {} threads of a machine that is simulated ({}, seed {}); cycles are its \
             clock's. Threads are bound to cores that fill one core group after the other. Each \
             policy of a cell is a simulation of its own, which runs the loop for warmth and \
             then {rounds}; each iteration was seen to run exactly once in each. The document's \
             pool is warm after one loop, ours when two in a row are not 5% faster than all before.",
            counts.join(", "),
            chip.name(),
            config.seed,
        );
    }
    format!(
        "Loops on {} threads of this machine ({}). A thread claims a block of iterations at a \
         time from a counter that all threads share (fixed block sizes, as in the document), or \
         as one of the partitioners says. Each round runs every policy of a cell once, in \
         shuffled order, and every policy was audited first: each iteration ran exactly once and \
         wrote what it should. Latencies are medians of {rounds}.",
        counts.join(", "),
        config.machine,
    )
}

/// What to think of a run on a busy machine; `cpus` are those that the threads
/// may use.
pub(super) fn disturbance(measured: &[MeasuredLoops], cpus: usize) -> Option<String> {
    // With more threads than CPUs they wait for each other.
    let fitting = || measured.iter().filter(|cell| cell.cell.threads <= cpus);
    let waited: f64 = fitting().map(|cell| cell.waited).sum();
    let time: f64 = fitting()
        .map(|cell| cell.seconds * cell.cell.threads as f64)
        .sum();
    disturbance::warning(waited / time)
}

/// For a reader of nothing else.
pub(super) fn summary(overall: &[Overall]) -> String {
    let all = |name: &str| {
        let mut rows = overall.iter().filter(|row| row.class.is_none());
        rows.find(|row| row.partitioner == name)
    };
    let Some(adaptive) = all("adaptive") else {
        return "No fixed blocks or no adaptive: nothing to compare.\n".into();
    };
    let worst = &adaptive.worst;
    let (below, above) = worst.best.spread();
    let unit = worst.unit.name();
    let mut text = format!(
        "adaptive, given no block size, against the best fixed block of each of {} cells:\n  \
         {} on geometric mean, {} in its worst cell\n  \
         ({}: {} {unit}; block {}: {} {unit}, 10th to 90th percentile {} .. {})\n",
        adaptive.cells,
        percent(adaptive.geometric_mean_regret),
        percent(worst.regret),
        worst.cell,
        worst.unit.show(worst.latency.median),
        worst.best.block_size,
        worst.unit.show(worst.best.latency.median),
        percent(below),
        percent(above),
    );
    let others: Vec<String> = overall
        .iter()
        .filter(|row| row.class.is_none() && row.partitioner != "adaptive")
        .map(|row| format!("{} {}", row.partitioner, percent(row.geometric_mean_regret)))
        .collect();
    if !others.is_empty() {
        text += &format!("  others: {}\n", others.join(", "));
    }
    text
}
