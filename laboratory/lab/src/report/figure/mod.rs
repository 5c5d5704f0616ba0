//! Figures: what is shown, apart from how it is drawn.
//!
//! A [`Figure`] is data. [`Figure::draw`] lays it out for a width, as shapes on a canvas, and
//! `svg` and `pdf` write these. The README says why the laboratory draws by itself, and which
//! rules its figures keep.

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

pub(crate) use data::{Axis, Content, DotRow, Figure, Panel, Part, Point, Series, Value};
pub(crate) use form::FigureForm;
pub(crate) use look::style_sheet;

#[cfg(test)]
mod tests;
