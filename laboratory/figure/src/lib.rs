//! Figures: their data, separate from their drawing.
//!
//! A [`Figure`] is data. Drawing lays it out for a width, as shapes on a canvas, which `svg` and
//! `pdf` write. The README explains why the laboratory has its own drawing code, and the rules of
//! its figures.

mod canvas;
mod data;
mod ends;
mod font;
mod form;
mod frame;
mod layout;
mod lines;
mod look;
mod pdf;
mod rows;
mod scale;
mod svg;

pub use data::{Axis, Content, DotRow, Figure, Panel, Part, Point, Series, Value};
pub use form::{FigureForm, FormError};
pub use look::style_sheet;
pub use scale::count;
pub use svg::escape;

#[cfg(test)]
mod tests;
