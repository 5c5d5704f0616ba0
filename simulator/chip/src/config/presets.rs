//! The machines that come with the crate, and measurements of real machines.

/// To add a machine, put its file into `presets/` and add a line here.
const PRESETS: &[(&str, &str)] = &[
    ("atac-64", include_str!("../../presets/atac-64.toml")),
    ("w3225r", include_str!("../../presets/w3225r.toml")),
    ("gold5225r", include_str!("../../presets/gold5225r.toml")),
    ("dahu", include_str!("../../presets/dahu.toml")),
    ("dahu-smt", include_str!("../../presets/dahu-smt.toml")),
    (
        "dahu-governed",
        include_str!("../../presets/dahu-governed.toml"),
    ),
    ("tr3970x", include_str!("../../presets/tr3970x.toml")),
    ("e5-2640x2", include_str!("../../presets/e5-2640x2.toml")),
    (
        "opteron-6172",
        include_str!("../../presets/opteron-6172.toml"),
    ),
    (
        "westmere-ex",
        include_str!("../../presets/westmere-ex.toml"),
    ),
    ("niagara-2", include_str!("../../presets/niagara-2.toml")),
    ("tilegx-36", include_str!("../../presets/tilegx-36.toml")),
    (
        "skylake-6700hq",
        include_str!("../../presets/skylake-6700hq.toml"),
    ),
    (
        "icelake-1035g4",
        include_str!("../../presets/icelake-1035g4.toml"),
    ),
    (
        "graviton-a72",
        include_str!("../../presets/graviton-a72.toml"),
    ),
    (
        "graviton2-64",
        include_str!("../../presets/graviton2-64.toml"),
    ),
    (
        "graviton4-96",
        include_str!("../../presets/graviton4-96.toml"),
    ),
    (
        "milan-7r13x2",
        include_str!("../../presets/milan-7r13x2.toml"),
    ),
    (
        "sapphire-rapids-8470x2",
        include_str!("../../presets/sapphire-rapids-8470x2.toml"),
    ),
    (
        "kunpeng-920",
        include_str!("../../presets/kunpeng-920.toml"),
    ),
];

/// Latencies of operations on a cache line by its state and distance, in cycles (David, Guerraoui, Trigonakis, SOSP'13,
/// tables 2 and 3). Columns: `machine,operation,state,distance,cycles`. The machine is a preset's name. A load from a
/// local cache or from memory has the state `L1`, `L2`, `LLC` or `RAM`, and the distance `local`.
pub const PUBLISHED_SOSP13: &str = include_str!("../../presets/published/sosp13.csv");

/// The time of a thread's increment of a contended counter, in nanoseconds: medians of 15 trials (T. Downs, "A
/// Concurrency Cost Hierarchy", 2020, and the results published with its program). Columns:
/// `machine,operation,threads,ns,fit`. `fit` is `fitted` if values of the preset were fitted to the row, and `unseen`
/// otherwise.
pub const PUBLISHED_CONTENDED: &str = include_str!("../../presets/published/contended.csv");

/// Further measurements of real machines: load latencies by pointer chase, hand-overs of a word between cores,
/// messages, stores to a line of all cores and a lock, in nanoseconds, and bandwidths by number of cores, in GB/s.
/// Columns:
/// `machine,measure,place,figure,fit,source`.
pub const PUBLISHED_SERVERS: &str = include_str!("../../presets/published/servers.csv");

/// The names that [`Config::preset`](super::Config::preset) knows.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|&(name, _)| name)
}

pub(super) fn text(name: &str) -> Option<&'static str> {
    PRESETS
        .iter()
        .find(|&&(known, _)| known == name)
        .map(|&(_, text)| text)
}

#[cfg(test)]
mod tests {
    use toml::{Table, Value};

    use super::super::{Config, ConfigError};
    use super::*;

    /// The dotted keys of all values. A list is one value.
    fn leaves(table: &Table, above: &str, found: &mut Vec<String>) {
        for (key, value) in table {
            let key = if above.is_empty() {
                key.clone()
            } else {
                format!("{above}.{key}")
            };
            match value {
                Value::Table(table) => leaves(table, &key, found),
                _ => found.push(key),
            }
        }
    }

    #[test]
    fn every_preset_loads_and_its_output_loads_as_the_same_machine() {
        for name in preset_names() {
            let config = Config::preset(name).unwrap();
            assert_eq!(config.name, name);
            assert_eq!(
                Config::from_toml(&config.to_toml(), "echo").unwrap(),
                config
            );
        }
    }

    #[test]
    fn every_value_of_a_preset_has_a_source_and_every_source_a_value() {
        for name in preset_names() {
            let config = Config::preset(name).unwrap();
            let mut table = Table::try_from(&config).unwrap();
            table.remove("sources");
            let mut keys = Vec::new();
            leaves(&table, "", &mut keys);
            let covers = |source: &str, key: &str| {
                key == source
                    || key
                        .strip_prefix(source)
                        .is_some_and(|rest| rest.starts_with('.'))
            };
            for key in &keys {
                assert!(
                    config.sources.keys().any(|source| covers(source, key)),
                    "{name}: {key}"
                );
            }
            for (source, citation) in &config.sources {
                assert!(
                    keys.iter().any(|key| covers(source, key)),
                    "{name}: {source}"
                );
                assert!(!citation.is_empty(), "{name}: {source}");
            }
        }
    }

    #[test]
    fn published_rows_name_presets() {
        for (table, columns, figure) in [
            (PUBLISHED_SOSP13, 5, 4),
            (PUBLISHED_CONTENDED, 5, 3),
            (PUBLISHED_SERVERS, 6, 3),
        ] {
            for line in table.lines().skip(1) {
                let fields: Vec<&str> = line.split(',').collect();
                assert_eq!(fields.len(), columns, "{line}");
                assert!(text(fields[0]).is_some(), "{line}");
                assert!(fields[figure].parse::<f64>().unwrap() > 0.0, "{line}");
                if figure == 3 {
                    assert!(["fitted", "unseen"].contains(&fields[4]), "{line}");
                }
            }
        }
    }

    #[test]
    fn an_unknown_name_is_an_error_that_lists_the_presets() {
        let error = Config::named("atac64").unwrap_err();
        assert!(matches!(&error, ConfigError::UnknownMachine { name, .. } if name == "atac64"));
        assert!(
            error.to_string().starts_with(
                "no machine `atac64`, expected a path ending in .toml or one of atac-64, w3225r,"
            ),
            "{error}"
        );
        let error = Config::named("/nowhere/m.toml").unwrap_err().to_string();
        assert!(error.starts_with("/nowhere/m.toml: "), "{error}");
    }
}
