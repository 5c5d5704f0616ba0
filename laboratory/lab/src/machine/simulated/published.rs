//! Measurements of the real machines, for comparison with the simulated machines.

use super::latency::{Operation, State};
use manycore_chip::config::{PUBLISHED_CONTENDED, PUBLISHED_SERVERS, PUBLISHED_SOSP13};
use serde::Serialize;

/// A simulated number, and the published number if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Compared {
    pub(crate) simulated: f64,
    pub(crate) published: Option<f64>,
    /// The error relative to the published number.
    pub(crate) error: Option<f64>,
    /// Whether values of the machine were fitted to the published number.
    pub(crate) fitted: Option<bool>,
}

/// A published number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Published {
    figure: f64,
    fitted: bool,
}

impl Published {
    /// The number in another unit.
    pub(super) fn times(self, factor: f64) -> Self {
        Self {
            figure: self.figure * factor,
            ..self
        }
    }
}

impl Compared {
    pub(super) fn new(simulated: f64, published: Option<Published>) -> Self {
        Self {
            simulated,
            published: published.map(|published| published.figure),
            error: published.map(|published| simulated / published.figure - 1.0),
            fitted: published.map(|published| published.fitted),
        }
    }

    /// Whether there is a published number, and no value was fitted to it.
    pub(crate) fn is_unseen(&self) -> bool {
        self.fitted == Some(false)
    }
}

/// Cycles of an operation on a line in `state` at `distance`, on a machine that runs at `ghz`.
pub(super) fn latency(
    machine: &str,
    ghz: f64,
    operation: Operation,
    state: State,
    distance: &str,
) -> Option<Published> {
    let (operation, state) = (operation.name(), state.name());
    let ns = || server(machine, &format!("{operation} {state}"), distance);
    sosp13(machine, operation, state, distance).or_else(|| Some(ns()?.times(ghz)))
}

/// Cycles of a load from a level of the core's own memory, on a machine that runs at `ghz`.
pub(super) fn local(machine: &str, ghz: f64, level: &str) -> Option<Published> {
    let ns = || server(machine, "chase", level);
    sosp13(machine, "load", level, "local").or_else(|| Some(ns()?.times(ghz)))
}

fn sosp13(machine: &str, operation: &str, state: &str, distance: &str) -> Option<Published> {
    // The table uses each machine's own name for a group.
    let names: &[&str] = match distance {
        "same group" => &["same die", "other core"],
        other => &[other],
    };
    names
        .iter()
        .find_map(|name| find(PUBLISHED_SOSP13, &[machine, operation, state, name]))
}

/// Nanoseconds of an increment on a counter that `threads` increment.
pub(super) fn contended(machine: &str, operation: Operation, threads: usize) -> Option<Published> {
    let threads = threads.to_string();
    find(PUBLISHED_CONTENDED, &[machine, operation.name(), &threads])
}

/// The row of [`PUBLISHED_SERVERS`] for a measure at a place.
pub(super) fn server(machine: &str, measure: &str, place: &str) -> Option<Published> {
    find(PUBLISHED_SERVERS, &[machine, measure, place])
}

/// The places at which [`PUBLISHED_SERVERS`] has a measure.
pub(super) fn places<'a>(
    machine: &'a str,
    measure: &'a str,
) -> impl Iterator<Item = &'static str> + 'a {
    let rows = PUBLISHED_SERVERS.lines().skip(1);
    rows.filter_map(move |row| {
        let mut fields = row.split(',');
        (fields.next() == Some(machine) && fields.next() == Some(measure)).then(|| fields.next())?
    })
}

/// The thread counts with published contended increments.
pub(super) fn contended_threads(machine: &str) -> impl Iterator<Item = usize> + '_ {
    let rows = PUBLISHED_CONTENDED.lines().skip(1);
    rows.filter_map(move |row| {
        let mut fields = row.split(',');
        (fields.next() == Some(machine)).then(|| fields.nth(1)?.parse().ok())?
    })
}

/// Finds the row that begins with `key`. The row has a number, and perhaps a column that says whether a value was
/// fitted to this number. In a table without that column, values were fitted to all numbers.
fn find(table: &str, key: &[&str]) -> Option<Published> {
    let rows = table.lines().skip(1).map(|row| row.split(','));
    let mut rows = rows.filter(|row| row.clone().take(key.len()).eq(key.iter().copied()));
    let mut rest = rows.next()?.skip(key.len());
    Some(Published {
        figure: rest.next()?.parse().ok()?,
        fitted: rest.next() != Some("unseen"),
    })
}

/// The errors of several comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Errors {
    /// The number of comparisons with a published number.
    pub(crate) compared: usize,
    /// The median of the absolute errors. `worst` is their maximum.
    pub(crate) median: f64,
    pub(crate) worst: f64,
}

impl Errors {
    /// Returns `None` if nothing was compared.
    pub(crate) fn of<'a>(all: impl Iterator<Item = &'a Compared>) -> Option<Self> {
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
    use super::super::programs::Program;
    use super::super::stream::Kernel;
    use super::super::{distance, programs};
    use super::*;
    use manycore_chip::config::Config;

    fn fitted(figure: f64) -> Option<Published> {
        let fitted = true;
        Some(Published { figure, fitted })
    }

    #[test]
    fn rows_are_found_by_the_names_of_the_lab() {
        let load = |machine, distance| latency(machine, 2.0, Operation::Load, State::M, distance);
        assert_eq!(load("westmere-ex", "same group"), fitted(109.0));
        assert_eq!(load("niagara-2", "same group"), fitted(24.0));
        assert_eq!(load("tilegx-36", "max hops"), fitted(65.0));
        assert_eq!(load("tilegx-36", "5 hops"), None);
        assert_eq!(local("opteron-6172", 2.1, "RAM"), fitted(136.0));
        assert_eq!(local("graviton4-96", 2.0, "LLC"), fitted(43.6));
        assert_eq!(load("dahu", "other socket").unwrap().figure, 228.0);
        let cas = |machine, threads| contended(machine, Operation::Cas, threads);
        assert_eq!(cas("graviton-a72", 16), fitted(2060.0));
        assert_eq!(cas("westmere-ex", 16), None);
        assert!(!cas("graviton2-64", 4).unwrap().fitted);
        let triad = server("graviton4-96", "triad", "96").unwrap();
        assert_eq!((triad.figure, triad.fitted), (430.1, false));
        assert_eq!(triad.times(2.0).figure, 860.2);
        assert!(places("graviton4-96", "read").eq(["1", "96"]));
        assert!(contended_threads("icelake-1035g4").eq([1, 2, 3, 4, 1, 2, 3, 4]));
    }

    /// A row for a place name that its preset does not use would never be compared.
    #[test]
    fn every_row_of_servers_is_at_a_place_that_its_preset_has() {
        for row in PUBLISHED_SERVERS.lines().skip(1) {
            let fields: Vec<&str> = row.splitn(6, ',').collect();
            let [machine, measure, place, figure, fit, source] = fields[..] else {
                panic!("{row}");
            };
            let config = Config::preset(machine).unwrap();
            let access = || {
                let pairs = Operation::ALL.map(|one| State::ALL.map(|state| (one, state)));
                let mut names = pairs.as_flattened().iter();
                names.any(|(one, state)| measure == format!("{} {}", one.name(), state.name()))
            };
            let is_there = if let Ok(program) = measure.parse::<Program>() {
                let mut placed = programs::published(&config);
                placed.any(|one| one.program == program && one.place == place)
            } else if measure == "chase" {
                ["L1", "L2", "LLC", "RAM"].contains(&place)
            } else if Kernel::ALL.iter().any(|kernel| kernel.name() == measure) {
                place
                    .parse()
                    .is_ok_and(|cores| (1..=config.cores).contains(&cores))
            } else {
                let distances = distance::classes(&config);
                (measure == "handover" || access())
                    && distances.iter().any(|distance| distance.name == place)
            };
            assert!(is_there, "{row}");
            assert!(
                figure.parse::<f64>().is_ok_and(|figure| figure > 0.0),
                "{row}"
            );
            assert!(
                ["fitted", "unseen"].contains(&fit) && !source.is_empty(),
                "{row}"
            );
        }
    }

    #[test]
    fn errors_are_absolute() {
        let all = [
            Compared::new(90.0, fitted(100.0)),
            Compared::new(7.0, None),
            Compared::new(130.0, fitted(100.0)),
            Compared::new(100.0, fitted(100.0)),
        ];
        let errors = Errors::of(all.iter()).unwrap();
        assert_eq!(errors.compared, 3);
        assert!((errors.median - 0.1).abs() < 1e-12);
        assert!((errors.worst - 0.3).abs() < 1e-12);
        assert_eq!(Errors::of(all[1..2].iter()), None);
        assert!(!all[0].is_unseen());
    }
}
