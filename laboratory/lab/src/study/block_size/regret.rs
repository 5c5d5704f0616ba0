//! The regret: how much worse a partitioner is than the best fixed block.
//!
//! The regret of a policy in a cell is its latency divided by that of the best fixed block, minus one. With eleven
//! blocks and noise, the block with the best times was partly lucky. A policy that is equally fast but had no such luck
//! would seem worse (the winner's curse). So the best block is picked on the even rounds and compared on the odd
//! rounds, then the other way round. The regret is the geometric mean of both ratios, minus one. The plain regret,
//! which is also reported, picks and compares on all rounds.

use super::grid::{Class, LoopCell};
use super::measure::{LoopSamples, MeasuredLoops};
use crate::measure::statistics::{Spread, geometric_mean, median};
use crate::study::compared::{Compared, Sentence, difference};
use crate::study::trial::CellRecord;
use crate::study::unit::Unit;
use manycore_programs::partition::Partitioner;
use serde::Serialize;

/// A cell's best fixed block, and how its samples spread.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Best {
    pub(super) block_size: usize,
    pub(super) latency: Spread,
}

/// A partitioner in a cell.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Regret {
    pub(super) cell: LoopCell,
    pub(super) partitioner: String,
    pub(super) unit: Unit,
    pub(super) latency: Spread,
    pub(super) best: Best,
    /// The regret with the best block picked on the other half of the rounds.
    pub(super) regret: f64,
    /// The regret with the best block picked on the same rounds. It is biased upwards.
    pub(super) plain_regret: f64,
}

/// A partitioner over several cells.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Overall {
    pub(super) partitioner: String,
    /// The class of the cells, or `None` for all classes.
    pub(super) class: Option<Class>,
    pub(super) cells: usize,
    pub(super) geometric_mean_regret: f64,
    pub(super) geometric_mean_plain_regret: f64,
    pub(super) worst: Regret,
}

/// The regrets of all policies except fixed blocks.
pub(super) fn regrets(measured: &[MeasuredLoops]) -> Vec<Regret> {
    measured.iter().flat_map(in_cell).collect()
}

fn in_cell(measured: &MeasuredLoops) -> Vec<Regret> {
    // Each half needs at least one round.
    if measured.runs() < 2 {
        return Vec::new();
    }
    let (fixed, others): (Vec<&LoopSamples>, Vec<&LoopSamples>) = measured
        .policies
        .iter()
        .filter(|samples| samples.document_block().is_none())
        .partition(|samples| samples.fixed_block().is_some());
    let Some(best) = fastest(&fixed, Half::Both) else {
        return Vec::new();
    };
    let regret = |samples: &LoopSamples| {
        let split = [(Half::Even, Half::Odd), (Half::Odd, Half::Even)]
            .into_iter()
            .filter_map(|(pick, judge)| {
                let best = fastest(&fixed, pick)?;
                Some(judge.median(samples) / judge.median(best))
            });
        Regret {
            cell: measured.cell,
            partitioner: samples.policy.clone(),
            unit: measured.unit,
            latency: Spread::of(&samples.latency),
            best: Best {
                block_size: best.fixed_block().unwrap_or(0),
                latency: Spread::of(&best.latency),
            },
            regret: geometric_mean(split) - 1.0,
            plain_regret: Half::Both.median(samples) / Half::Both.median(best) - 1.0,
        }
    };
    others.into_iter().map(regret).collect()
}

/// The best block's name in a comparison.
const BEST: &str = "best block";

/// For each cell, the times of the default and the best block. In native runs a round is a sample, and the other half
/// of the rounds picks its block. All rounds of a simulation are one order of events, and so are one sample.
pub(super) fn compared(measured: &[MeasuredLoops], is_simulated: bool) -> Compared {
    let default = Partitioner::default().name();
    let unit = measured.first().map_or(Unit::Cycles, |cell| cell.unit);
    let mut compared = Compared::new(String::new(), unit, is_simulated);
    for cell in measured {
        let times = match is_simulated {
            true => {
                let regret = in_cell(cell).into_iter().find(Regret::is_default);
                regret.map(|regret| {
                    let best = regret.best.latency.median;
                    [vec![(1.0 + regret.regret) * best], vec![best]]
                })
            }
            false => rounds(cell, default),
        };
        if let Some([ours, best]) = times {
            let times = [(default.to_owned(), ours), (BEST.to_owned(), best)];
            compared.add(cell.cell.to_string(), times.into_iter());
        }
    }
    compared
}

/// A partitioner's latency in each round, and the latency of the block that the other half of the rounds picks.
fn rounds(measured: &MeasuredLoops, name: &str) -> Option<[Vec<f64>; 2]> {
    if measured.runs() < 2 {
        return None;
    }
    let mut all = measured.policies.iter();
    let ours = all.find(|samples| samples.policy == name)?;
    let fixed = measured.policies.iter();
    let fixed: Vec<&LoopSamples> = fixed.filter(|one| one.fixed_block().is_some()).collect();
    let picked = [fastest(&fixed, Half::Odd)?, fastest(&fixed, Half::Even)?];
    let best = (0..measured.runs()).map(|round| picked[round % 2].latency[round]);
    let ours = ours.latency[..measured.runs()].to_vec();
    Some([ours, best.collect()])
}

/// Compares the default with the best block.
pub(super) fn sentence(compared: &Compared) -> Sentence {
    let default = Partitioner::default().name();
    let cells = compared.cells.iter();
    let worst = cells
        .filter_map(|cell| cell.chosen_ratio(default, BEST, compared.cells.len()))
        .max_by(|a, b| a.mean.total_cmp(&b.mean));
    let (Some(mean), Some(worst)) = (compared.mean_ratio(default, BEST), worst) else {
        return Sentence {
            text: "The blocks of a parallel loop can be too small or too large".into(),
            ratios: Vec::new(),
        };
    };
    Sentence {
        text: format!(
            "The time with the default, which gets no block size, compared with the time with the \
             best block size: {} in the mean of {} cases (loops on a number of threads), {} in \
             the worst case{}",
            difference(mean),
            compared.cells.len(),
            difference(worst),
            compared.ground()
        ),
        ratios: vec![(mean, 1.0), (worst, 1.0)],
    }
}

#[derive(Clone, Copy)]
enum Half {
    Even,
    Odd,
    Both,
}

impl Half {
    fn median(self, samples: &LoopSamples) -> f64 {
        let (skip, step) = match self {
            Self::Even => (0, 2),
            Self::Odd => (1, 2),
            Self::Both => (0, 1),
        };
        median(samples.latency.iter().copied().skip(skip).step_by(step))
    }
}

fn fastest<'a>(policies: &[&'a LoopSamples], half: Half) -> Option<&'a LoopSamples> {
    let medians = policies
        .iter()
        .map(|samples| (half.median(samples), *samples));
    let best = medians.min_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, samples)| samples)
}

pub(super) fn overall(regrets: &[Regret]) -> Vec<Overall> {
    let mut names: Vec<&str> = Vec::new();
    for regret in regrets {
        if !names.contains(&regret.partitioner.as_str()) {
            names.push(&regret.partitioner);
        }
    }
    let classes: Vec<Option<Class>> = Class::ALL.into_iter().map(Some).chain([None]).collect();
    let mut overall = Vec::new();
    for name in names {
        for &class in &classes {
            let of_class = |regret: &&Regret| {
                let found = regret.cell.workload.task.class();
                regret.partitioner == name && class.is_none_or(|class| class == found)
            };
            let cells: Vec<&Regret> = regrets.iter().filter(of_class).collect();
            let worst = cells.iter().max_by(|a, b| a.regret.total_cmp(&b.regret));
            let Some(&worst) = worst else { continue };
            let mean = |get: fn(&Regret) -> f64| {
                geometric_mean(cells.iter().map(|&regret| 1.0 + get(regret))) - 1.0
            };
            overall.push(Overall {
                partitioner: name.to_owned(),
                class,
                cells: cells.len(),
                geometric_mean_regret: mean(|regret| regret.regret),
                geometric_mean_plain_regret: mean(|regret| regret.plain_regret),
                worst: worst.clone(),
            });
        }
    }
    overall
}

impl Best {
    /// How far the 10th and 90th percentiles of the best block's samples are from their median, as fractions of the
    /// median.
    pub(super) fn spread(&self) -> (f64, f64) {
        let median = self.latency.median;
        (
            self.latency.p10 / median - 1.0,
            self.latency.p90 / median - 1.0,
        )
    }
}

impl Regret {
    pub(super) fn is_default(&self) -> bool {
        self.partitioner == Partitioner::default().name()
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid::{LoopTask, Workload};
    use super::*;

    fn measured(policies: &[(&str, &[f64])]) -> MeasuredLoops {
        let workload = Workload {
            task: LoopTask::Folded,
            n: 1024,
            read: 1024,
            write: 1024,
            comp: 1024,
        };
        let samples = |&(policy, us): &(&str, &[f64])| LoopSamples {
            policy: policy.into(),
            latency: us.to_vec(),
        };
        MeasuredLoops {
            cell: LoopCell {
                workload,
                threads: 2,
            },
            unit: Unit::Microseconds,
            complete: true,
            hashes: Vec::new(),
            seconds: 0.0,
            waited: 0.0,
            policies: policies.iter().map(samples).collect(),
        }
    }

    #[test]
    fn a_policy_no_better_than_the_blocks_is_not_charged_for_their_luck() {
        // Both blocks and the policy truly take 10. Each block was lucky in one half of the rounds.
        let cell = measured(&[
            ("fixed-block=1", &[8.0, 10.0, 8.0, 10.0]),
            ("fixed-block=2", &[10.0, 8.0, 10.0, 8.0]),
            ("adaptive", &[10.0, 10.0, 10.0, 10.0]),
        ]);
        let regret = &regrets(&[cell])[0];
        assert!(regret.is_default());
        assert!(regret.regret.abs() < 1e-12, "{}", regret.regret);
        assert!(regret.plain_regret > 0.1, "{}", regret.plain_regret);
    }

    #[test]
    fn a_worse_policy_is_charged_in_full() {
        let cell = measured(&[
            ("fixed-block=1", &[30.0; 4]),
            ("fixed-block=16", &[10.0; 4]),
            ("static", &[12.0; 4]),
            ("sharded=8", &[11.0; 4]),
        ]);
        let regrets = regrets(&[cell]);
        assert_eq!(regrets.len(), 2);
        assert_eq!(regrets[0].best.block_size, 16);
        assert!((regrets[0].regret - 0.2).abs() < 1e-12);
        let overall = overall(&regrets);
        // There are two partitioners, each in one class and in all classes.
        assert_eq!(overall.len(), 4);
        assert!((overall[0].geometric_mean_regret - 0.2).abs() < 1e-12);
        assert_eq!(overall[0].cells, 1);
    }

    #[test]
    fn rounds_are_compared_with_the_block_that_the_other_half_picks() {
        let cell = measured(&[
            ("fixed-block=1", &[8.0, 10.0, 8.0, 10.0]),
            ("fixed-block=2", &[10.0, 8.0, 10.0, 8.0]),
            ("adaptive", &[12.0, 12.0, 12.0, 12.0]),
        ]);
        let compared = compared(&[cell], false);
        // The odd rounds pick block 2 for the even rounds.
        let times = |name| compared.cells[0].times(name).unwrap().to_vec();
        assert_eq!(times(BEST), [10.0; 4]);
        assert_eq!(times("adaptive"), [12.0; 4]);
        let text = sentence(&compared).text;
        assert!(
            text.contains("20.0% more (20.0 to 20.0%) in the mean of 1 cases"),
            "{text}"
        );
    }

    #[test]
    fn without_fixed_blocks_there_is_nothing_to_regret() {
        assert!(regrets(&[measured(&[("static", &[1.0, 1.0])])]).is_empty());
        let one_round = measured(&[("fixed-block=1", &[1.0]), ("static", &[1.0])]);
        assert!(regrets(&[one_round]).is_empty());
    }
}
