//! Numbers in sentences.

pub(crate) use manycore_figure::count;

/// A number with `decimals`. A number that rounds to 0 has no sign.
pub(crate) fn fixed(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.trim_matches(['0', '.']).is_empty() => rest.to_owned(),
        _ => text,
    }
}

/// As [`fixed`], with `+` before a positive number.
pub(crate) fn signed(number: f64, decimals: usize) -> String {
    let text = fixed(number, decimals);
    let is_positive = number > 0.0 && !text.trim_matches(['0', '.']).is_empty();
    if is_positive {
        format!("+{text}")
    } else {
        text
    }
}

/// A relative difference in words: `0.25` is "25.0% more", `-0.02` "2.0% less".
pub(crate) fn more_or_less(difference: f64) -> String {
    let than = if difference < 0.0 { "less" } else { "more" };
    format!("{:.1}% {than}", 100.0 * difference.abs())
}

/// "a", "a and b", "a, b and c".
pub(crate) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_rounds_to_zero_has_no_sign() {
        let fixed = [-0.04, 0.04, -0.06, -10.0].map(|number| fixed(number, 1));
        assert_eq!(fixed, ["0.0", "0.0", "-0.1", "-10.0"]);
        let signed = [-0.04, 0.04, 0.06, 10.0].map(|number| signed(number, 1));
        assert_eq!(signed, ["0.0", "0.0", "+0.1", "+10.0"]);
    }

    #[test]
    fn differences_and_lists_in_words() {
        assert_eq!(more_or_less(0.25), "25.0% more");
        assert_eq!(more_or_less(-0.02), "2.0% less");
        let items: Vec<String> = ["a", "b", "c"].map(String::from).into();
        assert_eq!(list(&items[..1]), "a");
        assert_eq!(list(&items), "a, b and c");
    }
}
