//! The runtimes that serve, and how each is called as its users call it from several threads.

use anyhow::{Result, bail};
use manycore_peers::peer::Variant;

/// Name, runtime, policy. manycore is the first: the others are divided by it.
const CONTESTANTS: [(&str, &str, &str); 10] = [
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

/// Those called `names`, by their own name or their runtime's, and manycore; all if
/// there are no names.
///
/// # Errors
///
/// When a name is nobody's.
pub fn contestants(names: &[String]) -> Result<Vec<Variant>> {
    for name in names {
        let known = |(own, runtime, _): &(&str, &str, &str)| own == name || runtime == name;
        if !CONTESTANTS.iter().any(known) {
            let known: Vec<_> = CONTESTANTS.iter().map(|(own, ..)| *own).collect();
            bail!(
                "--peers: there is no peer `{name}`; expected some of {}",
                known.join(", ")
            );
        }
    }
    let asked = |(own, runtime, _): &(&str, &str, &str)| {
        let by_name = names.iter().any(|name| name == own || name == runtime);
        names.is_empty() || *own == "manycore" || by_name
    };
    Ok(CONTESTANTS
        .into_iter()
        .filter(asked)
        .map(Variant::new)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_names_all_its_contestants_and_manycore_is_always_first() {
        let names = |asked: &str| {
            let variants = contestants(&[asked.to_owned()]).unwrap();
            variants.into_iter().map(|it| it.name).collect::<Vec<_>>()
        };
        assert_eq!(
            names("forkunion"),
            ["manycore", "forkunion", "forkunion-own"]
        );
        assert_eq!(names("tbb"), ["manycore", "tbb"]);
        let message = contestants(&["tokio".to_owned()]).unwrap_err().to_string();
        assert!(message.contains("`tokio`") && message.contains("gomp-passive"));
    }
}
