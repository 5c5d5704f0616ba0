//! The kernel's notation for sets of CPUs: `0,2,4-7`. Users also write affinities so, and then the order counts.

use std::error::Error;
use std::fmt;

/// More CPUs than any kernel supports (Linux on x86-64: 8,192). A damaged `0-99999999999` must not fill the memory.
const MOST_CPUS: usize = 1 << 16;

/// Why a text is not a list of CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CpuListError {
    Empty,
    Item(String),
    Backwards(String),
    TooLarge(String),
}

impl fmt::Display for CpuListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Item(item) => {
                write!(
                    f,
                    "`{item}` is neither a CPU number nor a range such as 4-7"
                )
            }
            Self::Backwards(range) => write!(f, "the range `{range}` runs backwards"),
            Self::TooLarge(item) => {
                let last = MOST_CPUS - 1;
                write!(f, "`{item}` is beyond the largest CPU number, {last}")
            }
        }
    }
}

impl Error for CpuListError {}

/// Parses a list. Keeps its order and repetitions.
pub(super) fn parse(text: &str) -> Result<Vec<usize>, CpuListError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(CpuListError::Empty);
    }
    let mut cpus = Vec::new();
    for item in text.split(',') {
        let item = item.trim();
        let number = |digits: &str| {
            let mut cpu = 0;
            for digit in digits.bytes() {
                if !digit.is_ascii_digit() {
                    return Err(CpuListError::Item(item.to_owned()));
                }
                // Further digits do not make the number smaller.
                cpu = MOST_CPUS.min(10 * cpu + usize::from(digit - b'0'));
            }
            match cpu {
                _ if digits.is_empty() => Err(CpuListError::Item(item.to_owned())),
                MOST_CPUS => Err(CpuListError::TooLarge(item.to_owned())),
                cpu => Ok(cpu),
            }
        };
        match item.split_once('-') {
            None => cpus.push(number(item)?),
            Some((first, last)) => {
                let (first, last) = (number(first.trim())?, number(last.trim())?);
                if last < first {
                    return Err(CpuListError::Backwards(item.to_owned()));
                }
                cpus.extend(first..=last);
            }
        }
    }
    Ok(cpus)
}

/// Formats a list so that [`parse`] returns it. Successive numbers become ranges, and the order stays.
pub(super) fn format(cpus: &[usize]) -> String {
    let mut text = String::new();
    let mut rest = cpus;
    while let Some(&first) = rest.first() {
        let mut last = first;
        while let Some(next) = last
            .checked_add(1)
            .filter(|next| rest.get(next - first) == Some(next))
        {
            last = next;
        }
        rest = &rest[last - first + 1..];
        let comma = if text.is_empty() { "" } else { "," };
        text += &if last > first {
            format!("{comma}{first}-{last}")
        } else {
            format!("{comma}{first}")
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        assert_eq!(parse("0-2,5,7-8\n"), Ok(vec![0, 1, 2, 5, 7, 8]));
        assert_eq!(parse(" 3 "), Ok(vec![3]));
    }

    #[test]
    fn errors_name_the_wrong_item() {
        assert_eq!(parse(""), Err(CpuListError::Empty));
        assert_eq!(parse("0,,1"), Err(CpuListError::Item(String::new())));
        assert_eq!(parse("-1"), Err(CpuListError::Item("-1".into())));
        assert_eq!(parse("+1"), Err(CpuListError::Item("+1".into())));
        assert_eq!(parse("7-4"), Err(CpuListError::Backwards("7-4".into())));
        for large in ["65536", "0-99999999999", "99999999999999999999999"] {
            assert_eq!(parse(large), Err(CpuListError::TooLarge(large.into())));
        }
    }

    #[test]
    fn the_largest_number_ends_a_range() {
        let largest = usize::MAX;
        assert_eq!(format(&[largest, 0]), format!("{largest},0"));
        assert_eq!(
            format(&[largest - 1, largest]),
            format!("{}-{largest}", largest - 1)
        );
    }

    proptest! {
        #[test]
        fn a_written_list_reads_back(cpus in prop::collection::vec(0..MOST_CPUS, 1..40)) {
            prop_assert_eq!(parse(&format(&cpus)), Ok(cpus));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}") {
            let _ = parse(&text);
        }
    }
}
