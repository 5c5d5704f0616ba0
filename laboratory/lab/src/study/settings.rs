//! The `--set KEY=VALUE` settings of a study.

use super::unknown::unknown;
use crate::failure::bad_input;
use std::collections::BTreeMap;
use std::fmt::Display;

/// A setting that a study knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// The meaning, which `manycore study --help` prints after the name.
    pub(crate) meaning: &'static str,
    /// The smallest and the largest allowed number, if the setting is a whole number.
    range: Option<(u64, u64)>,
}

impl Key {
    /// A setting with a whole number in this range, or a list of such numbers. Without a range the setting is text.
    pub(crate) const fn new(
        name: &'static str,
        meaning: &'static str,
        range: Option<(u64, u64)>,
    ) -> Self {
        Self {
            name,
            meaning,
            range,
        }
    }

    /// The range, which `manycore study --help` prints after the meaning.
    pub(crate) fn range(&self) -> String {
        self.range.map_or_else(String::new, |(least, most)| {
            format!("; from {least} to {}", power(most))
        })
    }
}

/// The settings of a study. Each setting has its name, its smallest and largest value if it is a number, and its
/// meaning. After two dots come the settings that other studies have too.
macro_rules! keys {
    (@range) => { None };
    (@range $least:expr, $most:expr) => { Some(($least, $most)) };
    ($($name:literal $([$least:expr, $most:expr])? $meaning:literal,)* $(.. $($shared:expr),+)?) => {
        &[
            $($crate::study::settings::Key::new(
                $name,
                $meaning,
                $crate::study::settings::keys!(@range $($least, $most)?),
            ),)*
            $($($shared,)+)?
        ]
    };
}

pub(crate) use keys;

/// The most items of a list. Studies combine all items of two or three lists.
const MOST_ITEMS: usize = 64;

/// The most cells of a study. Each cell costs a simulation or a native measurement.
const MOST_CELLS: usize = 100_000;

/// The given settings. Every key is known, and every number is in its range.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings(BTreeMap<&'static str, Value>);

#[derive(Clone, Debug)]
struct Value {
    text: String,
    /// The values of a setting with numbers.
    numbers: Vec<u64>,
}

impl Settings {
    /// Reads `KEY=VALUE` pairs of a study that runs on this host.
    pub(crate) fn parse(pairs: &[String], known: &[Key]) -> anyhow::Result<Self> {
        let mut settings = BTreeMap::new();
        for pair in pairs {
            let Some((name, text)) = pair.split_once('=') else {
                return Err(bad_input(format!("--set {pair}: expected KEY=VALUE")));
            };
            let (name, text) = (name.trim(), text.trim());
            let Some(key) = known.iter().find(|known| known.name == name) else {
                return Err(unknown(pair, name, known, false));
            };
            let numbers = match key.range {
                Some(range) => numbers(name, text, range)?,
                None => Vec::new(),
            };
            let text = text.to_owned();
            let before = settings.insert(key.name, Value { text, numbers });
            if before.is_some() {
                return Err(bad_input(format!("--set {pair}: `{name}` is given twice")));
            }
        }
        Ok(Self(settings))
    }

    /// The text of a setting, if given.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|value| &*value.text)
    }

    /// A whole number in the range of its key.
    pub(crate) fn number(&self, key: &str) -> anyhow::Result<Option<u64>> {
        match self.numbers(key).as_deref() {
            None => Ok(None),
            Some(&[number]) => Ok(Some(number)),
            Some(_) => Err(bad_input(format!("--set {key}: expected one number"))),
        }
    }

    /// Whole numbers in the range of their key. There is at least one number, and each occurs once.
    pub(crate) fn numbers(&self, key: &str) -> Option<Vec<u64>> {
        self.0.get(key).map(|value| value.numbers.clone())
    }

    /// Returns the items between commas, parsed by `parse`. Each occurs once.
    pub(crate) fn list<T: PartialEq, E: Display>(
        &self,
        key: &str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> anyhow::Result<Option<Vec<T>>> {
        let Some(text) = self.text(key) else {
            return Ok(None);
        };
        let items = distinct(key, text, |part| {
            parse(part).map_err(|error| bad_input(format!("--set {key}: {error}")))
        })?;
        Ok(Some(items))
    }
}

/// Refuses a study with too many cells. Their number is the product of `counts`.
pub(crate) fn bounded(counts: &[usize]) -> anyhow::Result<()> {
    let product = counts.iter().try_fold(1, |a: usize, &b| a.checked_mul(b));
    match product {
        Some(cells) if cells <= MOST_CELLS => Ok(()),
        _ => {
            let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
            Err(bad_input(format!(
                "--set: the lists make {} cells; expected at most {MOST_CELLS}",
                counts.join(" x ")
            )))
        }
    }
}

/// Refuses numbers that are each in range but have too large a product.
pub(crate) fn product(what: &str, factors: &[u64], most: u64) -> anyhow::Result<()> {
    let all = factors.iter().try_fold(1, |a: u64, &b| a.checked_mul(b));
    match all {
        Some(all) if all <= most => Ok(()),
        _ => {
            let factors: Vec<String> = factors.iter().map(|&factor| power(factor)).collect();
            Err(bad_input(format!(
                "{what}: {}; expected at most {}",
                factors.join(" x "),
                power(most)
            )))
        }
    }
}

/// Returns the parts between the commas, each once.
fn distinct<T: PartialEq>(
    key: &str,
    text: &str,
    parse: impl Fn(&str) -> anyhow::Result<T>,
) -> anyhow::Result<Vec<T>> {
    let mut items = Vec::new();
    for part in text.split(',') {
        let item = parse(part.trim())?;
        if items.contains(&item) {
            continue;
        }
        if items.len() == MOST_ITEMS {
            let what = format!("--set {key}: the list has more than {MOST_ITEMS} items");
            return Err(bad_input(what));
        }
        items.push(item);
    }
    Ok(items)
}

fn numbers(key: &str, text: &str, (least, most): (u64, u64)) -> anyhow::Result<Vec<u64>> {
    distinct(key, text, |part| number(key, part, least, most))
}

fn number(key: &str, text: &str, least: u64, most: u64) -> anyhow::Result<u64> {
    match whole(text) {
        Some(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(bad_input(format!(
            "--set {key}: `{text}` is not a whole number from {least} to {}; write it as 1024 or 2^10",
            power(most)
        ))),
    }
}

/// Parses `1024`, `1_000_000`, `2^10` or `1024^3`.
fn whole(text: &str) -> Option<u64> {
    let digits = |text: &str| {
        let plain = text.replace('_', "");
        // `parse` would accept a sign.
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

/// Formats a number. A power of two from 2^13 on becomes `2^n`.
pub(crate) fn power(number: u64) -> String {
    match number.is_power_of_two() && number >= 1 << 13 {
        true => format!("2^{}", number.trailing_zeros()),
        false => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &[Key] = keys!["n" [1, 10] "", "reads" [1, 1 << 16] "",];

    fn parse(pairs: &[&str]) -> anyhow::Result<Settings> {
        let pairs: Vec<String> = pairs.iter().map(|&pair| pair.into()).collect();
        Settings::parse(&pairs, KEYS)
    }

    #[test]
    fn numbers_may_have_underscores_and_exponents() {
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
        assert_eq!(settings.number("n").unwrap(), Some(8));
        assert_eq!(settings.numbers("reads"), Some(vec![64, 1024]));
        for (pairs, part) in [
            (&["n"][..], "expected KEY=VALUE"),
            (&["m=1"], "expected one of n, reads"),
            (&["n=1", "n=2"], "twice"),
            (&["n=0"], "from 1 to 10"),
            (&["reads=1,65537"], "from 1 to 2^16"),
            (&["reads="], "from 1 to 2^16"),
        ] {
            let error = parse(pairs).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let error = parse(&["n=1,2"]).unwrap().number("n").unwrap_err();
        assert!(error.to_string().contains("expected one number"), "{error}");
    }

    #[test]
    fn lists_and_their_products_are_bounded() {
        let list = |items: u64| {
            let items: Vec<String> = (1..=items).map(|item| item.to_string()).collect();
            parse(&[&format!("reads={},1,2", items.join(","))])
        };
        assert_eq!(list(64).unwrap().numbers("reads").unwrap().len(), 64);
        let error = list(65).unwrap_err().to_string();
        assert!(
            error.contains("--set reads") && error.contains("64"),
            "{error}"
        );
        assert!(bounded(&[100, 10, 100]).is_ok());
        for counts in [&[100, 10, 101][..], &[usize::MAX, 2]] {
            let error = bounded(counts).unwrap_err().to_string();
            assert!(error.contains("100000"), "{error}");
        }
        assert!(product("n x reads", &[1 << 10, 1 << 10], 1 << 20).is_ok());
        let error = product("n x reads", &[1 << 40, 1 << 40], 1 << 20).unwrap_err();
        let expected = "n x reads: 2^40 x 2^40; expected at most 2^20";
        assert_eq!(error.to_string(), expected);
    }
}
