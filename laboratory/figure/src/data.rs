//! The content of a figure.

use serde::{Deserialize, Serialize};

/// A figure: panels with a common message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Distinguishes the figures of a study; empty for the main figure.
    pub part: String,
    /// The title: the message for the reader.
    pub message: String,
    /// The note under the title: what was measured, and on which machine.
    pub note: String,
    /// The panels in the order of the page.
    pub panels: Vec<Panel>,
}

/// A title, and the drawing under it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// The title above the drawing; can be empty.
    pub title: String,
    /// The drawing.
    pub content: Content,
}

/// The forms of a panel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Content {
    /// Lines: how a value depends on another.
    Lines {
        /// The horizontal axis.
        x: Axis,
        /// The vertical axis.
        y: Axis,
        /// One line for each series.
        series: Vec<Series>,
    },
    /// Rows of dots: values of things without an order.
    Dots {
        /// The axis of all rows.
        x: Axis,
        /// The names of the dots of each row.
        marks: Vec<String>,
        /// The rows from top to bottom.
        rows: Vec<DotRow>,
        /// The value to compare with.
        reference: Option<f64>,
    },
    /// Rows of bars: the parts of things.
    Bars {
        /// The axis of all rows.
        x: Axis,
        /// The names of the parts.
        parts: Vec<String>,
        /// The label of each row, and its parts in the order of `parts`.
        rows: Vec<(String, Vec<f64>)>,
    },
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// The measured quantity.
    pub quantity: String,
    /// The unit; empty for counts and ratios.
    pub unit: String,
    /// Whether equal lengths on the axis stand for equal factors. If so, 0 has a separate place.
    pub logarithmic: bool,
    /// The greatest value on the axis. Larger values are drawn at the edge, with their numbers.
    pub most: Option<f64>,
}

/// A line with its name. In all figures the name determines colour and marker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The name, shown at the end of the line.
    pub name: String,
    /// Another name. If given, the line has the colour and marker of that name.
    pub like: Option<String>,
    /// The form and the data.
    pub part: Part,
}

/// The meaning of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Part {
    /// Measured points: joined markers.
    Measured(Vec<Point>),
    /// Means of measured points: joined markers, with their intervals as a band.
    Estimated(Vec<Point>),
    /// Published measurements: a dashed line without markers and name, with ranges as a paler band. It has the colour of
    /// the line that measures the same thing.
    Published(Vec<Point>),
    /// Points of a formula: joined markers, dashed.
    Computed(Vec<Point>),
    /// A value that does not depend on the horizontal axis: a dashed line from edge to edge.
    Level(f64),
}

/// A row of dots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DotRow {
    /// The label left of the row.
    pub label: String,
    /// For each mark, the value, or `None` if it was not measured.
    pub dots: Vec<Option<Value>>,
}

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The value on the horizontal axis.
    pub x: f64,
    /// The value on the vertical axis.
    pub y: Value,
}

/// A value, and the range of most of its samples.
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
    /// A point with its range.
    pub fn new(x: f64, y: impl Into<Value>) -> Self {
        Self { x, y: y.into() }
    }
}

impl Panel {
    /// Lines: how a value depends on another.
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

    /// Whether the panel shows no value.
    pub fn is_empty(&self) -> bool {
        match &self.content {
            Content::Lines { series, .. } => series.iter().all(Series::is_empty),
            Content::Dots { rows, .. } => {
                rows.iter().flat_map(|row| &row.dots).all(Option::is_none)
            }
            Content::Bars { rows, .. } => rows.iter().all(|row| row.1.is_empty()),
        }
    }
}

impl Axis {
    /// A linear axis. It begins at 0, or near the least value if this value is far from 0.
    pub fn linear(quantity: impl Into<String>, unit: &str) -> Self {
        Self {
            quantity: quantity.into(),
            unit: unit.to_owned(),
            logarithmic: false,
            most: None,
        }
    }

    /// A logarithmic axis.
    pub fn logarithmic(quantity: impl Into<String>, unit: &str) -> Self {
        Self {
            logarithmic: true,
            ..Self::linear(quantity, unit)
        }
    }

    /// Limits the axis to `most`. Larger values are drawn at the edge.
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

    /// Means of measured points, with their intervals.
    pub fn estimated(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self {
            name: name.into(),
            like: None,
            part: Part::Estimated(points),
        }
    }

    /// Makes a line of published measurements.
    pub fn published(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self {
            name: name.into(),
            like: None,
            part: Part::Published(points),
        }
    }

    /// Points of a formula.
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

    /// Uses the colour and marker of another name.
    pub fn coloured_as(self, name: impl Into<String>) -> Self {
        Self {
            like: Some(name.into()),
            ..self
        }
    }

    /// The name that determines colour and marker.
    pub(super) fn looks_like(&self) -> &str {
        self.like.as_deref().unwrap_or(&self.name)
    }

    pub(super) fn points(&self) -> &[Point] {
        match &self.part {
            Part::Measured(points)
            | Part::Estimated(points)
            | Part::Published(points)
            | Part::Computed(points) => points,
            Part::Level(_) => &[],
        }
    }

    /// Whether the series has nothing to draw.
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
