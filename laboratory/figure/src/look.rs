//! Colours and markers: one for each name, the same in all figures.

use super::canvas::{Anchor, Canvas, Ink, Shape, Stroke};
use std::fmt::Write as _;

/// The colour and marker of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    pub(super) ink: Ink,
    pub(super) marker: Marker,
}

/// A form, filled or not, so that markers differ without colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    form: Form,
    filled: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Disc,
    Square,
    Triangle,
    Diamond,
    Funnel,
}

const fn filled(form: Form) -> Marker {
    Marker { form, filled: true }
}

const fn hollow(form: Form) -> Marker {
    Marker {
        form,
        filled: false,
    }
}

/// Markers of names that are not in `NAMES`.
const MARKERS: [Marker; 10] = {
    use Form::*;
    [
        hollow(Disc),
        filled(Square),
        hollow(Triangle),
        filled(Diamond),
        hollow(Funnel),
        filled(Disc),
        hollow(Square),
        filled(Triangle),
        hollow(Diamond),
        filled(Funnel),
    ]
};

/// Each hue on paper and on a dark screen. Blue, vermilion, green and purple follow the set of
/// Okabe and Ito (2008), but are darker, so that thin lines are visible on white.
const HUES: [(&str, &str); 8] = [
    ("#0067a5", "#5eb3f0"),
    ("#c44601", "#ff8f4d"),
    ("#007a5a", "#3fcf9e"),
    ("#a63d85", "#ee92d0"),
    ("#8a6d00", "#e0bd3f"),
    ("#5b4bb7", "#aa9cff"),
    ("#7a3b2e", "#d99a88"),
    ("#4f5b66", "#a9b8c6"),
];

/// The other inks on paper and on a dark screen.
const TEXT: (&str, &str) = ("#1b1b1b", "#e8e6e1");
const SOFT: (&str, &str) = ("#555555", "#b3b0a9");
const FAINT: (&str, &str) = ("#dedede", "#3b3e44");
const PAPER: (&str, &str) = ("#ffffff", "#16181c");

/// Names in figures, with hue and marker. The names of one family can be in the same panel.
const NAMES: &[(&str, usize, Marker)] = {
    use Form::*;
    &[
        // Barriers.
        ("channel", 1, filled(Disc)),
        ("sense", 7, filled(Square)),
        ("sense-on-a-line", 7, hollow(Square)),
        ("futex", 4, filled(Triangle)),
        ("glibc-2011", 4, hollow(Triangle)),
        ("dissemination", 0, filled(Diamond)),
        ("combining", 2, filled(Funnel)),
        ("tournament", 5, hollow(Square)),
        ("mcs", 6, hollow(Triangle)),
        ("spin-sleep", 3, hollow(Diamond)),
        ("counted", 2, hollow(Disc)),
        ("grouped", 3, filled(Square)),
        ("default", 0, hollow(Funnel)),
        ("closed form of channel", 1, hollow(Disc)),
        // Disciplines of work stealing. "ours" also names manycore in other families.
        ("ours", 0, filled(Disc)),
        ("global-queue", 7, filled(Square)),
        ("random", 2, filled(Triangle)),
        ("offer-mutex", 4, hollow(Diamond)),
        ("offer-cas", 1, filled(Diamond)),
        // Ways to choose a block, besides "ours".
        ("document", 7, hollow(Disc)),
        ("published", 1, filled(Square)),
        ("refitted", 4, filled(Triangle)),
        ("prices-alone", 3, hollow(Diamond)),
        ("taskflow-rule", 5, filled(Funnel)),
        ("adaptive", 2, filled(Diamond)),
        // Sleep policies.
        ("packed", 7, filled(Square)),
        ("packed-padded", 7, hollow(Square)),
        ("split", 2, filled(Triangle)),
        ("split-padded", 2, hollow(Triangle)),
        ("split-sleepers", 3, filled(Triangle)),
        ("split-sleepers-padded", 3, hollow(Triangle)),
        ("nojec", 1, filled(Diamond)),
        ("nojec-padded", 1, hollow(Diamond)),
        ("nojec-sleepers", 4, filled(Diamond)),
        ("nojec-sleepers-padded", 4, hollow(Diamond)),
        ("lazy-inactive", 5, filled(Funnel)),
        ("no-inactive", 6, filled(Funnel)),
        // Threads on fewer cores, and bounds for them.
        ("tr", 7, filled(Square)),
        ("tp", 1, filled(Triangle)),
        ("tp-pinned", 4, filled(Funnel)),
        ("tp-passive", 6, hollow(Triangle)),
        ("libomp", 3, filled(Square)),
        ("elastic", 0, filled(Disc)),
        ("wrap", 2, filled(Diamond)),
        ("ideal", 7, hollow(Disc)),
        ("fair sharing", 3, hollow(Diamond)),
        ("pinned", 5, hollow(Square)),
        // A runtime that other names' colours would hide.
        ("tbb", 4, hollow(Diamond)),
        // The parts of a simulated core's time.
        ("compute", 0, filled(Square)),
        ("own caches", 2, filled(Square)),
        ("other caches", 5, filled(Square)),
        ("memory", 6, filled(Square)),
        ("atomic", 4, filled(Square)),
        ("serialised", 1, filled(Square)),
        ("spin, message", 7, filled(Square)),
        ("kernel", 3, filled(Square)),
        // The parts of a native thread's time.
        ("user", 0, filled(Square)),
        ("system", 4, filled(Square)),
        ("I/O", 3, filled(Square)),
    ]
};

/// The part of a time without work, which has no colour.
const IDLE: &str = "idle";

impl Look {
    /// The look of a name, from `NAMES` or derived from the name.
    pub(super) fn of(name: &str) -> Self {
        if name == IDLE {
            return Self {
                ink: Ink::Faint,
                marker: filled(Form::Square),
            };
        }
        let listed = NAMES.iter().find(|listed| listed.0 == name);
        let (hue, marker) = match (listed, leading_count(name)) {
            (Some(&(_, hue, marker)), _) => (hue, marker),
            // Names such as "4 threads" have consecutive looks for 1, 2, 4, ...
            (None, Some(count)) => {
                let at = count.max(1).ilog2() as usize;
                (at % HUES.len(), MARKERS[at % MARKERS.len()])
            }
            (None, None) => {
                let hash = name.bytes().fold(5381_usize, |hash, byte| {
                    hash.wrapping_mul(33) ^ usize::from(byte)
                });
                (hash % HUES.len(), MARKERS[hash / 8 % MARKERS.len()])
            }
        };
        Self {
            ink: Ink::Hue(hue),
            marker,
        }
    }

    /// Draws the marker.
    pub(super) fn mark(self, canvas: &mut Canvas, at: (f64, f64), radius: f64) {
        let fill = if self.marker.filled {
            self.ink
        } else {
            Ink::Paper
        };
        let (x, y) = at;
        let r = radius;
        let points = match self.marker.form {
            Form::Disc => {
                canvas.shapes.push(Shape::Disc {
                    centre: at,
                    radius: r,
                    stroke: Stroke::solid(self.ink, 0.9),
                    fill,
                });
                return;
            }
            Form::Square => {
                let r = 0.9 * r;
                vec![
                    (x - r, y - r),
                    (x + r, y - r),
                    (x + r, y + r),
                    (x - r, y + r),
                ]
            }
            Form::Triangle => {
                vec![
                    (x, y - 1.2 * r),
                    (x + 1.15 * r, y + 0.8 * r),
                    (x - 1.15 * r, y + 0.8 * r),
                ]
            }
            Form::Diamond => {
                let r = 1.25 * r;
                vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)]
            }
            Form::Funnel => {
                vec![
                    (x, y + 1.2 * r),
                    (x - 1.15 * r, y - 0.8 * r),
                    (x + 1.15 * r, y - 0.8 * r),
                ]
            }
        };
        canvas.shapes.push(Shape::Path {
            points,
            closed: true,
            stroke: Some(Stroke::solid(self.ink, 0.9)),
            fill: Some(fill),
        });
    }

    /// Draws a name with its marker, whose middle is at `at`.
    pub(super) fn label(self, canvas: &mut Canvas, at: (f64, f64), name: &str, size: f64) {
        self.mark(canvas, at, 2.2);
        let base = (at.0 + 5.0, at.1 + 0.35 * size);
        canvas.text(base, name, size, Anchor::Start, Ink::Text);
    }
}

/// The number that a name begins with.
fn leading_count(name: &str) -> Option<usize> {
    let digits = name.find(|c: char| !c.is_ascii_digit())?;
    name[..digits].parse().ok()
}

/// The colours of an ink on paper and on a dark screen.
fn colours(ink: Ink) -> (&'static str, &'static str) {
    match ink {
        Ink::Text => TEXT,
        Ink::Soft => SOFT,
        Ink::Faint => FAINT,
        Ink::Paper => PAPER,
        Ink::Hue(hue) => HUES[hue % HUES.len()],
    }
}

/// A colour on paper, as `#rrggbb`.
pub(super) fn on_paper(ink: Ink) -> &'static str {
    colours(ink).0
}

/// The name of an ink in a style sheet.
pub(super) fn class(ink: Ink) -> String {
    match ink {
        Ink::Text => "t".into(),
        Ink::Soft => "s".into(),
        Ink::Faint => "g".into(),
        Ink::Paper => "p".into(),
        Ink::Hue(hue) => format!("h{hue}"),
    }
}

/// The style sheet for dark pages.
pub fn style_sheet() -> String {
    let mut rules = String::new();
    let hues = (0..HUES.len()).map(Ink::Hue);
    for ink in [Ink::Text, Ink::Soft, Ink::Faint, Ink::Paper]
        .into_iter()
        .chain(hues)
    {
        let (class, dark) = (class(ink), colours(ink).1);
        let _ = writeln!(
            rules,
            "svg .s-{class} {{ stroke: {dark}; }} svg .f-{class} {{ fill: {dark}; }}"
        );
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative luminance by WCAG 2.
    fn luminance(colour: &str) -> f64 {
        let part = |at| {
            let byte = u8::from_str_radix(&colour[at..at + 2], 16).unwrap();
            let value = f64::from(byte) / 255.0;
            match value <= 0.04045 {
                true => value / 12.92,
                false => ((value + 0.055) / 1.055).powf(2.4),
            }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_line_is_visible_on_paper_and_on_dark_screens() {
        for (paper, dark) in HUES.into_iter().chain([TEXT, SOFT]) {
            assert!(contrast(paper, PAPER.0) >= 4.5, "{paper}");
            assert!(contrast(dark, PAPER.1) >= 4.5, "{dark}");
        }
    }

    #[test]
    fn no_two_names_of_a_family_look_the_same() {
        let policies = manycore_programs::sleep::policies();
        let families: [Vec<&str>; 4] = [
            manycore_programs::barrier::barriers(),
            manycore_programs::stealing::disciplines(),
            {
                let mut names: Vec<&str> = policies.iter().map(|policy| policy.0).collect();
                names.dedup();
                names.sort_unstable();
                names.dedup();
                names
            },
            vec!["tr", "tp", "tp-pinned", "elastic", "wrap"],
        ];
        for family in families {
            for (at, name) in family.iter().enumerate() {
                assert!(
                    NAMES.iter().any(|listed| listed.0 == *name),
                    "`{name}` has no colour and marker: add a line to NAMES"
                );
                for other in &family[..at] {
                    assert_ne!(Look::of(name), Look::of(other), "{name} and {other}");
                }
            }
        }
    }

    #[test]
    fn a_name_without_an_entry_always_has_the_same_look() {
        assert_eq!(Look::of("something new"), Look::of("something new"));
        assert_ne!(Look::of("1 thread"), Look::of("2 threads"));
        assert_ne!(Look::of("2 threads"), Look::of("16 threads"));
    }
}
