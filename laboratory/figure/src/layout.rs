//! Lays out a figure on a sheet: its message, and its panels in as many columns as the width
//! allows.

use super::canvas::Canvas;
use super::data::{Axis, Content, Figure, Panel};
use super::font;
use super::frame::{BELOW, Frame};
use super::lines::Lines;
use super::look::Look;
use super::rows::Rows;
use super::scale::power;

const MESSAGE: f64 = 9.5;
const NOTE: f64 = 7.5;
const TITLE: f64 = 8.0;
/// The gap between columns and between rows of panels.
const GAP: f64 = 12.0;
/// The least width of a frame, unless there is only one column.
const NARROWEST: f64 = 100.0;
const MOST_COLUMNS: usize = 4;
/// The gap between a panel's title and its frame. In a panel of lines this gap has the label of the vertical axis.
const ABOVE_LINES: f64 = 16.0;
const ABOVE_ROWS: f64 = 5.0;

/// A panel with methods to measure and draw it.
enum Drawing<'a> {
    Lines(Lines<'a>),
    Rows(Rows<'a>),
}

impl Figure {
    /// Draws the figure on a sheet of this width in points.
    pub(super) fn draw(&self, width: f64) -> Canvas {
        let mut canvas = Canvas::new(width);
        let mut top = canvas.paragraph(0.0, &self.message, MESSAGE, true);
        top = canvas.paragraph(top + 1.0, &self.note, NOTE, false);
        let drawings: Vec<Drawing<'_>> = self
            .panels
            .iter()
            .map(|panel| self.drawing(panel))
            .collect();
        top = key(&mut canvas, &drawings, top);
        let plan = Plan::new(&drawings, width);
        for (row, panels) in self.panels.chunks(plan.columns).enumerate() {
            let first = row * plan.columns;
            top += GAP;
            top = plan.draw(&mut canvas, panels, &drawings[first..], top);
        }
        canvas.height = top;
        canvas
    }

    fn drawing<'a>(&'a self, panel: &'a Panel) -> Drawing<'a> {
        match &panel.content {
            Content::Lines { x, y, series } => Drawing::Lines(Lines {
                x,
                y,
                series,
                powers: (self.power(x), self.power(y)),
            }),
            Content::Dots {
                x,
                marks,
                rows,
                reference,
            } => Drawing::Rows(Rows::dots(x, marks, rows, *reference)),
            Content::Bars { x, parts, rows } => Drawing::Rows(Rows::bars(x, parts, rows)),
        }
    }

    /// The power of ten for an axis's unit. It is the same for one quantity in all panels.
    fn power(&self, wanted: &Axis) -> i32 {
        let same = |axis: &Axis| (&axis.quantity, &axis.unit) == (&wanted.quantity, &wanted.unit);
        let mut greatest: f64 = 0.0;
        for panel in &self.panels {
            let Content::Lines { x, y, series } = &panel.content else {
                continue;
            };
            for series in series {
                let points = || series.points().iter();
                if same(x) {
                    greatest = points().map(|point| point.x).fold(greatest, f64::max);
                }
                if same(y) {
                    let levels = match series.part {
                        super::Part::Level(value) => value,
                        _ => 0.0,
                    };
                    let highest = points().map(|point| point.y.at).fold(levels, f64::max);
                    greatest = greatest.max(highest.min(y.most.unwrap_or(f64::INFINITY)));
                }
            }
        }
        // Counts have no larger unit.
        if wanted.unit.is_empty() {
            0
        } else {
            power(greatest)
        }
    }
}

/// Draws the key for panels of rows (names and markers) in one or more lines. Returns the key's lower end.
fn key(canvas: &mut Canvas, drawings: &[Drawing<'_>], top: f64) -> f64 {
    let Some(Drawing::Rows(rows)) = drawings.first() else {
        return top;
    };
    if rows.key().len() < 2 {
        return top;
    }
    let (mut x, mut y) = (3.0, top + 9.0);
    for name in rows.key() {
        let wide = font::width(name, NOTE, false) + 20.0;
        if x > 3.0 && x + wide > canvas.width {
            (x, y) = (3.0, y + 11.0);
        }
        Look::of(name).label(canvas, (x, y), name, NOTE);
        x += wide;
    }
    y + 2.0
}

/// The division of the width among panels.
struct Plan {
    columns: usize,
    /// For each column, the width of the labels left of its frames.
    lefts: Vec<f64>,
    right: f64,
    /// The width of a frame.
    width: f64,
    /// Whether only the first column has labels of rows.
    shared: bool,
}

impl Plan {
    fn new(drawings: &[Drawing<'_>], width: f64) -> Self {
        let shared = drawings.windows(2).all(|pair| match (&pair[0], &pair[1]) {
            (Drawing::Rows(a), Drawing::Rows(b)) => a.labels() == b.labels(),
            _ => false,
        });
        let (mut left, mut right): (f64, f64) = (0.0, 0.0);
        for drawing in drawings {
            let margins = match drawing {
                Drawing::Lines(lines) => lines.margins(),
                // Half of the last label of the axis is outside the frame.
                Drawing::Rows(rows) => (rows.margin(), 8.0),
            };
            (left, right) = (left.max(margins.0), right.max(margins.1));
        }
        let of = |columns: usize| {
            let first = |column| if shared && column > 0 { 8.0 } else { left };
            let lefts: Vec<f64> = (0..columns).map(first).collect();
            let gaps = GAP * (columns - 1) as f64 + right * columns as f64;
            let free = width - lefts.iter().sum::<f64>() - gaps;
            Self {
                columns,
                lefts,
                right,
                width: (free / columns as f64).max(20.0),
                shared,
            }
        };
        let most = drawings.len().clamp(1, MOST_COLUMNS);
        let mut plans = (1..=most).rev().map(of);
        let fitting = plans.find(|plan| plan.width >= NARROWEST);
        let plan = fitting.unwrap_or_else(|| of(1));
        // Spreads the panels evenly over the same number of rows.
        of(drawings
            .len()
            .div_ceil(drawings.len().div_ceil(plan.columns).max(1))
            .max(1))
    }

    /// Draws a row of panels from `top` on. Returns the row's lower end.
    fn draw(
        &self,
        canvas: &mut Canvas,
        panels: &[Panel],
        drawings: &[Drawing<'_>],
        top: f64,
    ) -> f64 {
        let room = |column: usize| self.lefts[column] + self.width + self.right;
        let titles: Vec<Vec<String>> = panels
            .iter()
            .enumerate()
            .map(|(at, panel)| font::wrap(&panel.title, TITLE, true, room(at)))
            .collect();
        let lines = titles.iter().map(Vec::len).max().unwrap_or(0);
        let heights = drawings[..panels.len()]
            .iter()
            .map(|drawing| match drawing {
                Drawing::Lines(lines) => lines.height(self.width),
                Drawing::Rows(rows) => rows.height(),
            });
        let height = heights.fold(0.0, f64::max);
        let above = match drawings.first() {
            Some(Drawing::Lines(_)) => ABOVE_LINES,
            _ => ABOVE_ROWS,
        };
        let frames_top = top + 1.2 * TITLE * lines as f64 + above;
        let mut left = 0.0;
        for (at, (title, drawing)) in titles.into_iter().zip(drawings).enumerate() {
            let start = match drawing {
                Drawing::Rows(_) => left + self.lefts[at],
                Drawing::Lines(_) => left,
            };
            for (line, text) in title.into_iter().enumerate() {
                let base = top + 1.2 * TITLE * (line + 1) as f64 - 2.0;
                canvas.bold((start, base), text, TITLE);
            }
            let frame = Frame {
                left: left + self.lefts[at],
                top: frames_top,
                width: self.width,
                height,
            };
            match drawing {
                Drawing::Lines(lines) => lines.draw(canvas, frame, left),
                Drawing::Rows(rows) => rows.draw(canvas, frame, at == 0 || !self.shared),
            }
            left += room(at) + GAP;
        }
        frames_top + height + BELOW
    }
}
