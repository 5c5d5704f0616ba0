//! The peers by name: a runtime and one way to use it.

use anyhow::{Result, bail};
use std::num::NonZeroUsize;

/// One row of every table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    pub name: String,
    /// The runtime of its process.
    pub runtime: &'static str,
    /// The argument of [`Peer::enter`](super::Peer::enter).
    pub policy: String,
}

/// Name, runtime, policy. The others are divided by the first, `serial`.
const COMPARED: [(&str, &str, &str); 21] = [
    ("serial", "serial", ""),
    ("manycore", "manycore", "adaptive"),
    ("rayon", "rayon", "outside"),
    ("rayon-in", "rayon", "inside"),
    ("chili", "chili", "new-scope"),
    ("chili-held", "chili", "held-scope"),
    ("paralight", "paralight", ""),
    ("thread-scope", "thread-scope", ""),
    ("forkunion-static", "forkunion", "static"),
    ("forkunion-dynamic", "forkunion", "dynamic"),
    ("gomp-static", "gomp", "static"),
    ("gomp-dynamic", "gomp", "dynamic"),
    ("gomp-guided", "gomp", "guided"),
    ("gomp-passive", "gomp-passive", "static"),
    ("libomp-static", "libomp", "static"),
    ("libomp-dynamic", "libomp", "dynamic"),
    ("libomp-guided", "libomp", "guided"),
    ("libomp-auto", "libomp", "auto"),
    ("tbb-auto", "tbb", "auto"),
    ("tbb-static", "tbb", "static"),
    ("tbb-affinity", "tbb", "affinity"),
];

/// Compared only if `--peers` names them.
const ON_REQUEST: [(&str, &str, &str); 4] = [
    ("manycore-static", "manycore", "static"),
    ("manycore-guided", "manycore", "guided"),
    ("manycore-factoring", "manycore", "factoring"),
    ("manycore-sharded", "manycore", "sharded"),
];

/// The variants that serve clients, as their users call them from several threads. The others are
/// divided by the first, manycore.
const SERVING: [(&str, &str, &str); 10] = [
    ("manycore", "manycore", "adaptive"),
    ("serial", "serial", ""),
    ("rayon", "rayon", "outside"),
    ("tbb", "tbb", "auto"),
    ("gomp-static", "gomp", "static"),
    ("gomp-dynamic", "gomp", "dynamic"),
    ("gomp-passive", "gomp-passive", "static"),
    ("libomp-static", "libomp", "static"),
    ("forkunion", "forkunion", "shared"),
    ("forkunion-own", "forkunion", "own"),
];

/// The variants of joins. A runtime takes part if a variant of it in the list above does.
const JOINING: [(&str, &str, &str); 9] = [
    ("serial", "serial", "left-first"),
    ("serial-right", "serial", "right-first"),
    ("manycore", "manycore", "inside"),
    ("rayon-in", "rayon", "inside"),
    ("chili-held", "chili", "held-scope"),
    ("gomp-task", "gomp", "task"),
    ("libomp-task", "libomp", "task"),
    ("tbb-group", "tbb", "task-group"),
    ("tbb-invoke", "tbb", "invoke"),
];

impl Variant {
    /// A variant of this name, runtime and policy.
    pub fn new((name, runtime, policy): (&str, &'static str, &str)) -> Self {
        Self {
            name: name.to_owned(),
            runtime,
            policy: policy.to_owned(),
        }
    }

    /// manycore's shared counter with a fixed block, the divisor of the grids.
    pub fn fixed_block(block: NonZeroUsize) -> Self {
        let policy = format!("fixed-block={block}");
        Self {
            name: format!("manycore {policy}"),
            runtime: "manycore",
            policy,
        }
    }

    /// The variants of joins of the runtimes in `compared`.
    pub fn joining(compared: &[Variant]) -> Vec<Variant> {
        let runs = |runtime| compared.iter().any(|variant| variant.runtime == runtime);
        JOINING
            .into_iter()
            .filter(|&(_, runtime, _)| runs(runtime))
            .map(Variant::new)
            .collect()
    }

    /// Whether its threads never yield a core. With more threads than cores, a loop then takes
    /// milliseconds, the scheduler's slices.
    pub fn only_spins(&self) -> bool {
        self.runtime == "forkunion"
    }

    pub fn is_fixed_block(&self) -> bool {
        self.policy.starts_with("fixed-block=")
    }
}

/// The variants of `all` that `names` selects, by their own name or their runtime's, and the
/// variant called `always`. Without names, returns all of `all`. A variant of `on_request` is
/// selected by its own name only.
///
/// # Errors
///
/// If a name is unknown.
fn chosen(
    names: &[String],
    all: &[(&str, &'static str, &str)],
    on_request: &[(&str, &'static str, &str)],
    always: &str,
) -> Result<Vec<Variant>> {
    for name in names {
        let known = || all.iter().chain(on_request);
        if !known().any(|(own, runtime, _)| own == name || runtime == name) {
            let known: Vec<_> = known().map(|(own, ..)| *own).collect();
            bail!(
                "--peers: there is no peer `{name}`; expected some of {}",
                known.join(", ")
            );
        }
    }
    let named = |it: &str| names.iter().any(|name| name == it);
    let taken = all.iter().filter(|(own, runtime, _)| {
        names.is_empty() || *own == always || named(own) || named(runtime)
    });
    let more = on_request.iter().filter(|(own, ..)| named(own));
    Ok(taken.chain(more).copied().map(Variant::new).collect())
}

/// The selected peers for loops and joins, always with `serial`.
///
/// # Errors
///
/// If a name is unknown.
pub fn compared(names: &[String]) -> Result<Vec<Variant>> {
    chosen(names, &COMPARED, &ON_REQUEST, "serial")
}

/// The selected peers that serve clients, always with `manycore`.
///
/// # Errors
///
/// If a name is unknown.
pub fn serving(names: &[String]) -> Result<Vec<Variant>> {
    chosen(names, &SERVING, &[], "manycore")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(asked: &[&str]) -> Result<Vec<String>> {
        let asked: Vec<_> = asked.iter().map(|&name| name.to_owned()).collect();
        Ok(compared(&asked)?
            .into_iter()
            .map(|variant| variant.name)
            .collect())
    }

    #[test]
    fn a_runtime_names_all_its_variants() {
        assert_eq!(names(&["rayon"]).unwrap(), ["serial", "rayon", "rayon-in"]);
        assert_eq!(names(&["rayon-in"]).unwrap(), ["serial", "rayon-in"]);
        assert_eq!(
            names(&["manycore-guided"]).unwrap(),
            ["serial", "manycore-guided"]
        );
    }

    #[test]
    fn an_unknown_name_says_what_was_expected() {
        let message = names(&["tokio"]).unwrap_err().to_string();
        assert!(
            message.contains("`tokio`") && message.contains("tbb-auto"),
            "{message}"
        );
    }
    #[test]
    fn a_runtime_names_all_that_serve_and_manycore_is_always_first() {
        let names = |asked: &str| {
            let variants = serving(&[asked.to_owned()]).unwrap();
            variants.into_iter().map(|it| it.name).collect::<Vec<_>>()
        };
        assert_eq!(
            names("forkunion"),
            ["manycore", "forkunion", "forkunion-own"]
        );
        assert_eq!(names("tbb"), ["manycore", "tbb"]);
        let message = serving(&["tokio".to_owned()]).unwrap_err().to_string();
        assert!(message.contains("`tokio`") && message.contains("gomp-passive"));
    }
}
