//! Numbers in sentences.

/// A relative difference: `0.25` is "25.0% more", `-0.02` "2.0% less".
pub(crate) fn more_or_less(difference: f64) -> String {
    let than = if difference < 0.0 { "less" } else { "more" };
    format!("{:.1}% {than}", 100.0 * difference.abs())
}

/// A number with commas between thousands.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
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
    fn differences_and_lists_are_said() {
        assert_eq!(more_or_less(0.25), "25.0% more");
        assert_eq!(more_or_less(-0.02), "2.0% less");
        let items: Vec<String> = ["a", "b", "c"].map(String::from).into();
        assert_eq!(
            [7, 1_024, 1_000_000].map(count),
            ["7", "1,024", "1,000,000"]
        );
        assert_eq!(list(&items[..1]), "a");
        assert_eq!(list(&items), "a, b and c");
    }
}
