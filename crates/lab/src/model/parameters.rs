//! The prices that `ours` predicts with.

use super::configuration::Configuration;
use super::error::ModelError;
use super::shipped;
use crate::input;
use manycore::cost::{self, Machine, Task};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// In nanoseconds; what they mean stands at [`Machine`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parameters {
    pub(crate) claim_ns: f64,
    pub(crate) handoff_ns: f64,
    pub(crate) crossing_ns: f64,
    pub(crate) wake_ns: f64,
    /// The unit task's time for each byte, by machine.
    pub(crate) byte_ns: BTreeMap<String, f64>,
}

impl Parameters {
    /// Those fitted to the document's latencies.
    ///
    /// # Panics
    /// If the program was built with a broken file: a test would have failed.
    pub(crate) fn shipped() -> Self {
        serde_json::from_str(shipped::PARAMETERS).expect("data/ours.json is checked by a test")
    }

    /// Reads what [`save`](Self::save) wrote.
    pub(crate) fn load(path: &Path) -> Result<Self, ModelError> {
        let text = input::read(path).map_err(|source| ModelError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text).map_err(|problem| ModelError::Parameters {
            path: path.to_owned(),
            problem,
        })
    }

    /// Or what is wrong with the text.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let parameters: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        parameters.problem().map_or(Ok(parameters), Err)
    }

    /// Writes them as JSON: the whole file, or none.
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
        let prices = [
            ("claim_ns", self.claim_ns),
            ("handoff_ns", self.handoff_ns),
            ("crossing_ns", self.crossing_ns),
            ("wake_ns", self.wake_ns),
        ];
        let bytes = self.byte_ns.iter().map(|(name, &ns)| (name.as_str(), ns));
        let mut all = prices.into_iter().chain(bytes);
        if let Some((name, price)) = all.find(|(_, price)| !(*price > 0.0 && price.is_finite())) {
            return Some(format!("`{name}` is {price}; expected a number above 0"));
        }
        let none = self.byte_ns.is_empty();
        none.then(|| "`byte_ns` is empty; expected at least one machine".into())
    }

    /// The team of a configuration.
    pub(super) fn machine(&self, at: &Configuration) -> Machine {
        Machine {
            threads: at.threads,
            outside: at.outside(),
            claim_ns: self.claim_ns,
            handoff_ns: self.handoff_ns,
            crossing_ns: self.crossing_ns,
            wake_ns: self.wake_ns,
        }
    }

    /// Its unit task; on an unknown machine at the geometric mean of the known
    /// ones' speeds.
    pub(super) fn task(&self, at: &Configuration) -> Task {
        let byte_ns = self.byte_ns.get(&at.machine).copied().unwrap_or_else(|| {
            let logs = self.byte_ns.values().map(|ns| ns.ln());
            (logs.sum::<f64>() / self.byte_ns.len() as f64).exp()
        });
        Task::new(byte_ns * at.bytes())
    }

    pub(crate) fn latency(&self, at: &Configuration, block: usize) -> f64 {
        cost::latency(&self.machine(at), &self.task(at), at.n, block)
    }

    pub(crate) fn block(&self, at: &Configuration) -> usize {
        cost::best_block(&self.machine(at), &self.task(at), at.n)
    }
}
