//! What was measured on the real machines, beside what the simulated ones do.

use super::latency::{Operation, State};
use manycore_chip::config::{PUBLISHED_CONTENDED, PUBLISHED_SOSP13};
use serde::Serialize;

/// A simulated number and the published one, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Compared {
    pub(crate) simulated: f64,
    pub(crate) published: Option<f64>,
    /// The error relative to the published one.
    pub(crate) error: Option<f64>,
}

impl Compared {
    pub(super) fn new(simulated: f64, published: Option<f64>) -> Self {
        Self {
            simulated,
            published,
            error: published.map(|published| simulated / published - 1.0),
        }
    }
}

/// Cycles of an operation on a line in `state` at `distance`.
pub(super) fn latency(
    machine: &str,
    operation: Operation,
    state: State,
    distance: &str,
) -> Option<f64> {
    sosp13(machine, operation.name(), state.name(), distance)
}

/// Cycles of a load from a level of the core's own memory.
pub(super) fn local(machine: &str, level: &str) -> Option<f64> {
    sosp13(machine, "load", level, "local")
}

fn sosp13(machine: &str, operation: &str, state: &str, distance: &str) -> Option<f64> {
    // The table's words for a group are the machines' own.
    let names: &[&str] = match distance {
        "same group" => &["same die", "other core"],
        other => &[other],
    };
    let key = |name: &&str| [machine, operation, state, name].map(str::to_owned);
    names
        .iter()
        .find_map(|name| find(PUBLISHED_SOSP13, &key(name)))
}

/// Nanoseconds of an increment on a counter that `threads` increment.
pub(super) fn contended(machine: &str, operation: Operation, threads: usize) -> Option<f64> {
    let key = [machine, operation.name(), &threads.to_string()].map(str::to_owned);
    find(PUBLISHED_CONTENDED, &key)
}

/// The last column of the row that begins with `key`.
fn find(table: &str, key: &[String]) -> Option<f64> {
    let rows = table.lines().skip(1);
    let mut rows = rows.filter_map(|row| row.rsplit_once(','));
    let (_, value) = rows.find(|(begin, _)| begin.split(',').eq(key))?;
    value.parse().ok()
}

/// The errors of a number of comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Errors {
    /// Numbers beside which a published one stands.
    pub(crate) compared: usize,
    /// Medians and maxima of absolute values.
    pub(crate) median: f64,
    pub(crate) worst: f64,
}

impl Errors {
    /// `None` if nothing was compared.
    pub(super) fn of<'a>(all: impl Iterator<Item = &'a Compared>) -> Option<Self> {
        let mut errors: Vec<f64> = all.filter_map(|one| Some(one.error?.abs())).collect();
        errors.sort_by(f64::total_cmp);
        let (low, high) = (errors.len().saturating_sub(1) / 2, errors.len() / 2);
        Some(Self {
            compared: errors.len(),
            median: f64::midpoint(*errors.get(low)?, *errors.get(high)?),
            worst: *errors.last()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_the_names_of_the_lab() {
        let load = |machine, distance| latency(machine, Operation::Load, State::M, distance);
        assert_eq!(load("westmere-ex", "same group"), Some(109.0));
        assert_eq!(load("niagara-2", "same group"), Some(24.0));
        assert_eq!(load("tilegx-36", "max hops"), Some(65.0));
        assert_eq!(load("tilegx-36", "5 hops"), None);
        assert_eq!(local("opteron-6172", "RAM"), Some(136.0));
        assert_eq!(contended("graviton-a72", Operation::Cas, 16), Some(2060.0));
        assert_eq!(contended("westmere-ex", Operation::Cas, 16), None);
    }

    #[test]
    fn errors_are_absolute() {
        let all = [
            Compared::new(90.0, Some(100.0)),
            Compared::new(7.0, None),
            Compared::new(130.0, Some(100.0)),
            Compared::new(100.0, Some(100.0)),
        ];
        let errors = Errors::of(all.iter()).unwrap();
        assert_eq!(errors.compared, 3);
        assert!((errors.median - 0.1).abs() < 1e-12);
        assert!((errors.worst - 0.3).abs() < 1e-12);
        assert_eq!(Errors::of(all[1..2].iter()), None);
    }
}
