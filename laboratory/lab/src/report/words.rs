//! Numbers in sentences.

pub(crate) use manycore_figure::count;

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
    fn differences_and_lists_in_words() {
        assert_eq!(more_or_less(0.25), "25.0% more");
        assert_eq!(more_or_less(-0.02), "2.0% less");
        let items: Vec<String> = ["a", "b", "c"].map(String::from).into();
        assert_eq!(list(&items[..1]), "a");
        assert_eq!(list(&items), "a, b and c");
    }
}
