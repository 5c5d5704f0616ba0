//! The study's checked settings, with their defaults.

use super::grid::LoopTask;
use super::only::BlockSizeOnly;
use super::policy::LoopPolicy;
use super::simulated::DocumentChip;
use crate::failure::bad_input;
use crate::model::{PublishedCell, published_latencies};
use crate::study::Request;
use crate::study::settings::{Settings, bounded, product};
use crate::study::unit::Unit;
use crate::world::World;
use manycore::topology::Topology;
use manycore_programs::UnitTask;
use manycore_programs::partition::{Block, Partitioner};
use serde::Serialize;
use std::num::NonZeroUsize;
use std::path::Path;

/// The most bytes that all threads write. Each thread writes to its own bytes.
const MOST_WRITTEN: u64 = 1 << 30;
/// The most bytes that a loop reads, the most that it writes, and the most additions that it does. Each of these takes
/// about a minute.
const LONGEST_LOOP: u64 = 1 << 36;

/// Seconds of measurements. With the longest cells, the warm-up and a margin for a slower host, a study takes less than
/// 20 s, and with `--full` less than 15 min.
const QUICK_SECONDS: u64 = 15;
const FULL_SECONDS: u64 = 660;

/// Everything that decides what is measured. Its hash names the journal (the file of measurements).
#[derive(Clone, Debug, Serialize)]
pub(super) struct BlockSizeConfig {
    pub(super) study: &'static str,
    pub(super) version: &'static str,
    pub(super) world: &'static str,
    /// This host's processor, or the simulated machine's name.
    pub(super) machine: String,
    /// The simulated machine with all its settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) chip: Option<DocumentChip>,
    /// The published latencies for comparison.
    #[serde(skip)]
    pub(super) tables: Vec<PublishedCell>,
    pub(super) full: bool,
    pub(super) seed: u64,
    pub(super) threads: Vec<usize>,
    pub(super) tasks: Vec<LoopTask>,
    pub(super) n: usize,
    /// Whether the user set `n`.
    #[serde(skip)]
    n_asked: bool,
    pub(super) irregular_n: Vec<usize>,
    pub(super) tiny_n: usize,
    pub(super) reads: Vec<u64>,
    pub(super) writes: Vec<u64>,
    folded_comps: Vec<u64>,
    opaque_comps: Vec<u64>,
    /// Whether all sizes are combined, instead of varied one by one.
    pub(super) cross: bool,
    /// The block sizes. If `None`, each loop's length decides.
    blocks: Option<Vec<usize>>,
    /// The names of the partitioners, for the hash and for `meta.json`.
    partitioners: Vec<String>,
    /// The number of rounds. If `None`, the time decides.
    pub(super) rounds: Option<u64>,
    pub(super) seconds: u64,
}

impl BlockSizeConfig {
    pub(super) fn new(request: &Request) -> anyhow::Result<Self> {
        request.counts_threads()?;
        let set = &request.settings;
        let only = BlockSizeOnly::parse(&request.only)?;
        let full = request.full;
        let chip = match &request.world {
            World::Native => None,
            World::Simulated(machine) => Some(DocumentChip::new(machine)),
        };
        if chip.is_some() && set.text("seconds").is_some() {
            return Err(bad_input(
                "--set seconds: it applies only to native loops; expected no --on, or --set rounds",
            ));
        }
        let n = set.number("n")?.map(|n| n as usize);
        let comps = set.numbers("comps");
        let sizes = |quick: &[u32], full_step: &[u32]| -> Vec<u64> {
            let exponents = if full { full_step } else { quick };
            exponents.iter().map(|&exponent| 1 << exponent).collect()
        };
        let tasks = set.list("tasks", str::parse)?;
        let partitioners = set.list("partitioners", str::parse)?;
        let tables = match (set.text("tables"), &chip) {
            (Some(_), None) => {
                return Err(bad_input(
                    "--set tables: only simulated latencies are compared with tables; expected \
                     --on PRESET",
                ));
            }
            (None, None) => Vec::new(),
            (file, Some(_)) => published_latencies(file.map(Path::new))
                .map_err(|error| bad_input(format!("--set tables: {error}")))?,
        };
        let all_tasks = match chip {
            Some(_) => vec![LoopTask::Folded],
            None => LoopTask::ALL.to_vec(),
        };
        let comps_of = |quick: &[u32], full_step: &[u32]| match (&comps, &chip) {
            (Some(comps), _) => comps.clone(),
            (None, Some(_)) => vec![1 << 10],
            (None, None) => sizes(quick, full_step),
        };
        let sizes_on = |of_chip: fn(&DocumentChip) -> Vec<u64>, quick: &[u32]| match &chip {
            Some(chip) if !full => of_chip(chip),
            _ => sizes(quick, &[6, 8, 10, 12, 14, 16]),
        };
        let mut config = Self {
            study: "block-size",
            version: env!("CARGO_PKG_VERSION"),
            world: chip.as_ref().map_or("native", |_| "simulated"),
            machine: chip
                .as_ref()
                .map_or_else(crate::report::processor::cpu_model, |chip| {
                    chip.name().to_owned()
                }),
            full,
            seed: request.seed,
            threads: thread_counts(&request.threads, chip.as_ref())?,
            tasks: only.tasks(tasks, all_tasks)?,
            n: n.unwrap_or(if chip.is_some() { 4096 } else { 1024 }),
            n_asked: n.is_some(),
            irregular_n: match (set.numbers("irregular-n"), n) {
                (Some(list), _) => list.into_iter().map(|n| n as usize).collect(),
                (None, Some(n)) => vec![n],
                (None, None) if full => vec![1024, 100_000],
                (None, None) => vec![1024],
            },
            tiny_n: set
                .number("tiny-n")?
                .map_or(n.unwrap_or(1_000_000), |n| n as usize),
            reads: set
                .numbers("reads")
                .unwrap_or_else(|| sizes_on(DocumentChip::reads, &[6, 10])),
            writes: set
                .numbers("writes")
                .unwrap_or_else(|| sizes_on(DocumentChip::writes, &[10])),
            folded_comps: comps_of(&[10, 60], &[10, 20, 30, 40, 50, 60]),
            opaque_comps: comps_of(&[10, 12], &[10, 12, 14, 16, 18, 20]),
            cross: cross(set)?,
            blocks: set
                .numbers("blocks")
                .map(|list| list.into_iter().map(|block| block as usize).collect())
                .or_else(|| chip.as_ref().map(|_| spaced_blocks(1024))),
            partitioners: only
                .partitioners(partitioners.unwrap_or_else(all_partitioners))?
                .iter()
                .map(Partitioner::to_string)
                .collect(),
            rounds: set.number("rounds")?,
            seconds: set.number("seconds")?.unwrap_or(if full {
                FULL_SECONDS
            } else {
                QUICK_SECONDS
            }),
            chip,
            tables,
        };
        config.drop_endless_opaque_tasks()?;
        config.check_products()?;
        Ok(config)
    }

    /// Checks products of settings, since numbers that are each in range may be too large together.
    fn check_products(&self) -> anyhow::Result<()> {
        let most = |list: &[u64]| list.iter().copied().max().unwrap_or(0);
        let (n, read, write) = (self.n as u64, most(&self.reads), most(&self.writes));
        product("--set n: by bytes of reads", &[n, read], LONGEST_LOOP)?;
        product("--set n: by bytes of writes", &[n, write], LONGEST_LOOP)?;
        let additions = [n, most(&self.opaque_comps)];
        if self.tasks.contains(&LoopTask::Opaque) {
            product("--set n: by opaque comps", &additions, LONGEST_LOOP)?;
        }
        let threads = self.threads.iter().copied().max().unwrap_or(1) as u64;
        product("--set writes: by threads", &[write, threads], MOST_WRITTEN)?;
        let comps = self.folded_comps.len() + self.opaque_comps.len();
        let sizes = match self.cross {
            true => self.reads.len() * self.writes.len() * comps,
            false => self.reads.len() + self.writes.len() + comps,
        };
        let loops = sizes + 3 * self.irregular_n.len() + 1;
        bounded(&[self.threads.len(), loops])
    }

    /// Removes sizes that are too large for opaque tasks, whose additions the compiler cannot fold, so that all are
    /// executed. If none is left, removes the opaque task.
    fn drop_endless_opaque_tasks(&mut self) -> anyhow::Result<()> {
        let most = UnitTask::MOST_OPAQUE_ADDITIONS;
        self.opaque_comps.retain(|&comp| comp <= most);
        if self.opaque_comps.is_empty() && self.tasks.contains(&LoopTask::Opaque) {
            if self.tasks == [LoopTask::Opaque] {
                return Err(bad_input(
                    "--set comps: an opaque task executes all its additions; expected sizes \
                     up to 2^20",
                ));
            }
            self.tasks.retain(|&task| task != LoopTask::Opaque);
        }
        Ok(())
    }

    /// The numbers of additions of a unit task (the synthetic kernel of the document).
    pub(super) fn comps(&self, task: LoopTask) -> Vec<u64> {
        match task {
            LoopTask::Opaque => self.opaque_comps.clone(),
            _ => self.folded_comps.clone(),
        }
    }

    /// The iterations of a unit-task loop: the user's number, else the number in the table of the document (Shuai's
    /// paper), else the default.
    pub(super) fn iterations(&self, read: u64, write: u64) -> usize {
        let machine = self.chip.as_ref().map(DocumentChip::name_in_tables);
        let mut tables = self.tables.iter().map(|cell| &cell.at);
        let table = tables.find(|at| {
            Some(&*at.machine) == machine && (at.unit_read, at.unit_write) == (read, write)
        });
        table.filter(|_| !self.n_asked).map_or(self.n, |at| at.n)
    }

    /// The additions of a unit task while its reads and writes vary. Folded tasks have the document's value.
    pub(super) fn middle_comp(&self, task: LoopTask) -> u64 {
        match (task, self.full) {
            (LoopTask::Opaque, true) => 1 << 16,
            (LoopTask::Folded, true) => 1 << 60,
            _ => 1 << 10,
        }
    }

    /// The fixed blocks and the partitioners to measure in a loop of `n`.
    pub(super) fn policies(&self, n: usize) -> Vec<LoopPolicy> {
        let blocks = match &self.blocks {
            Some(blocks) => blocks.clone(),
            None => spaced_blocks(n),
        };
        let blocks = blocks.into_iter().filter_map(NonZeroUsize::new);
        let fixed = |block| LoopPolicy::Ours(Partitioner::FixedBlock(Block::Size(block)));
        let mut policies: Vec<LoopPolicy> = blocks.clone().map(fixed).collect();
        if self.chip.is_some() {
            policies.extend(blocks.map(LoopPolicy::Document));
        }
        let named = self
            .partitioners
            .iter()
            .filter_map(|name| name.parse().ok());
        for policy in named {
            if !policies.contains(&policy) {
                policies.push(policy);
            }
        }
        policies
    }

    pub(super) fn unit(&self) -> Unit {
        match self.chip {
            Some(_) => Unit::Cycles,
            None => Unit::Microseconds,
        }
    }
}

/// Up to eleven powers of two from 1 to about `n`: for 1,024 iterations all of them.
fn spaced_blocks(n: usize) -> Vec<usize> {
    let last = f64::from(n.max(1).ilog2());
    let mut blocks: Vec<usize> = (0..11)
        .map(|k| 1 << (last * f64::from(k) / 10.0).round() as u32)
        .collect();
    blocks.dedup();
    blocks
}

/// All partitioners. The library chooses the blocks of `fixed-block` and `sharded`.
fn all_partitioners() -> Vec<Partitioner> {
    let parsed = Partitioner::NAMES.iter().map(|name| name.parse());
    parsed.filter_map(Result::ok).collect()
}

/// The counts in `asked`. By default those of the simulated machine, or on this host 1, 2, 4, ... and the default of a
/// pool.
fn thread_counts(
    asked: &[NonZeroUsize],
    chip: Option<&DocumentChip>,
) -> anyhow::Result<Vec<usize>> {
    let mut counts: Vec<usize> = asked.iter().map(|count| count.get()).collect();
    if let Some(chip) = chip {
        let most = chip.cores();
        if let Some(count) = counts.iter().find(|&&count| count > most) {
            return Err(bad_input(format!(
                "--threads {count}: {} has {most} cores, and each thread is bound to its own \
                 core; expected at most {most}",
                chip.name()
            )));
        }
    }
    if let (true, Some(chip)) = (counts.is_empty(), chip) {
        counts = chip.threads();
    } else if counts.is_empty() {
        let most = Topology::detect().default_threads();
        counts = std::iter::successors(Some(1), |count| Some(count * 2))
            .take_while(|&count| count < most)
            .collect();
        counts.push(most);
    }
    counts.sort_unstable();
    counts.dedup();
    Ok(counts)
}

fn cross(set: &Settings) -> anyhow::Result<bool> {
    match set.text("grid") {
        None | Some("star") => Ok(false),
        Some("cross") => Ok(true),
        Some(other) => Err(bad_input(format!(
            "--set grid: unknown grid `{other}`; expected star or cross"
        ))),
    }
}
