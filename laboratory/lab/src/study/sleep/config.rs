//! The study's checked settings, with their defaults.

use super::cell::{Policy, SleepCell};
use super::only::SleepOnly;
use crate::failure::bad_input;
use crate::study::Request;
use crate::study::chip::Chip;
use crate::study::order;
use crate::study::unit::Unit;
use crate::world::World;
use manycore::topology::Topology;
use manycore_programs::fork::{Algorithm, Size};
use manycore_programs::sleep::Mode;
use serde::{Serialize, Serializer};
use std::num::NonZeroUsize;

/// The default of `seconds`. The last cells can exceed their share of the time, but a quick study stays below 20 s, and
/// a full one below 20 min.
const QUICK_SECONDS: u64 = 15;
const FULL_SECONDS: u64 = 900;

/// The number of simulated runs in a quick and in a full study. The machine has no noise, but a run that begins
/// differently steals different pieces. If the stolen pieces are few and large (MergeSort), a run has one of two times.
const SIMULATED_RUNS: [u64; 2] = [7, 15];

/// The algorithms of Fontena's experiment.
const DOCUMENT: [Algorithm; 7] = [
    Algorithm::Life,
    Algorithm::NBodyIterator,
    Algorithm::NBodyReduce,
    Algorithm::MergeSort,
    Algorithm::QuickSort,
    Algorithm::FrogJump,
    Algorithm::Tsp,
];

/// Everything that decides what is measured. Its hash names the journal (the file of measurements).
#[derive(Clone, Debug, Serialize)]
pub(super) struct SleepConfig {
    pub(super) study: &'static str,
    pub(super) version: &'static str,
    pub(super) world: &'static str,
    /// This host's processor, or the simulated machine's name.
    pub(super) machine: String,
    /// The whole simulated machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) chip: Option<Chip>,
    pub(super) seed: u64,
    /// The numbers of threads, ascending. 1 is always among them, since speedups need it.
    pub(super) threads: Vec<usize>,
    pub(super) algorithms: Vec<Algorithm>,
    pub(super) policies: Vec<Policy>,
    /// Whether `--only` selects the policies.
    #[serde(skip)]
    pub(super) selects_policies: bool,
    #[serde(serialize_with = "size_name")]
    pub(super) size: Size,
    /// The number of runs. With `None` the time decides. Only native runs have a time limit.
    pub(super) runs: Option<u64>,
    pub(super) seconds: u64,
    /// The orders of events (seeds of the machine's random delays) under which each policy of a cell is simulated. 0
    /// means the machine as it is described.
    pub(super) orders: Vec<u64>,
}

impl SleepConfig {
    pub(super) fn new(request: &Request) -> anyhow::Result<Self> {
        let set = &request.settings;
        request.counts_threads()?;
        let full = request.full;
        let only = SleepOnly::parse(&request.only)?;
        let mut chip = match &request.world {
            World::Native => None,
            World::Simulated(machine) => Some(Chip((**machine).clone())),
        };
        if chip.is_some() && set.text("seconds").is_some() {
            return Err(bad_input(
                "--set seconds: only native runs have a time limit; expected no --on, or --set \
                 runs",
            ));
        }
        let orders = order::requested(request.orders, chip.as_mut())?;
        let modes = set.list("mode", str::parse)?;
        let algorithms = match full {
            true => Algorithm::ALL.to_vec(),
            false => DOCUMENT.to_vec(),
        };
        let simulated_runs = chip.as_ref().map(|_| SIMULATED_RUNS[usize::from(full)]);
        let seconds = if full { FULL_SECONDS } else { QUICK_SECONDS };
        Ok(Self {
            study: "sleep",
            version: env!("CARGO_PKG_VERSION"),
            world: chip.as_ref().map_or("native", |_| "simulated"),
            machine: chip
                .as_ref()
                .map_or_else(crate::report::processor::cpu_model, |chip| {
                    chip.0.name.clone()
                }),
            seed: request.seed,
            threads: thread_counts(&request.threads, chip.as_ref(), full)?,
            algorithms: only.algorithms(algorithms),
            selects_policies: only.selects_policies(),
            policies: policies(&only, &modes.unwrap_or_else(|| vec![Mode::Sound]))?,
            size: match set.text("size") {
                None if full => Size::Document,
                None | Some("quick") => Size::Quick,
                Some("document") => Size::Document,
                Some(other) => {
                    return Err(bad_input(format!(
                        "--set size: unknown size `{other}`; expected quick or document"
                    )));
                }
            },
            orders,
            runs: set.number("runs")?.or(simulated_runs),
            seconds: set.number("seconds")?.unwrap_or(seconds),
            chip,
        })
    }

    /// The unit of times.
    pub(super) fn unit(&self) -> Unit {
        match self.chip {
            Some(_) => Unit::Cycles,
            None => Unit::Microseconds,
        }
    }

    /// The cells. The cells of an algorithm follow each other.
    pub(super) fn cells(&self) -> Vec<SleepCell> {
        let of = |&algorithm: &Algorithm| {
            let counts = self.threads.iter();
            counts.map(move |&threads| SleepCell { algorithm, threads })
        };
        self.algorithms.iter().flat_map(of).collect()
    }

    /// Says in words which ranges figures have.
    pub(super) fn ranges(&self) -> String {
        match self.orders.len() {
            1 => "ranges from the 10th to the 90th percentile of runs".into(),
            _ => format!("95% intervals over {}", self.told_orders()),
        }
    }

    /// Says in words how many orders of events there are, and how long their random delays are.
    pub(super) fn told_orders(&self) -> String {
        let count = self.orders.len();
        match &self.chip {
            Some(chip) if count > 1 => format!(
                "{count} orders of events, with delays of 0 to {} cycles",
                order::amount(&chip.0)
            ),
            _ => format!("{count} orders of events"),
        }
    }

    /// Whether the inputs are those of Fontena's experiment. If so, tables also show the published numbers.
    pub(super) fn has_published_inputs(&self) -> bool {
        self.size == Size::Document
    }

    /// The number of threads for the comparison of policies.
    pub(super) fn most_threads(&self) -> usize {
        self.threads.last().copied().unwrap_or(1)
    }
}

/// The requested policies. The policies of a mode follow each other.
fn policies(only: &SleepOnly, modes: &[Mode]) -> anyhow::Result<Vec<Policy>> {
    let of = |&mode: &Mode| {
        Policy::all()
            .into_iter()
            .filter(move |one| one.mode == mode)
    };
    let mut policies: Vec<Policy> = modes.iter().flat_map(of).collect();
    policies.retain(|policy| only.wants(&policy.name));
    if policies.is_empty() {
        return Err(bad_input(
            "--only: none of these policies was published; expected --set mode=sound",
        ));
    }
    Ok(policies)
}

/// Returns 1 and the requested numbers of threads. Without a request, returns powers of two and a pool's default number
/// on this host, or the numbers that suit a simulated machine.
fn thread_counts(
    asked: &[NonZeroUsize],
    chip: Option<&Chip>,
    full: bool,
) -> anyhow::Result<Vec<usize>> {
    let mut counts: Vec<usize> = asked.iter().map(|count| count.get()).collect();
    if let Some(chip) = chip {
        let most = chip.hardware_threads();
        if let Some(count) = counts.iter().find(|&&count| count > most) {
            return Err(bad_input(format!(
                "--threads {count}: {} has {} cores and {most} hardware threads, and each thread \
                 is bound to its own; expected at most {most}",
                chip.0.name,
                chip.cores()
            )));
        }
    }
    if counts.is_empty() {
        counts = match chip {
            Some(chip) => chip.threads(full),
            None => {
                let most = Topology::detect().default_threads();
                let doubled = std::iter::successors(Some(2), |count| Some(count * 2));
                let doubled = doubled.take_while(|&count| count < most);
                doubled.chain([most]).collect()
            }
        };
    }
    counts.push(1);
    counts.sort_unstable();
    counts.dedup();
    Ok(counts)
}

fn size_name<S: Serializer>(size: &Size, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match size {
        Size::Document => "document",
        Size::Quick => "quick",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::settings::Settings;
    use manycore_chip::config::Config as Machine;

    impl SleepConfig {
        /// The settings of a quick study on the simulated machine `dahu`.
        pub(in super::super) fn on_dahu(
            only: &[&str],
            set: &[&str],
            threads: &[usize],
        ) -> anyhow::Result<Self> {
            let pairs: Vec<String> = set.iter().map(|&pair| pair.to_owned()).collect();
            let (world, settings) = (
                World::Simulated(Box::new(Machine::preset("dahu")?)),
                Settings::parse(&pairs, super::super::KEYS)?,
            );
            Self::new(&Request {
                threads: threads
                    .iter()
                    .filter_map(|&count| NonZeroUsize::new(count))
                    .collect(),
                only: only.iter().map(|&name| name.to_owned()).collect(),
                ..Request::plain(world, settings)
            })
        }
    }

    #[test]
    fn the_default_is_the_documents_programs_and_every_sound_policy() {
        let config = SleepConfig::on_dahu(&[], &[], &[]).unwrap();
        assert_eq!(config.threads, [1, 8, 16, 24, 32]);
        assert_eq!(config.algorithms, DOCUMENT);
        let sound = Policy::all()
            .into_iter()
            .filter(|policy| policy.mode == Mode::Sound);
        assert_eq!(config.policies, sound.collect::<Vec<_>>());
        assert!(config.policies.iter().any(Policy::is_base));
        assert_eq!(config.cells().len(), 35);
    }

    #[test]
    fn only_selects_algorithms_and_policies() {
        let both = "mode=sound,as-published";
        let config = SleepConfig::on_dahu(&["tsp", "split", "packed"], &[both], &[4]).unwrap();
        // Speedups are relative to one thread.
        assert_eq!(config.threads, [1, 4]);
        assert_eq!(config.algorithms, [Algorithm::Tsp]);
        let names: Vec<String> = config.policies.iter().map(Policy::to_string).collect();
        let expected = [
            "packed",
            "split",
            "packed (as-published)",
            "split (as-published)",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn errors_name_what_is_wrong() {
        for (only, set, threads, part) in [
            (&["lief"][..], &[][..], &[][..], "`lief`"),
            (&[], &["mode=fast"], &[], "`fast`"),
            (&[], &["size=huge"], &[], "`huge`"),
            (&[], &["seconds=3"], &[], "--set runs"),
            (&[], &[], &[33], "32 cores"),
        ] {
            let error = SleepConfig::on_dahu(only, set, threads)
                .unwrap_err()
                .to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
