//! The cells of the study. A cell is a task, its size, and a number of threads.

use super::config::BlockSizeConfig;
use crate::study::settings::power;
use serde::{Deserialize, Serialize};
use std::fmt;

manycore_programs::by_name! {
    /// The work of an iteration.
    pub(in crate::study) enum LoopTask: "unknown task", "expected one of" {
        Folded = "folded",
        Opaque = "opaque",
        Triangular = "triangular",
        ReverseTriangular = "reverse-triangular",
        HeavyTailed = "heavy-tailed",
        Tiny = "tiny",
    }
}

/// Tasks that are averaged together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Class {
    UnitTask,
    Irregular,
    Tiny,
}

impl LoopTask {
    pub(super) fn class(self) -> Class {
        match self {
            Self::Folded | Self::Opaque => Class::UnitTask,
            Self::Triangular | Self::ReverseTriangular | Self::HeavyTailed => Class::Irregular,
            Self::Tiny => Class::Tiny,
        }
    }
}

impl Class {
    pub(super) const ALL: [Self; 3] = [Self::UnitTask, Self::Irregular, Self::Tiny];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::UnitTask => "unit task",
            Self::Irregular => "irregular",
            Self::Tiny => "tiny",
        }
    }
}

/// A loop without its number of threads. Only unit tasks have `read` and `write`, which are 0 for other tasks. An
/// irregular loop's `comp` is the mean number of additions in an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::study) struct Workload {
    pub(in crate::study) task: LoopTask,
    pub(in crate::study) n: usize,
    pub(in crate::study) read: usize,
    pub(in crate::study) write: usize,
    pub(in crate::study) comp: u64,
}

/// A loop and the threads that run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::study) struct LoopCell {
    pub(in crate::study) workload: Workload,
    pub(in crate::study) threads: usize,
}

/// The most additions of an irregular loop's iteration, on average. They take a third of a microsecond to a
/// microsecond, much longer than a claim.
const LONG_ADDITIONS: u64 = 3_000;
/// The additions of a large irregular loop, about 5 ms.
const LARGE_LOOP_ADDITIONS: u64 = 15_000_000;

/// Every cell, with the cells of a workload side by side.
pub(super) fn cells(config: &BlockSizeConfig) -> Vec<LoopCell> {
    let threads = |workload| {
        let counts = config.threads.iter();
        counts.map(move |&threads| LoopCell { workload, threads })
    };
    workloads(config).into_iter().flat_map(threads).collect()
}

fn workloads(config: &BlockSizeConfig) -> Vec<Workload> {
    let mut workloads = Vec::new();
    for &task in &config.tasks {
        let loop_of = |n, comp| Workload {
            task,
            n,
            read: 0,
            write: 0,
            comp,
        };
        match task.class() {
            Class::UnitTask => workloads.extend(unit_tasks(config, task)),
            Class::Irregular => workloads.extend(config.irregular_n.iter().map(|&n| {
                let mean = (LARGE_LOOP_ADDITIONS / n as u64).clamp(1, LONG_ADDITIONS);
                loop_of(n, mean)
            })),
            Class::Tiny => {
                workloads.push(loop_of(config.tiny_n, manycore_programs::Tiny::ADDITIONS))
            }
        }
    }
    workloads
}

/// The workloads of a unit task: all sizes combined or, as in the document (Shuai's paper), varied one by one around
/// the middle.
fn unit_tasks(config: &BlockSizeConfig, task: LoopTask) -> Vec<Workload> {
    let comps = config.comps(task);
    let middle = (
        nearest(&config.reads, 1024),
        nearest(&config.writes, 1024),
        nearest(&comps, config.middle_comp(task)),
    );
    let mut workloads = Vec::new();
    for &read in &config.reads {
        for &write in &config.writes {
            for &comp in &comps {
                let off_axis = [read != middle.0, write != middle.1, comp != middle.2];
                let off_axis = off_axis.into_iter().filter(|&off| off).count();
                if config.cross || off_axis <= 1 {
                    workloads.push(Workload {
                        task,
                        n: config.iterations(read, write),
                        read: read as usize,
                        write: write as usize,
                        comp,
                    });
                }
            }
        }
    }
    workloads
}

/// Returns `wanted` if `sizes` contains it, or else the first size.
fn nearest(sizes: &[u64], wanted: u64) -> u64 {
    match sizes.contains(&wanted) {
        true => wanted,
        false => sizes.first().copied().unwrap_or(wanted),
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.task.name();
        match self.task.class() {
            Class::UnitTask => write!(
                f,
                "{name} {}/{}/{}",
                power(self.read as u64),
                power(self.write as u64),
                power(self.comp)
            ),
            Class::Irregular | Class::Tiny => write!(f, "{name}, N={}", self.n),
        }
    }
}

impl fmt::Display for LoopCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.workload, threads(self.threads))
    }
}

/// `1 thread`, `2 threads`.
pub(in crate::study) fn threads(count: usize) -> String {
    match count {
        1 => "1 thread".into(),
        _ => format!("{count} threads"),
    }
}
