//! Whether more threads make a program slower.

use super::cells::{Cells, Gap};
use super::config::PeersConfig;

/// The largest ratio of a time to the best time at fewer threads that is not reported.
const ALLOWED: f64 = 1.05;

/// A number of threads that is slower than fewer are.
pub(super) struct Slower<'a> {
    pub(super) machine: usize,
    pub(super) program: &'a str,
    pub(super) threads: usize,
    pub(super) time: f64,
    pub(super) fewer: usize,
    pub(super) best: f64,
}

/// Finds these cells of a runtime, in calls without a gap.
pub(super) fn slower<'a>(
    config: &'a PeersConfig,
    cells: &Cells<'_>,
    peer: &str,
) -> Vec<Slower<'a>> {
    let mut found = Vec::new();
    for (machine, counts) in config.threads.iter().enumerate() {
        for program in &config.programs {
            let mut best: Option<(usize, f64)> = None;
            for &threads in counts {
                let Some(time) = cells.time((machine, threads, program), peer, Gap::Hot) else {
                    continue;
                };
                match best {
                    Some((fewer, best)) if time > ALLOWED * best => found.push(Slower {
                        machine,
                        program,
                        threads,
                        time,
                        fewer,
                        best,
                    }),
                    _ => {}
                }
                if best.is_none_or(|(_, best)| time < best) {
                    best = Some((threads, time));
                }
            }
        }
    }
    found
}
