//! Reads and writes machines as TOML. An error names the line of the wrong value.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;

use toml::Table;
use toml::de::{DeTable, DeValue};

use super::error::Problem;
use super::presets;
use super::sizes;
use super::{Config, ConfigError, bounds};

/// The most bytes of a machine's file. The largest table of distances takes a fifth of this.
const LARGEST_FILE: u64 = 1 << 20;

impl Config {
    /// The machine that `text` describes. Errors call the text `file_name`.
    ///
    /// # Errors
    ///
    /// The error is one line with the file, the line, the key and what was expected.
    pub fn from_toml(text: &str, file_name: &str) -> Result<Self, ConfigError> {
        parse(text).map_err(|(line, problem)| ConfigError::InFile {
            file: file_name.to_owned(),
            line,
            problem: problem.to_string(),
        })
    }

    /// Loads a file if `name_or_path` ends in `.toml`. Otherwise loads the preset of this name.
    ///
    /// # Errors
    ///
    /// Fails as [`Config::from_toml`] does, and if there is no such preset or file.
    pub fn named(name_or_path: &str) -> Result<Self, ConfigError> {
        if !name_or_path.ends_with(".toml") {
            return Self::preset(name_or_path);
        }
        let text = read(name_or_path).map_err(|reason| ConfigError::Unreadable {
            file: name_or_path.to_owned(),
            reason: reason.to_string(),
        })?;
        Self::from_toml(&text, name_or_path)
    }

    /// A preset by its name.
    ///
    /// # Errors
    ///
    /// If there is no preset of this name, the error lists the presets.
    pub fn preset(name: &str) -> Result<Self, ConfigError> {
        let text = Self::preset_toml(name)?;
        Self::from_toml(text, &format!("{name}.toml"))
    }

    /// The TOML of a preset, with its comments. A new machine can begin as a copy of this text.
    ///
    /// ```
    /// use manycore_chip::config::Config;
    ///
    /// let text = Config::preset_toml("dahu")?;
    /// assert_eq!(Config::from_toml(text, "dahu.toml")?, Config::preset("dahu")?);
    /// # Ok::<(), manycore_chip::config::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Config::preset`].
    pub fn preset_toml(name: &str) -> Result<&'static str, ConfigError> {
        presets::text(name).ok_or_else(|| ConfigError::UnknownMachine {
            name: name.to_owned(),
            known: presets::preset_names().collect::<Vec<_>>().join(", "),
        })
    }

    /// The machine as TOML, to be stored with results. [`Config::from_toml`] reads back an equal
    /// machine.
    ///
    /// # Panics
    ///
    /// Panics if code has set a number above 2^63. No loaded machine has such a number.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a machine is tables, numbers and text")
    }
}

fn read(path: &str) -> io::Result<String> {
    let mut text = String::new();
    let file = File::open(path)?;
    file.take(LARGEST_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST_FILE {
        let what = format!("more than {LARGEST_FILE} bytes, which no machine needs");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(text)
}

/// Parses a machine. An error has the number of a line of `text`, from 1.
pub(super) fn parse(text: &str) -> Result<Config, (usize, Problem)> {
    let text = &*sizes::in_bytes(text);
    let line_at = |offset: usize| 1 + text[..offset].matches('\n').count();
    let unread = |error: toml::de::Error| {
        let span = error.span().unwrap_or_default();
        let key = key_around(text, &span);
        let mut what = in_our_words(error.message());
        if let Some((least, most)) = bounds::range(&key) {
            what += &format!(", from {least} to {most}");
        }
        (line_at(span.start), Problem { key, what })
    };
    let placed = |problem: Problem| (line_at(offset_of(text, &problem.key)), problem);
    let values: Table = toml::from_str(text).map_err(unread)?;
    bounds::check(&values).map_err(placed)?;
    let config: Config = toml::from_str(text).map_err(unread)?;
    config.validate().map_err(placed)?;
    Ok(config)
}

/// Replaces serde's words (fields, variants) by the words for a TOML file (keys, values).
fn in_our_words(message: &str) -> String {
    message
        .replace("unknown field", "unknown key")
        .replace("missing field", "missing key")
        .replace("unknown variant", "unknown value")
        .replace("unexpected keys in table: ", "unknown key ")
        .replace("available keys: ", "expected one of ")
        .replace("value was too large", "value was too large, expected one")
        .replace('\n', "; ")
}

/// The dotted key of the innermost value that covers `span`. Empty if no value does.
fn key_around(text: &str, span: &Range<usize>) -> String {
    let Ok(root) = DeTable::parse(text) else {
        return String::new();
    };
    let mut innermost = Vec::new();
    walk(root.get_ref(), &mut Vec::new(), &mut |path, place| {
        if place.start <= span.start && span.end <= place.end {
            innermost = path.to_vec();
        }
    });
    innermost.join(".")
}

/// The offset of the value at a dotted key, or of the innermost table around it.
fn offset_of(text: &str, key: &str) -> usize {
    let Ok(root) = DeTable::parse(text) else {
        return 0;
    };
    let mut best = (0, 0);
    walk(root.get_ref(), &mut Vec::new(), &mut |path, place| {
        let path = path.join(".");
        let around = key == path || key.starts_with(&format!("{path}."));
        if around && path.len() > best.0 {
            best = (path.len(), place.start);
        }
    });
    best.1
}

/// Calls `visit` with the path and the place of each key and value. Outer values come before inner
/// values.
fn walk(
    table: &DeTable<'_>,
    path: &mut Vec<String>,
    visit: &mut impl FnMut(&[String], Range<usize>),
) {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        visit(path, key.span());
        walk_value(value.get_ref(), value.span(), path, visit);
        path.pop();
    }
}

fn walk_value(
    value: &DeValue<'_>,
    place: Range<usize>,
    path: &mut Vec<String>,
    visit: &mut impl FnMut(&[String], Range<usize>),
) {
    visit(path, place);
    match value {
        DeValue::Table(table) => walk(table, path, visit),
        DeValue::Array(array) => {
            for (index, element) in array.iter().enumerate() {
                path.push(index.to_string());
                walk_value(element.get_ref(), element.span(), path, visit);
                path.pop();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error when `line` of a preset's file is replaced by `by`.
    fn refusal(machine: &str, line: &str, by: &str) -> String {
        let text = presets::text(machine).unwrap();
        let line = format!("\n{line}\n");
        assert!(text.contains(&line), "{machine} has no line {line}");
        let text = text.replacen(&line, &format!("\n{by}\n"), 1);
        let error = Config::from_toml(&text, "m.toml").unwrap_err().to_string();
        assert!(!error.contains('\n'), "{error}");
        error
    }

    /// The number of the first line of a preset's file that is equal to `line`.
    fn number_of(machine: &str, line: &str) -> usize {
        presets::text(machine)
            .unwrap()
            .lines()
            .position(|other| other == line)
            .unwrap()
            + 1
    }

    /// A case is a preset, a line of it (`-`), the replacement (`+`), the line that the error names
    /// if it is another line (`@`), and the error.
    #[test]
    fn refusals_name_file_line_key_and_what_was_expected() {
        for case in include_str!("refusals.txt").split("\n\n") {
            let machine = case.lines().next().unwrap();
            let marked = |mark: &str| {
                let lines = case.lines().filter_map(|line| line.strip_prefix(mark));
                lines.collect::<Vec<_>>().join("\n")
            };
            let (line, by, at, problem) = (marked("- "), marked("+ "), marked("@ "), marked("> "));
            let at = if at.is_empty() { &line } else { &at };
            let expected = format!("m.toml:{}: {problem}", number_of(machine, at));
            assert_eq!(refusal(machine, &line, &by), expected, "{case}");
        }
    }

    #[test]
    fn an_error_in_toml_names_its_line() {
        let error = refusal("atac-64", "cores = 64", "cores = ");
        let line = number_of("atac-64", "cores = 64");
        assert!(error.starts_with(&format!("m.toml:{line}: ")), "{error}");
        let error = Config::from_toml("", "m.toml").unwrap_err().to_string();
        assert_eq!(error, "m.toml:1: missing key `name`");
        let error = refusal("atac-64", "cores = 64", "cores = 64\ncores = 32");
        assert!(
            error.starts_with(&format!("m.toml:{}: ", line + 1)),
            "{error}"
        );
    }

    #[test]
    fn hop_by_hop_needs_a_whole_rectangle() {
        let mut chip = Config::preset("atac-64").unwrap();
        chip.set("network.mesh.contention=hop-by-hop").unwrap();
        assert_eq!(
            chip.set("cores=8")
                .and_then(|()| chip.set("cores=7"))
                .unwrap_err()
                .to_string(),
            "--set cores=7: cores: 7, expected a multiple of the mesh's width 2 for hop-by-hop contention, such as 6 or 8"
        );
    }

    proptest::proptest! {
        #[test]
        fn a_damaged_file_is_refused_in_one_line_or_is_a_machine(
            machine in proptest::sample::select(presets::preset_names().collect::<Vec<_>>()),
            (from, length) in (0..5000_usize, 0..40_usize),
            by in "[a-z0-9=\\[\\]{}\".,\n-]{0,4}",
        ) {
            let mut text = presets::text(machine).unwrap().to_owned();
            let from = from % text.len();
            text.replace_range(from..(from + length).min(text.len()), &by);
            match Config::from_toml(&text, "m.toml") {
                Ok(config) => {
                    let echo = Config::from_toml(&config.to_toml(), "echo");
                    proptest::prop_assert_eq!(echo, Ok(config));
                }
                Err(error) => {
                    let error = error.to_string();
                    let rest = error.strip_prefix("m.toml:").unwrap();
                    let line: usize = rest.split_once(':').unwrap().0.parse().unwrap();
                    proptest::prop_assert!(line <= text.lines().count() + 1, "{}", error);
                    proptest::prop_assert!(!error.contains('\n'), "{}", error);
                }
            }
        }
    }
}
