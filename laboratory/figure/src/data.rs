//! The content of a figure.

use serde::{Deserialize, Serialize};

/// Panels under one message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Distinguishes it from the other figures of the same study; empty for the study's own.
    pub part: String,
    /// The title: the message for the reader.
    pub message: String,
    /// The subject and the place of measurement, under the title.
    pub note: String,
    /// In the order of the page.
    pub panels: Vec<Panel>,
}

/// A title, and what is drawn under it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// Above it; may be empty.
    pub title: String,
    /// The drawing.
    pub content: Content,
}

/// The forms of a panel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Content {
    /// How a value depends on another.
    Lines {
        /// The horizontal axis.
        x: Axis,
        /// The vertical axis.
        y: Axis,
        /// A line each.
        series: Vec<Series>,
    },
    /// Values of things that have no order, a row a thing.
    Dots {
        /// The axis of all rows.
        x: Axis,
        /// The names of the dots that each row has.
        marks: Vec<String>,
        /// From top to bottom.
        rows: Vec<DotRow>,
        /// The value to compare with.
        reference: Option<f64>,
    },
    /// The parts of things, a row a thing.
    Bars {
        /// The axis of all rows.
        x: Axis,
        /// The names of the parts.
        parts: Vec<String>,
        /// A row's label, and its parts in that order.
        rows: Vec<(String, Vec<f64>)>,
    },
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// The measured quantity.
    pub quantity: String,
    /// Empty for a number of things, and for a ratio.
    pub unit: String,
    /// Equal factors take equal lengths; 0 then has a place of its own, apart.
    pub logarithmic: bool,
    /// Larger values are drawn at the edge, with their numbers.
    pub most: Option<f64>,
}

/// A name, and what is drawn for it. The name decides colour and marker, in all figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Shown at the end of its line.
    pub name: String,
    /// The name that lends it a colour, if it has none of its own.
    pub like: Option<String>,
    /// The form and the data.
    pub part: Part,
}

/// The meaning of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Part {
    /// A marker a point, joined.
    Measured(Vec<Point>),
    /// The same, dashed: what a formula says.
    Computed(Vec<Point>),
    /// Dashed, from edge to edge: a value that does not depend on the horizontal axis.
    Level(f64),
}

/// A row of dots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DotRow {
    /// Before it.
    pub label: String,
    /// For each mark, if it was measured.
    pub dots: Vec<Option<Value>>,
}

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// On the horizontal axis.
    pub x: f64,
    /// On the vertical axis.
    pub y: Value,
}

/// A value, and the range most of its samples fell in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// The value itself.
    pub at: f64,
    /// The low end of its range.
    pub low: f64,
    /// The high end of its range.
    pub high: f64,
}

impl Point {
    /// With its range.
    pub fn new(x: f64, y: impl Into<Value>) -> Self {
        Self { x, y: y.into() }
    }
}

impl Panel {
    /// How a value depends on another.
    pub fn lines(
        title: impl Into<String>,
        x: Axis,
        y: Axis,
        series: impl IntoIterator<Item = Series>,
    ) -> Self {
        let series = series.into_iter().collect();
        Self {
            title: title.into(),
            content: Content::Lines { x, y, series },
        }
    }
}

impl Axis {
    /// From 0, or near the least value if that is far from 0.
    pub fn linear(quantity: impl Into<String>, unit: &str) -> Self {
        Self {
            quantity: quantity.into(),
            unit: unit.to_owned(),
            logarithmic: false,
            most: None,
        }
    }

    /// By factors.
    pub fn logarithmic(quantity: impl Into<String>, unit: &str) -> Self {
        Self {
            logarithmic: true,
            ..Self::linear(quantity, unit)
        }
    }

    /// Marks at the edge what is beyond `most`.
    pub fn up_to(self, most: f64) -> Self {
        Self {
            most: Some(most),
            ..self
        }
    }
}

impl Series {
    /// Measured points, in the order of the horizontal axis.
    pub fn measured(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self {
            name: name.into(),
            like: None,
            part: Part::Measured(points),
        }
    }

    /// The line of a formula.
    pub fn computed(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self {
            name: name.into(),
            like: None,
            part: Part::Computed(points),
        }
    }

    /// A value to compare with.
    pub fn level(name: impl Into<String>, value: f64) -> Self {
        Self {
            name: name.into(),
            like: None,
            part: Part::Level(value),
        }
    }

    /// In the colour of another name.
    pub fn coloured_as(self, name: impl Into<String>) -> Self {
        Self {
            like: Some(name.into()),
            ..self
        }
    }

    /// The name that decides its colour and marker.
    pub(super) fn looks_like(&self) -> &str {
        self.like.as_deref().unwrap_or(&self.name)
    }

    pub(super) fn points(&self) -> &[Point] {
        match &self.part {
            Part::Measured(points) | Part::Computed(points) => points,
            Part::Level(_) => &[],
        }
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        !matches!(self.part, Part::Level(_)) && self.points().is_empty()
    }
}

impl Point {
    /// A point of a simulation or a formula.
    pub fn exact(x: f64, y: f64) -> Self {
        Self {
            x,
            y: Value::exact(y),
        }
    }
}

impl Value {
    /// A value without a range.
    pub fn exact(at: f64) -> Self {
        Self {
            at,
            low: at,
            high: at,
        }
    }
}
