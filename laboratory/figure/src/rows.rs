//! Panels of rows: dots with their ranges, and bars of parts.

use super::canvas::{Anchor, Canvas, Ink, Shape, Stroke};
use super::data::{Axis, DotRow, Value};
use super::font;
use super::frame::Frame;
use super::look::Look;
use super::scale::{Along, Ruler, SIZE, Span, number};

/// The size of a row's label, and the height of a row.
const LABEL: f64 = 7.5;
const ROW: f64 = 10.5;
const RADIUS: f64 = 2.1;
/// Ranges are cut at twice the distance of the farthest value from the reference. The distance counts as at least this
/// fraction of the reference.
const LEAST_ROOM: f64 = 0.05;

/// A panel of rows.
#[derive(Clone, Debug)]
pub(super) struct Rows<'a> {
    x: &'a Axis,
    labels: Vec<&'a str>,
    /// All values that the axis must show.
    values: Vec<f64>,
    kind: Kind<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Kind<'a> {
    Dots {
        marks: &'a [String],
        rows: &'a [DotRow],
        reference: Option<f64>,
    },
    Bars {
        parts: &'a [String],
        rows: &'a [(String, Vec<f64>)],
    },
}

impl<'a> Rows<'a> {
    pub(super) fn dots(
        x: &'a Axis,
        marks: &'a [String],
        rows: &'a [DotRow],
        reference: Option<f64>,
    ) -> Self {
        let dots = || rows.iter().flat_map(|row| row.dots.iter().flatten());
        // Ranges of a few disturbed runs would flatten all dots, so they are cut.
        let far = |reference: f64| {
            let farthest = dots().map(|dot| (dot.at - reference).abs());
            let room = farthest.fold(LEAST_ROOM * reference.abs(), f64::max);
            (reference - 2.0 * room, reference + 2.0 * room)
        };
        let (least, most) = reference.map_or((0.0, f64::INFINITY), far);
        let ends = dots().flat_map(|dot| [dot.low.max(least), dot.at, dot.high.min(most)]);
        Self {
            x,
            labels: rows.iter().map(|row| &*row.label).collect(),
            values: ends.chain(reference).collect(),
            kind: Kind::Dots {
                marks,
                rows,
                reference,
            },
        }
    }

    pub(super) fn bars(x: &'a Axis, parts: &'a [String], rows: &'a [(String, Vec<f64>)]) -> Self {
        let wholes = rows.iter().map(|row| row.1.iter().sum());
        Self {
            x,
            labels: rows.iter().map(|row| &*row.0).collect(),
            values: wholes.chain([0.0]).collect(),
            kind: Kind::Bars { parts, rows },
        }
    }

    pub(super) fn labels(&self) -> &[&'a str] {
        &self.labels
    }

    /// The margin left of the frame.
    pub(super) fn margin(&self) -> f64 {
        let wide = |label: &&str| font::width(label, LABEL, false);
        1.04 * self.labels.iter().map(wide).fold(0.0, f64::max) + 5.0
    }

    pub(super) fn height(&self) -> f64 {
        ROW * self.labels.len() as f64 + 2.0
    }

    /// The names of marks or parts, for the key.
    pub(super) fn key(&self) -> &'a [String] {
        match self.kind {
            Kind::Dots { marks, .. } => marks,
            Kind::Bars { parts, .. } => parts,
        }
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, frame: Frame, labelled: bool) {
        let span = Span {
            axis: self.x,
            values: self.values.clone(),
            from_zero: matches!(self.kind, Kind::Bars { .. }),
            at_values: false,
            power: 0,
        };
        let ruler = Ruler::new(&span, Along::Width(frame.width));
        let middle = |row: usize| frame.top + 1.0 + ROW * (row as f64 + 0.5);
        frame.upright(canvas, &ruler);
        if labelled {
            for (row, label) in self.labels.iter().enumerate() {
                let base = (frame.left - 4.0, middle(row) + 0.35 * LABEL);
                canvas.text(base, *label, LABEL, Anchor::End, Ink::Text);
            }
        }
        match self.kind {
            Kind::Dots {
                marks,
                rows,
                reference,
            } => {
                if let Some(reference) = reference {
                    let x = frame.x(&ruler, reference);
                    let ends = [(x, frame.top), (x, frame.bottom())];
                    canvas.line(&ends, Stroke::solid(Ink::Soft, 0.9));
                }
                for (at, row) in rows.iter().enumerate() {
                    let y = middle(at);
                    let guide = [(frame.left, y), (frame.right(), y)];
                    canvas.line(&guide, Stroke::solid(Ink::Faint, 0.4));
                    for (mark, dot) in row.dots.iter().enumerate() {
                        let Some(value) = dot else { continue };
                        // Dots of a row are one above the other.
                        let down = (mark as f64 - (marks.len() - 1) as f64 / 2.0) * 3.2;
                        let look = Look::of(&marks[mark]);
                        dot_of(canvas, &frame, &ruler, y + down, *value, look);
                    }
                    beyond(canvas, &frame, &ruler, y, row.dots.iter().flatten());
                }
            }
            Kind::Bars { parts, rows } => {
                for (at, (_, values)) in rows.iter().enumerate() {
                    let mut from = 0.0;
                    for (part, value) in parts.iter().zip(values) {
                        let (left, right) = (frame.x(&ruler, from), frame.x(&ruler, from + value));
                        from += value;
                        bar(canvas, (left, right), middle(at), Look::of(part).ink);
                    }
                }
            }
        }
        frame.horizontal(canvas, &ruler);
    }
}

/// Draws a value with its range. A value beyond the axis is drawn at the edge.
fn dot_of(canvas: &mut Canvas, frame: &Frame, ruler: &Ruler, y: f64, value: Value, look: Look) {
    let x = frame.x(ruler, value.at);
    let (low, high) = (frame.x(ruler, value.low), frame.x(ruler, value.high));
    let (left, right) = (low.max(frame.left), high.min(frame.right()));
    if right - left > 2.0 * RADIUS {
        let stroke = Stroke::solid(look.ink, 0.8);
        canvas.line(&[(left, y), (right, y)], stroke);
        // An arrow marks the end of a cut range.
        for (at, end, back) in [(value.low, left, 2.5), (value.high, right, -2.5)] {
            if !ruler.shows(at) {
                let head = [(end + back, y - 1.6), (end, y), (end + back, y + 1.6)];
                canvas.line(&head, stroke);
            }
        }
    }
    look.mark(canvas, (x, y), RADIUS);
}

/// Writes a row's values beyond the axis in one line.
fn beyond<'a>(
    canvas: &mut Canvas,
    frame: &Frame,
    ruler: &Ruler,
    y: f64,
    values: impl Iterator<Item = &'a Value>,
) {
    let far = values.filter(|value| ruler.is_beyond(value.at));
    let texts: Vec<String> = far.map(|value| number(value.at, 2)).collect();
    if !texts.is_empty() {
        let edge = frame.x(ruler, f64::INFINITY);
        let text = texts.join(", ");
        let wide = font::width(&text, SIZE, false) + 1.0;
        // Ranges of the row's other marks end at the edge, under this rectangle.
        let corner = (edge - 5.0 - wide, y - 0.4 * SIZE);
        canvas.rectangle(corner, wide, 0.8 * SIZE, Ink::Paper);
        canvas.text(
            (edge - 5.0, y + 0.35 * SIZE),
            text,
            SIZE,
            Anchor::End,
            Ink::Text,
        );
    }
}

/// Draws a part from its left to its right end.
fn bar(canvas: &mut Canvas, (left, right): (f64, f64), middle: f64, ink: Ink) {
    if right - left < 0.1 {
        return;
    }
    let (top, bottom) = (middle - 0.36 * ROW, middle + 0.36 * ROW);
    canvas.shapes.push(Shape::Path {
        points: vec![(left, top), (right, top), (right, bottom), (left, bottom)],
        closed: true,
        stroke: Some(Stroke::solid(Ink::Soft, 0.4)),
        fill: Some(ink),
    });
}
