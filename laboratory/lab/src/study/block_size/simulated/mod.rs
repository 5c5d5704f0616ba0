//! The study on a simulated machine. The host's cores share the simulations, one for each policy of a cell.

mod chip;
pub(super) mod compare;
mod document;
mod run;
mod task;

pub(in crate::study) use chip::DocumentChip;
pub(in crate::study) use run::simulate;

use super::config::BlockSizeConfig;
use super::measure::{LoopSamples, MeasuredLoops};
use super::policy::LoopPolicy;
use crate::measure::progress::Progress;
use crate::study::trial::simulate_policies;
use manycore::Pool;
use run::SimulatedLoop;
use std::time::Instant;

/// The default number of rounds: one for each half of the rounds in a regret (`regret.rs`). The machine has no noise.
const ROUNDS: u64 = 2;

/// Simulates every policy of `measured`'s cell. The number of `host`'s threads changes no result.
pub(super) fn measure(
    config: &BlockSizeConfig,
    chip: &DocumentChip,
    measured: &mut MeasuredLoops,
    policies: &[LoopPolicy],
    host: &Pool,
    progress: &Progress,
) -> anyhow::Result<()> {
    let begin = Instant::now();
    let cell = measured.cell;
    let what = cell.to_string();
    let rounds = config.rounds.unwrap_or(ROUNDS) as usize;
    let one = |at: usize| simulate(chip, cell, policies[at], None, rounds, config.seed);
    let outcomes = simulate_policies(host, progress, &what, policies.len(), one)?;
    let Some(outcomes) = outcomes else {
        return Ok(());
    };
    for (samples, outcome) in measured.policies.iter_mut().zip(outcomes) {
        let SimulatedLoop { cycles, hash } = outcome;
        *samples = LoopSamples {
            latency: cycles,
            ..samples.clone()
        };
        measured.hashes.push(format!("{hash:016x}"));
    }
    measured.seconds = begin.elapsed().as_secs_f64();
    measured.complete = true;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::grid::{LoopCell, LoopTask, Workload};
    use super::*;
    use crate::measure::time_left::TimeLeft;
    use crate::study::Request;
    use crate::study::settings::Settings;
    use crate::study::unit::Unit;
    use crate::world::World;

    fn simulate(host_threads: usize) -> MeasuredLoops {
        let machine = manycore_chip::config::Config::preset("w3225r").unwrap();
        let chip = DocumentChip::new(&machine);
        let config = BlockSizeConfig::new(&Request {
            seed: 3,
            ..Request::plain(World::Simulated(Box::new(machine)), Settings::default())
        })
        .unwrap();
        let workload = Workload {
            task: LoopTask::Folded,
            n: 64,
            read: 64,
            write: 256,
            comp: 64,
        };
        let cell = LoopCell {
            workload,
            threads: 3,
        };
        let policies = [
            "document=1",
            "fixed-block=8",
            "document=16",
            "adaptive",
            "sharded",
        ]
        .map(|name| name.parse().unwrap());
        let mut measured = MeasuredLoops::new(cell, Unit::Cycles, &policies);
        let host = Pool::builder().threads(host_threads).build().unwrap();
        let progress = Progress::new("test", TimeLeft::new([1.0], 1));
        measure(&config, &chip, &mut measured, &policies, &host, &progress).unwrap();
        measured
    }

    #[test]
    fn the_hosts_threads_change_nothing() {
        let (one, three) = (simulate(1), simulate(3));
        assert!(one.complete && one.hashes.len() == 5);
        assert_eq!(one.hashes, three.hashes);
        for (a, b) in one.policies.iter().zip(&three.policies) {
            assert_eq!((&a.policy, &a.latency), (&b.policy, &b.latency));
            assert!(a.latency.len() == 2 && a.latency[0] > 0.0);
        }
    }

    /// The latency with small blocks divided by that with large blocks, in the pool of 8 threads of the document
    /// (Shuai's paper).
    fn small_over_large(preset: &str) -> f64 {
        let chip = DocumentChip::new(&manycore_chip::config::Config::preset(preset).unwrap());
        let cell = LoopCell {
            workload: Workload {
                task: LoopTask::Folded,
                n: 2048,
                read: 1024,
                write: 1024,
                comp: 1024,
            },
            threads: 8,
        };
        let [small, large] = ["document=2", "document=16"].map(|policy| {
            let policy = policy.parse().unwrap();
            run::simulate(&chip, cell, policy, None, 1, 1)
                .unwrap()
                .cycles[0]
        });
        small / large
    }

    #[test]
    fn a_claim_costs_all_threads_where_they_are_in_several_groups() {
        // The document has 1.28 on the 3970X, and 1.01 to 1.05 on one socket of the Gold 5225R. Without looks (loads
        // from the counter's line), the 3970X would have 1.02.
        let [far, near] = ["tr3970x", "gold5225r"].map(small_over_large);
        assert!(far > 1.15, "{far}");
        assert!(near < 1.05, "{near}");
    }
}
