//! What a figure shows.

use crate::measure::statistics::Spread;
use serde::{Deserialize, Serialize};

/// Panels under one message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figure {
    /// Tells it from the other figures of the same study; empty for the study's own.
    pub(crate) part: String,
    /// What the reader shall take home: the title.
    pub(crate) message: String,
    /// What is shown, and where it was measured: under the title.
    pub(crate) note: String,
    pub(crate) panels: Vec<Panel>,
}

/// A title, and what is drawn under it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) content: Content,
}

/// The forms of a panel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Content {
    /// How a value depends on another.
    Lines {
        x: Axis,
        y: Axis,
        series: Vec<Series>,
    },
    /// Values of things that have no order, a row a thing.
    Dots {
        x: Axis,
        /// The names of the dots that each row has.
        marks: Vec<String>,
        rows: Vec<DotRow>,
        /// The value to compare with.
        reference: Option<f64>,
    },
    /// What something consists of, a row a thing.
    Bars {
        x: Axis,
        parts: Vec<String>,
        /// A row's label, and its parts in that order.
        rows: Vec<(String, Vec<f64>)>,
    },
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Axis {
    pub(crate) quantity: String,
    /// Empty for a number of things, and for a ratio.
    pub(crate) unit: String,
    /// Equal factors take equal lengths; 0 then has a place of its own, apart.
    pub(crate) logarithmic: bool,
    /// What is beyond is drawn at the edge, with its value.
    pub(crate) most: Option<f64>,
}

/// A name, and what is drawn for it. The name decides colour and marker, in all figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// The name that lends it a colour, if it has none of its own.
    pub(crate) like: Option<String>,
    pub(crate) part: Part,
}

/// What a line is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Part {
    /// A marker a point, joined.
    Measured(Vec<Point>),
    /// The same, dashed: what a formula says.
    Computed(Vec<Point>),
    /// Dashed, from edge to edge: a value that does not depend on the horizontal axis.
    Level(f64),
}

/// A row of dots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DotRow {
    pub(crate) label: String,
    /// For each mark, if it was measured.
    pub(crate) dots: Vec<Option<Value>>,
}

/// Where a line passes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: Value,
}

/// A value, and the range most of its samples fell in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Value {
    pub(crate) at: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Axis {
    /// From 0, or near the least value if that is far from 0.
    pub(crate) fn linear(quantity: impl Into<String>, unit: &str) -> Self {
        Self {
            quantity: quantity.into(),
            unit: unit.to_owned(),
            logarithmic: false,
            most: None,
        }
    }

    /// By factors.
    pub(crate) fn logarithmic(quantity: impl Into<String>, unit: &str) -> Self {
        Self {
            logarithmic: true,
            ..Self::linear(quantity, unit)
        }
    }

    /// Marks at the edge what is beyond `most`.
    pub(crate) fn up_to(self, most: f64) -> Self {
        Self {
            most: Some(most),
            ..self
        }
    }
}

impl Series {
    /// Measured points, in the order of the horizontal axis.
    pub(crate) fn measured(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self {
            name: name.into(),
            like: None,
            part: Part::Measured(points),
        }
    }

    /// What a formula says.
    pub(crate) fn computed(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self {
            name: name.into(),
            like: None,
            part: Part::Computed(points),
        }
    }

    /// A value to compare with.
    pub(crate) fn level(name: impl Into<String>, value: f64) -> Self {
        Self {
            name: name.into(),
            like: None,
            part: Part::Level(value),
        }
    }

    /// In the colour of another name.
    pub(crate) fn coloured_as(self, name: impl Into<String>) -> Self {
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
    pub(crate) fn is_empty(&self) -> bool {
        !matches!(self.part, Part::Level(_)) && self.points().is_empty()
    }
}

impl Point {
    /// A point of a simulation or a formula.
    pub(crate) fn exact(x: f64, y: f64) -> Self {
        Self {
            x,
            y: Value::exact(y),
        }
    }
}

impl Value {
    /// A value without a range.
    pub(crate) fn exact(at: f64) -> Self {
        Self {
            at,
            low: at,
            high: at,
        }
    }
}

impl From<Spread> for Value {
    fn from(spread: Spread) -> Self {
        Self {
            at: spread.median,
            low: spread.p10,
            high: spread.p90,
        }
    }
}
