//! Sizes with a unit, such as `size = "64KB"`.

use std::borrow::Cow;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// The units and their bytes. A KB is 1,024 bytes, as usual for caches.
const UNITS: [(&str, u64); 6] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("KB", 1 << 10),
    ("MB", 1 << 20),
    ("GB", 1 << 30),
];

/// The bytes of a number with a unit. `None` for any other text.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = UNITS.iter().find_map(|(name, unit)| {
        let number = text.strip_suffix(name)?;
        Some((number.trim_end(), unit))
    })?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = is_number.then(|| number.parse().ok())??;
    number.checked_mul(*unit)
}

/// The text of a machine with each `size` in bytes instead of a unit. Line numbers do not change.
pub(super) fn in_bytes(text: &str) -> Cow<'_, str> {
    let mut found = Vec::new();
    if let Ok(root) = DeTable::parse(text) {
        find(root.get_ref(), &mut found);
    }
    if found.is_empty() {
        return text.into();
    }
    found.sort_unstable_by_key(|(span, _)| span.start);
    let mut text = text.to_owned();
    for (span, bytes) in found.into_iter().rev() {
        text.replace_range(span, &bytes.to_string());
    }
    text.into()
}

/// Finds the sizes with a unit in a table: their places and bytes.
fn find(table: &DeTable<'_>, found: &mut Vec<(Range<usize>, u64)>) {
    for (key, value) in table {
        match value.get_ref() {
            DeValue::Table(inner) => find(inner, found),
            DeValue::String(text) if key.get_ref() == "size" => {
                found.extend(bytes(text).map(|bytes| (value.span(), bytes)));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    #[test]
    fn a_size_may_have_a_unit() {
        let cases = [
            ("64KB", Some(65_536)),
            (" 2 MiB ", Some(2 << 20)),
            ("1GB", Some(1 << 30)),
            ("64", None),
            ("KB", None),
            ("-1KB", None),
            ("6.5KB", None),
            ("99999999999999999999GB", None),
            ("18446744073709551615GB", None),
        ];
        for (text, expected) in cases {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }

    #[test]
    fn a_setting_and_a_file_take_units() {
        let mut one = Config::preset("dahu").unwrap();
        let mut other = one.clone();
        one.set("l1.size=64KB").unwrap();
        other.set("l1.size=65536").unwrap();
        assert_eq!(one.to_toml(), other.to_toml());
        let text = other.to_toml();
        let with_unit = text.replacen("size = 65536", "size = \"64 KiB\"", 1);
        assert_ne!(text, with_unit);
        let read = Config::from_toml(&with_unit, "own.toml").unwrap();
        assert_eq!(read.to_toml(), text);
        let error = one.set("l1.size=64XB").unwrap_err().to_string();
        assert!(error.contains("l1.size"), "{error}");
    }
}
