//! Shapes on a sheet, independent of the file format.

use super::font;

/// The purpose of a colour. Paper and screen have different colours for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Text,
    /// Notes and axes.
    Soft,
    /// Grid lines.
    Faint,
    /// The background.
    Paper,
    /// A colour of `look`.
    Hue(usize),
}

/// The style of an outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stroke {
    pub(super) ink: Ink,
    pub(super) width: f64,
    pub(super) dashed: bool,
}

/// The position of a text relative to its given point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Lengths are in points, a 72nd of an inch. The coordinate y grows downwards.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Path {
        points: Vec<(f64, f64)>,
        closed: bool,
        stroke: Option<Stroke>,
        fill: Option<Ink>,
    },
    /// An area that lets others show through.
    Band {
        points: Vec<(f64, f64)>,
        ink: Ink,
        /// From 0 to 1.
        opacity: f64,
    },
    Disc {
        centre: (f64, f64),
        radius: f64,
        stroke: Stroke,
        fill: Ink,
    },
    Text {
        /// A point on the base line.
        at: (f64, f64),
        text: String,
        size: f64,
        bold: bool,
        anchor: Anchor,
        ink: Ink,
    },
}

/// A sheet that grows downwards.
#[derive(Clone, Debug)]
pub(super) struct Canvas {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
}

impl Stroke {
    pub(super) fn solid(ink: Ink, width: f64) -> Self {
        Self {
            ink,
            width,
            dashed: false,
        }
    }

    pub(super) fn dashed(ink: Ink, width: f64) -> Self {
        Self {
            dashed: true,
            ..Self::solid(ink, width)
        }
    }
}

impl Canvas {
    pub(super) fn new(width: f64) -> Self {
        Self {
            width,
            height: 0.0,
            shapes: Vec::new(),
        }
    }

    pub(super) fn line(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        self.shapes.push(Shape::Path {
            points: points.to_vec(),
            closed: false,
            stroke: Some(stroke),
            fill: None,
        });
    }

    pub(super) fn rectangle(&mut self, corner: (f64, f64), width: f64, height: f64, fill: Ink) {
        let (x, y) = corner;
        let (right, bottom) = (x + width, y + height);
        self.shapes.push(Shape::Path {
            points: vec![(x, y), (right, y), (right, bottom), (x, bottom)],
            closed: true,
            stroke: None,
            fill: Some(fill),
        });
    }

    pub(super) fn text(
        &mut self,
        at: (f64, f64),
        text: impl Into<String>,
        size: f64,
        anchor: Anchor,
        ink: Ink,
    ) {
        self.shapes.push(Shape::Text {
            at,
            text: text.into(),
            size,
            bold: false,
            anchor,
            ink,
        });
    }

    pub(super) fn bold(&mut self, at: (f64, f64), text: impl Into<String>, size: f64) {
        self.shapes.push(Shape::Text {
            at,
            text: text.into(),
            size,
            bold: true,
            anchor: Anchor::Start,
            ink: Ink::Text,
        });
    }

    /// Writes text from `top` on, in lines as wide as the canvas. Returns the last base line.
    pub(super) fn paragraph(&mut self, top: f64, text: &str, size: f64, bold: bool) -> f64 {
        let mut base = top;
        for line in font::wrap(text, size, bold, self.width) {
            base += 1.25 * size;
            match bold {
                true => self.bold((0.0, base), line, size),
                false => self.text((0.0, base), line, size, Anchor::Start, Ink::Soft),
            }
        }
        base
    }
}
