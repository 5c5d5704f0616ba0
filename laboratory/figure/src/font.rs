//! The width of text in Helvetica and its substitutes (Arial, Liberation Sans, Nimbus Sans), from
//! the widths that Adobe publishes for its standard fonts.

/// The widths of the printable ASCII characters from the space on, in thousandths of the size. The
/// comment of each row names its last character.
const REGULAR: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, // to /
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, // to ?
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, // to O
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, // to _
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, // to o
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, // to ~
];

/// The same widths in bold.
const BOLD: [u16; 95] = [
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, // to /
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, // to ?
    975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833, 722, 778, // to O
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556, // to _
    333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, // to o
    611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584, // to ~
];

/// The width of a line of text.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let table = if bold { &BOLD } else { &REGULAR };
    let of = |character: char| {
        let at = (character as usize).wrapping_sub(' ' as usize);
        // A mean width for all other characters, such as letters with accents.
        f64::from(table.get(at).copied().unwrap_or(600))
    };
    text.chars().map(of).sum::<f64>() * size / 1000.0
}

/// Breaks text into lines of at most `room`. A longer word has its own line.
pub(super) fn wrap(text: &str, size: f64, bold: bool, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(line) = lines.last_mut() {
            let longer = format!("{line} {word}");
            if width(&longer, size, bold) <= room {
                *line = longer;
                continue;
            }
        }
        lines.push(word.to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_helveticas() {
        assert_eq!(width("0", 10.0, false), 5.56);
        assert!((width("Wait~", 1000.0, false) - 2584.0).abs() < 1e-9);
        assert!(width("wait", 10.0, true) > width("wait", 10.0, false));
    }

    #[test]
    fn lines_are_no_longer_than_the_room() {
        let text = "ten words of some length that do not fit here";
        let lines = wrap(text, 8.0, false, 60.0);
        assert!(lines.len() > 2);
        assert!(lines.iter().all(|line| width(line, 8.0, false) <= 60.0));
        assert_eq!(lines.join(" "), text);
    }
}
