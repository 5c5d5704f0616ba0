//! The study's checked settings, with their defaults.

use super::case::ModelCase;
use super::policy::ModelPolicy;
use crate::failure::bad_input;
use crate::model::Configuration;
use crate::study::Request;
use crate::study::block_size::{DocumentChip, groups_here};
use crate::study::settings::{bounded, product};
use crate::study::trial::Setup;
use manycore::topology::Topology;
use serde::Serialize;

/// Iterations of the loops in the document (Shuai's paper).
const N: u64 = 4096;
/// The bytes read or written while another size varies.
const MIDDLE: u64 = 1024;
const MIDDLE_COMP: u64 = 1 << 60;
/// The most bytes that all threads write. Each thread writes to its own bytes.
const MOST_WRITTEN: u64 = 1 << 30;
/// The most bytes that a loop reads or writes. This takes about a minute.
const LONGEST_LOOP: u64 = 1 << 36;

manycore_programs::by_name! {
    /// The size that varies in a table of the document.
    pub(super) enum Dimension: "unknown size", "expected some of" {
        Read = "unit_read",
        Write = "unit_write",
        Comp = "unit_comp",
    }
}

/// Everything that decides what is measured. Its hash names the journal (the file of measurements).
#[derive(Clone, Debug, Serialize)]
pub(super) struct ModelsConfig {
    #[serde(flatten)]
    pub(super) setup: Setup,
    /// The machine's name in the document's tables.
    pub(super) name_in_tables: String,
    pub(super) threads: usize,
    core_groups: usize,
    n: usize,
    sizes: Vec<u64>,
    comps: Vec<u64>,
    pub(super) policies: Vec<ModelPolicy>,
}

impl ModelsConfig {
    pub(super) fn new(request: &Request) -> anyhow::Result<Self> {
        request.counts_threads()?;
        let asked = match request.threads[..] {
            [] => None,
            [threads] => Some(threads.get()),
            _ => {
                return Err(bad_input(
                    "--threads: all loops of this study have the same thread count; expected one number",
                ));
            }
        };
        let setup = Setup::new(
            "models",
            &Request {
                threads: Vec::new(),
                ..request.clone()
            },
        )?;
        let set = &request.settings;
        let chip = setup.chip().map(|chip| DocumentChip::new(&chip.0));
        let most = match &chip {
            Some(chip) => chip.hardware_threads(),
            None => Topology::detect().usable().len(),
        };
        let threads = asked.unwrap_or_else(|| {
            let compared = chip.as_ref().and_then(DocumentChip::threads_compared);
            compared.unwrap_or(most).min(most)
        });
        if threads > most {
            return Err(bad_input(format!(
                "--threads {threads}: {} has {most} hardware threads; expected at most {most}",
                setup.machine
            )));
        }
        let sizes = set.numbers("sizes").unwrap_or_else(|| {
            let exponents: &[u32] = match request.full {
                true => &[6, 8, 10, 12, 14, 16],
                false => &[6, 10, 12],
            };
            exponents.iter().map(|exponent| 1 << exponent).collect()
        });
        let largest = sizes.iter().copied().max().unwrap_or(0);
        product(
            "--set sizes: by threads",
            &[largest, threads as u64],
            MOST_WRITTEN,
        )?;
        let bytes = [largest.max(MIDDLE), set.number("n")?.unwrap_or(N)];
        product("--set sizes: by n", &bytes, LONGEST_LOOP)?;
        let config = Self {
            name_in_tables: match &chip {
                Some(chip) => chip.name_in_tables().to_owned(),
                None => setup.machine.clone(),
            },
            threads,
            core_groups: chip
                .as_ref()
                .map_or_else(groups_here, |chip| chip.groups_of(threads)),
            n: set.number("n")?.unwrap_or(N) as usize,
            sizes,
            comps: match request.full {
                true => (1..=6).map(|power| 1 << (10 * power)).collect(),
                false => vec![1 << 10, 1 << 60],
            },
            policies: policies(&request.only, chip.as_ref(), threads)?,
            setup,
        };
        bounded(&[
            2 * config.sizes.len() + config.comps.len(),
            config.policies.len(),
        ])?;
        Ok(config)
    }

    /// The values of one table, in ascending order.
    pub(super) fn values(&self, dimension: Dimension) -> Vec<u64> {
        let mut values = match dimension {
            Dimension::Read | Dimension::Write => self.sizes.clone(),
            Dimension::Comp => self.comps.clone(),
        };
        values.sort_unstable();
        values
    }

    /// The loop with this value of `dimension` and middle values of the other sizes.
    pub(super) fn at(&self, dimension: Dimension, value: u64) -> Configuration {
        let or = |of: Dimension, middle: u64| if of == dimension { value } else { middle };
        Configuration {
            machine: self.name_in_tables.clone(),
            core_groups: self.core_groups,
            threads: self.threads,
            unit_read: or(Dimension::Read, MIDDLE),
            unit_write: or(Dimension::Write, MIDDLE),
            unit_comp: or(Dimension::Comp, MIDDLE_COMP),
            n: self.n,
        }
    }

    pub(super) fn case(&self, at: Configuration, policy: ModelPolicy) -> ModelCase {
        ModelCase {
            at,
            policy,
            seed: self.setup.seed,
        }
    }

    /// Every loop once. The loop of middle values is in all three tables.
    pub(super) fn loops(&self) -> Vec<Configuration> {
        let mut loops = Vec::new();
        for dimension in Dimension::ALL {
            for value in self.values(dimension) {
                let at = self.at(dimension, value);
                if !loops.contains(&at) {
                    loops.push(at);
                }
            }
        }
        loops
    }

    pub(super) fn cases(&self) -> Vec<ModelCase> {
        let of = |at: Configuration| {
            let policies = self.policies.iter();
            policies.map(move |&policy| self.case(at.clone(), policy))
        };
        self.loops().into_iter().flat_map(of).collect()
    }
}

/// The policies that `--only` names, or else all.
fn policies(
    only: &[String],
    chip: Option<&DocumentChip>,
    threads: usize,
) -> anyhow::Result<Vec<ModelPolicy>> {
    let all = ModelPolicy::ALL.into_iter();
    // In the document's pool the caller needs its own hardware thread.
    let room = chip.is_some_and(|chip| threads < chip.hardware_threads());
    let possible: Vec<ModelPolicy> = all
        .filter(|&policy| policy != ModelPolicy::Document || room)
        .collect();
    let names: Vec<&str> = possible.iter().map(|policy| policy.name()).collect();
    if let Some(name) = only.iter().find(|name| !names.contains(&&***name)) {
        return Err(bad_input(format!(
            "--only: unknown policy `{name}`; expected some of {}",
            names.join(", ")
        )));
    }
    let wanted =
        |policy: &ModelPolicy| only.is_empty() || only.iter().any(|one| one == policy.name());
    Ok(possible.into_iter().filter(wanted).collect())
}
