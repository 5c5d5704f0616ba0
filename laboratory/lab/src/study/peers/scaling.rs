//! Finds programs that more threads make slower.

use super::cells::{Cells, Gap};
use super::config::PeersConfig;
use crate::measure::ratio::Ratio;

/// A ratio of a time to the best time with fewer threads is reported if it is larger than this.
pub(super) const ALLOWED: f64 = 1.05;

/// A comparison of a number of threads with the fastest smaller number of threads.
pub(super) struct Step<'a> {
    pub(super) machine: usize,
    pub(super) program: &'a str,
    pub(super) threads: usize,
    pub(super) time: f64,
    pub(super) fewer: usize,
    pub(super) best: f64,
    /// The ratio of the two times, paired by order.
    pub(super) ratio: Ratio,
}

impl Step<'_> {
    pub(super) fn is_slower(&self) -> bool {
        self.ratio.mean > ALLOWED
    }

    /// Whether the whole interval is above [`ALLOWED`]. With one order there is no interval.
    pub(super) fn is_slower_for_sure(&self) -> bool {
        self.ratio.interval.is_some_and(|[low, _]| low > ALLOWED)
    }
}

/// Compares each cell of a runtime with its fastest cell of fewer threads, in calls without a gap.
pub(super) fn steps<'a>(config: &'a PeersConfig, cells: &Cells<'_>, peer: &str) -> Vec<Step<'a>> {
    let mut found = Vec::new();
    for (machine, counts) in config.threads.iter().enumerate() {
        for program in &config.programs {
            let mut best: Option<(usize, f64)> = None;
            for &threads in counts {
                let Some(time) = cells.time((machine, threads, program), peer, Gap::Hot) else {
                    continue;
                };
                if let Some((fewer, best)) = best
                    && let Some(ratio) = cells.over(
                        ((machine, threads, program), peer),
                        ((machine, fewer, program), peer),
                        Gap::Hot,
                    )
                {
                    found.push(Step {
                        machine,
                        program,
                        threads,
                        time,
                        fewer,
                        best,
                        ratio,
                    });
                }
                if best.is_none_or(|(_, best)| time < best) {
                    best = Some((threads, time));
                }
            }
        }
    }
    found
}
