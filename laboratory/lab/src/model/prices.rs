//! The prices (measured costs) of each machine, from which the model `ours` predicts the best block.

use super::configuration::Configuration;
use super::error::ModelError;
use super::shipped;
use crate::input;
use crate::machine::MachinePrices;
use manycore_programs::cost::{self, Machine, Prices, Task};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// If an iteration has this many bytes, `ours` picks the balanced block without a correction.
const NEUTRAL_BYTES: f64 = 1024.0;

/// The prices of machines, and the only number that is fitted to latencies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriceList {
    /// `ours` divides the balanced block by this power of an iteration's bytes, in units of
    /// [`NEUTRAL_BYTES`].
    pub(crate) data_exponent: f64,
    /// Measured by `manycore machine`.
    pub(crate) machines: BTreeMap<String, MachinePrices>,
}

impl PriceList {
    /// The prices of the machines in the document (Shuai's paper), measured on their presets.
    ///
    /// # Panics
    /// If the program was built with a broken file. A test checks the file.
    pub(crate) fn shipped() -> Self {
        serde_json::from_str(shipped::PRICES).expect("data/ours.json is checked by a test")
    }

    /// A list with the prices of one machine. They apply to all configurations, whatever the name of the
    /// configuration's machine.
    pub(crate) fn of_one(name: &str, prices: MachinePrices) -> Self {
        Self {
            machines: BTreeMap::from([(name.to_owned(), prices)]),
            ..Self::shipped()
        }
    }

    /// Reads what [`save`](Self::save) wrote.
    pub(crate) fn load(path: &Path) -> Result<Self, ModelError> {
        let text = input::read(path).map_err(|source| ModelError::Read {
            path: path.to_owned(),
            source,
            expected: "a file that `model fit` wrote",
        })?;
        Self::parse(&text).map_err(|problem| ModelError::Parameters {
            path: path.to_owned(),
            problem,
        })
    }

    /// Parses a price list. The error says what is wrong with the text.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let list: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        list.problem().map_or(Ok(list), Err)
    }

    /// Writes the list as JSON. If that fails, the file stays as it was.
    pub(crate) fn save(&self, path: &Path) -> Result<(), ModelError> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            serde_json::to_writer_pretty(&mut file, self)?;
            file.write_all(b"\n")?;
            file.persist(path)?;
            Ok(())
        };
        write().map_err(|source| ModelError::Write {
            path: path.to_owned(),
            source,
        })
    }

    fn problem(&self) -> Option<String> {
        if !self.data_exponent.is_finite() {
            return Some("`data_exponent` is not finite; expected a number".into());
        }
        let mut all = self.machines.iter().flat_map(|(machine, prices)| {
            let named = prices.named().into_iter();
            named.map(move |(name, price)| (machine, name, price))
        });
        let unsound = all.find(|(_, _, price)| !(*price > 0.0 && price.is_finite()));
        if let Some((machine, name, price)) = unsound {
            return Some(format!(
                "`{name}` of `{machine}` is {price}; expected a number above 0"
            ));
        }
        let none = self.machines.is_empty();
        none.then(|| "`machines` is empty; expected at least one machine".into())
    }

    /// The prices of a machine or, for a machine that is not listed, the geometric means of all prices.
    fn prices(&self, machine: &str) -> MachinePrices {
        let known = self.machines.get(machine).copied();
        known.unwrap_or_else(|| MachinePrices::geometric_mean(self.machines.values()))
    }

    /// The machine of the cost model. A launch costs a wake-up, since the document's threads sleep between loops.
    fn machine(&self, at: &Configuration) -> Machine {
        let prices = self.prices(&at.machine);
        Machine {
            threads: at.threads,
            outside: at.outside(),
            prices: Prices {
                launch_ns: prices.wake_ns,
                ..prices.of_pool()
            },
        }
    }

    /// The unit task of a configuration.
    pub(super) fn task(&self, at: &Configuration) -> Task {
        Task::new(self.prices(&at.machine).byte_ns * at.bytes())
    }

    pub(crate) fn latency(&self, at: &Configuration, block: usize) -> f64 {
        cost::latency(&self.machine(at), &self.task(at), at.n, block)
    }

    /// The block size that balances the cost of claims and the wait at the loop's end, from the prices alone.
    pub(super) fn balance(&self, at: &Configuration) -> f64 {
        cost::balanced_block(&self.machine(at), &self.task(at), at.n)
    }

    /// The balanced block, corrected for an iteration's bytes and not rounded.
    pub(super) fn value(&self, at: &Configuration) -> f64 {
        self.balance(at) * data_factor(at, self.data_exponent)
    }

    /// The power of two nearest to [`value`](Self::value), from 1 to the loop's length.
    pub(crate) fn block(&self, at: &Configuration) -> usize {
        rounded(self.value(at), at.n)
    }
}

/// The effect of an iteration's bytes on the block.
pub(super) fn data_factor(at: &Configuration, exponent: f64) -> f64 {
    (NEUTRAL_BYTES / at.bytes()).powf(exponent)
}

/// The power of two nearest to `block` by ratio, from 1 to `n`.
pub(super) fn rounded(block: f64, n: usize) -> usize {
    let octave = block.clamp(1.0, n.max(1) as f64).log2().round();
    (1 << octave as u32).min(n.max(1))
}
