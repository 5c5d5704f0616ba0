//! The `--set KEY=VALUE` settings of a study.

use crate::failure::bad_input;
use std::collections::BTreeMap;

/// A setting that a study knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// For `manycore study --help`, after the name.
    pub(crate) meaning: &'static str,
}

/// The settings given, every key of them known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings(BTreeMap<String, String>);

impl Settings {
    /// Reads `KEY=VALUE` pairs.
    pub(crate) fn parse(pairs: &[String], known: &[Key]) -> anyhow::Result<Self> {
        let mut settings = BTreeMap::new();
        for pair in pairs {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(bad_input(format!("--set {pair}: expected KEY=VALUE")));
            };
            let (key, value) = (key.trim(), value.trim());
            if !known.iter().any(|known| known.name == key) {
                let names: Vec<&str> = known.iter().map(|known| known.name).collect();
                let names = names.join(", ");
                return Err(bad_input(format!(
                    "--set {pair}: unknown key `{key}`; expected one of {names}"
                )));
            }
            if settings.insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(bad_input(format!("--set {pair}: `{key}` is given twice")));
            }
        }
        Ok(Self(settings))
    }

    /// The text of a setting, if given.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// A whole number from 1 to `most`.
    pub(crate) fn number(&self, key: &str, most: u64) -> anyhow::Result<Option<u64>> {
        self.text(key)
            .map(|text| number(key, text, 1, most))
            .transpose()
    }

    /// Whole numbers from `least` to `most`, separated by commas; each once.
    pub(crate) fn numbers(
        &self,
        key: &str,
        least: u64,
        most: u64,
    ) -> anyhow::Result<Option<Vec<u64>>> {
        let Some(text) = self.text(key) else {
            return Ok(None);
        };
        let mut numbers = Vec::new();
        for part in text.split(',') {
            let value = number(key, part.trim(), least, most)?;
            if !numbers.contains(&value) {
                numbers.push(value);
            }
        }
        Ok(Some(numbers))
    }

    /// Items separated by commas, read by `parse`; each once.
    pub(crate) fn list<T: PartialEq>(
        &self,
        key: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> anyhow::Result<Option<Vec<T>>> {
        let Some(text) = self.text(key) else {
            return Ok(None);
        };
        let mut items = Vec::new();
        for part in text.split(',') {
            let item =
                parse(part.trim()).map_err(|error| bad_input(format!("--set {key}: {error}")))?;
            if !items.contains(&item) {
                items.push(item);
            }
        }
        Ok(Some(items))
    }
}

fn number(key: &str, text: &str, least: u64, most: u64) -> anyhow::Result<u64> {
    match whole(text) {
        Some(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(bad_input(format!(
            "--set {key}: `{text}` is no whole number from {least} to {}; write it as 1024 or 2^10",
            power(most)
        ))),
    }
}

/// `1024`, `1_000_000` or, as the document writes sizes, `2^10` and `1024^3`.
fn whole(text: &str) -> Option<u64> {
    let digits = |text: &str| {
        let plain = text.replace('_', "");
        // `parse` would take a sign.
        plain
            .chars()
            .all(|c| c.is_ascii_digit())
            .then_some(plain)?
            .parse::<u64>()
            .ok()
    };
    match text.split_once('^') {
        None => digits(text),
        Some((base, exponent)) => digits(base)?.checked_pow(u32::try_from(digits(exponent)?).ok()?),
    }
}

/// A number as a reader wants it: a power of two from 2^13 on as such.
pub(crate) fn power(number: u64) -> String {
    match number.is_power_of_two() && number >= 1 << 13 {
        true => format!("2^{}", number.trailing_zeros()),
        false => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [Key; 2] = [
        Key {
            name: "n",
            meaning: "",
        },
        Key {
            name: "reads",
            meaning: "",
        },
    ];

    fn parse(pairs: &[&str]) -> anyhow::Result<Settings> {
        let pairs: Vec<String> = pairs.iter().map(|&pair| pair.into()).collect();
        Settings::parse(&pairs, &KEYS)
    }

    #[test]
    fn numbers_are_read_as_the_document_writes_them() {
        assert_eq!(whole("1024"), Some(1024));
        assert_eq!(whole("1_000"), Some(1000));
        assert_eq!(whole("2^10"), Some(1024));
        assert_eq!(whole("1024^6"), Some(1 << 60));
        for text in [
            "", "-1", "+1", "1.5", "NaN", "2^64", "2^", "^2", "1e3", "inf",
        ] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn settings_are_checked() {
        let settings = parse(&["n=8", "reads=64, 2^10,64"]).unwrap();
        assert_eq!(settings.number("n", 10).unwrap(), Some(8));
        assert_eq!(
            settings.numbers("reads", 1, 1 << 16).unwrap(),
            Some(vec![64, 1024])
        );
        for (pairs, part) in [
            (&["n"][..], "expected KEY=VALUE"),
            (&["m=1"], "expected one of n, reads"),
            (&["n=1", "n=2"], "twice"),
        ] {
            let error = parse(pairs).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let error = parse(&["n=0"]).unwrap().number("n", 10).unwrap_err();
        assert!(error.to_string().contains("from 1 to 10"), "{error}");
    }
}
