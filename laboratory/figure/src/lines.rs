//! A panel of lines. Each line has markers, and its name at its end.

use super::canvas::{Anchor, Canvas, Ink, Shape, Stroke};
use super::data::{Axis, Part, Point, Series, Value};
use super::ends;
use super::font;
use super::frame::{Frame, widest};
use super::look::Look;
use super::scale::{Along, Ruler, SIZE, Span, number};

/// The size of names, and the distance between them.
const NAME: f64 = 7.5;
pub(super) const APART: f64 = 8.8;
/// The distance between the frame and the names' markers.
const LEADER: f64 = 9.0;
/// Bars (ranges) end at this multiple of the highest point, with a visible cut. On a disturbed host a bar can be ten
/// times as long, and would flatten the panel.
const HEADROOM: f64 = 1.3;
/// The shortest drawn bar. Markers hide shorter bars.
const SHORTEST: f64 = 4.0;
const RADIUS: f64 = 2.0;

/// The panel's axes and lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines<'a> {
    pub(super) x: &'a Axis,
    pub(super) y: &'a Axis,
    pub(super) series: &'a [Series],
    /// The power of ten for the unit of each axis.
    pub(super) powers: (i32, i32),
}

impl Lines<'_> {
    /// The margins left and right of the frame.
    pub(super) fn margins(&self) -> (f64, f64) {
        let names = self.named().map(|series| &*series.name);
        let name = names
            .map(|name| font::width(name, NAME, false))
            .fold(0.0, f64::max);
        // The widest labels of two typical heights.
        let labels = widest(&self.vertical(200.0)).max(widest(&self.vertical(90.0)));
        (labels + 5.0, LEADER + 5.0 + 1.04 * name)
    }

    /// The height of a frame in which all names fit.
    pub(super) fn height(&self, width: f64) -> f64 {
        let names = self.named().count() as f64;
        (0.62 * width).clamp(85.0, 170.0).max(APART * names)
    }

    fn shown(&self) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(|series| !series.is_empty())
    }

    /// The lines with markers and a name.
    fn named(&self) -> impl Iterator<Item = &Series> {
        self.shown()
            .filter(|series| !matches!(series.part, Part::Published(_)))
    }

    fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(Series::points)
    }

    fn horizontal(&self, width: f64) -> Ruler {
        let span = Span {
            axis: self.x,
            values: self.points().map(|point| point.x).collect(),
            from_zero: false,
            at_values: true,
            power: self.powers.0,
        };
        Ruler::new(&span, Along::Width(width))
    }

    fn vertical(&self, height: f64) -> Ruler {
        let levels = self.series.iter().filter_map(|series| match series.part {
            Part::Level(value) => Some(value),
            _ => None,
        });
        let mut values: Vec<f64> = levels
            .chain(self.points().map(|point| point.y.at))
            .collect();
        let top = values.iter().copied().fold(0.0, f64::max);
        let bars = self.points().flat_map(|point| [point.y.low, point.y.high]);
        values.extend(bars.map(|end| end.min(HEADROOM * top)));
        let span = Span {
            axis: self.y,
            values,
            from_zero: true,
            at_values: false,
            power: self.powers.1,
        };
        Ruler::new(&span, Along::Height(height))
    }

    /// Draws the panel with its left edge at `edge`.
    pub(super) fn draw(&self, canvas: &mut Canvas, frame: Frame, edge: f64) {
        let (x, y) = (self.horizontal(frame.width), self.vertical(frame.height));
        let base = (edge, frame.top - 4.5);
        canvas.text(base, y.label.clone(), SIZE, Anchor::Start, Ink::Text);
        frame.vertical(canvas, &y);
        frame.horizontal(canvas, &x);
        let at = |point: &Point| (frame.x(&x, point.x), frame.y(&y, point.y.at));
        for series in self.shown() {
            let opacity = match series.part {
                Part::Estimated(_) => 0.22,
                Part::Published(_) => 0.08,
                _ => continue,
            };
            let ink = Look::of(series.looks_like()).ink;
            band(canvas, &frame, (&x, &y), series.points(), (ink, opacity));
        }
        for series in self.shown() {
            let ink = Look::of(series.looks_like()).ink;
            let places: Vec<(f64, f64)> = series.points().iter().map(at).collect();
            match series.part {
                Part::Measured(_) | Part::Estimated(_) => {
                    canvas.line(&places, Stroke::solid(ink, 1.1));
                }
                Part::Published(_) => canvas.line(&places, Stroke::dashed(ink, 0.6)),
                Part::Computed(_) => canvas.line(&places, Stroke::dashed(ink, 1.0)),
                Part::Level(value) => {
                    let y = frame.y(&y, value);
                    let ends = [(frame.left, y), (frame.right(), y)];
                    canvas.line(&ends, Stroke::dashed(ink, 1.0));
                }
            }
        }
        // Markers are drawn over all lines.
        for (number, series) in self.named().enumerate() {
            let look = Look::of(series.looks_like());
            let points = series.points();
            // A line of many points has markers at some of its points, and neighbouring lines have them at other
            // points.
            let step = match points.len() {
                ..=MOST_MARKERS => 1,
                many => many.div_ceil(MARKERS_OF_MANY),
            };
            for (at_point, point) in points.iter().enumerate() {
                if !matches!(series.part, Part::Estimated(_)) {
                    range(canvas, &frame, &y, at(point).0, point.y, look.ink);
                }
                if (at_point + number * step / 4).is_multiple_of(step) {
                    look.mark(canvas, at(point), RADIUS);
                }
            }
        }
        self.beyond(canvas, frame, &x, &y);
        self.names(canvas, frame, &x, &y);
    }

    /// Writes the values of points beyond the axis at its edge, each in the first row with room.
    fn beyond(&self, canvas: &mut Canvas, frame: Frame, x: &Ruler, y: &Ruler) {
        // The left and right ends of the texts in each row.
        let mut rows: Vec<Vec<(f64, f64)>> = Vec::new();
        for series in self.shown() {
            let look = Look::of(series.looks_like());
            let points = series.points().iter();
            for point in points.filter(|point| y.is_beyond(point.y.at)) {
                let text = number(point.y.at, usize::from(point.y.at < 100.0));
                let wide = font::width(&text, SIZE, false);
                let left = (frame.x(x, point.x) - RADIUS).min(frame.right() - wide - 2.0 * RADIUS);
                let right = left + wide + 4.0 * RADIUS;
                let free = |row: &Vec<(f64, f64)>| {
                    row.iter().all(|taken| right < taken.0 || taken.1 < left)
                };
                let row = rows.iter().position(free).unwrap_or_else(|| {
                    rows.push(Vec::new());
                    rows.len() - 1
                });
                rows[row].push((left, right));
                let down = frame.top + APART * row as f64;
                canvas.rectangle((left, down - 3.5), right - left, SIZE, Ink::Paper);
                look.mark(canvas, (left + RADIUS, down), RADIUS);
                let base = (left + 2.5 * RADIUS, down + 0.35 * SIZE);
                canvas.text(base, text, SIZE, Anchor::Start, Ink::Text);
            }
        }
    }

    /// Writes each line's name at its end.
    fn names(&self, canvas: &mut Canvas, frame: Frame, x: &Ruler, y: &Ruler) {
        let end = |series: &Series| match (&series.part, series.points().last()) {
            (Part::Level(value), _) => (frame.right(), frame.y(y, *value)),
            (_, Some(point)) => (frame.x(x, point.x), frame.y(y, point.y.at)),
            (_, None) => (frame.right(), frame.bottom()),
        };
        let shown: Vec<&Series> = self.named().collect();
        let wanted: Vec<f64> = shown.iter().map(|series| end(series).1).collect();
        let places = ends::spread(&wanted, APART, frame.top, frame.bottom());
        for (series, place) in shown.into_iter().zip(places) {
            let look = Look::of(series.looks_like());
            let from = end(series);
            let column = frame.right() + LEADER;
            let elbow = (frame.right() + 1.5, from.1);
            // The stroke differs from the line's, which can end before the frame.
            canvas.line(&[from, elbow], Stroke::solid(Ink::Soft, 0.3));
            canvas.line(
                &[elbow, (column - 4.0, place)],
                Stroke::solid(look.ink, 0.4),
            );
            if !matches!(series.part, Part::Measured(_) | Part::Estimated(_)) {
                let ends = [(column - 4.0, place), (column + 4.0, place)];
                canvas.line(&ends, Stroke::dashed(look.ink, 1.0));
            }
            match series.part {
                Part::Level(_) => {
                    let base = (column + 5.0, place + 0.35 * NAME);
                    canvas.text(base, &*series.name, NAME, Anchor::Start, Ink::Text);
                }
                _ => look.label(canvas, (column, place), &series.name, NAME),
            }
        }
    }
}

/// A line with more points than this has about eight markers.
const MOST_MARKERS: usize = 40;
const MARKERS_OF_MANY: usize = 8;

/// Draws the ranges of points as an area. Where a range continues beyond the frame, the area is cut and has an arrow.
fn band(
    canvas: &mut Canvas,
    frame: &Frame,
    (x, y): (&Ruler, &Ruler),
    points: &[Point],
    (ink, opacity): (Ink, f64),
) {
    let place = |point: &Point, value: f64| {
        let down = frame.bottom() - y.place_beyond(value) * frame.height;
        (frame.x(x, point.x), down.clamp(-FAR, FAR))
    };
    let lower = points.iter().map(|point| place(point, point.y.low));
    let upper = points.iter().rev();
    let upper = upper.map(|point| place(point, point.y.high));
    let whole: Vec<(f64, f64)> = lower.chain(upper).collect();
    let top = highest(frame, y);
    let below = cut(&whole, top, |down| down >= top);
    let area = cut(&below, frame.bottom(), |down| down <= frame.bottom());
    canvas.shapes.push(Shape::Band {
        points: area,
        ink,
        opacity,
    });
    for point in points {
        if is_cut(frame, y, point.y) && !y.is_beyond(point.y.at) {
            arrow(canvas, (frame.x(x, point.x), top), Stroke::solid(ink, 0.7));
        }
    }
}

/// No corner of an area is further away than this before the area is cut.
const FAR: f64 = 1e6;

/// Returns the part of an area whose vertical places `is_inside` accepts. `level` is the end of these places.
fn cut(area: &[(f64, f64)], level: f64, is_inside: impl Fn(f64) -> bool) -> Vec<(f64, f64)> {
    let mut kept = Vec::new();
    for (at, &point) in area.iter().enumerate() {
        let before = area[(at + area.len() - 1) % area.len()];
        if is_inside(before.1) != is_inside(point.1) {
            let part = (level - before.1) / (point.1 - before.1);
            kept.push((before.0 + part * (point.0 - before.0), level));
        }
        if is_inside(point.1) {
            kept.push(point);
        }
    }
    kept
}

/// The upper end of the vertical axis.
fn highest(frame: &Frame, ruler: &Ruler) -> f64 {
    frame.y(ruler, f64::INFINITY).max(frame.top)
}

/// Whether a value's range continues beyond the upper end of the vertical axis.
fn is_cut(frame: &Frame, ruler: &Ruler, value: Value) -> bool {
    ruler.is_beyond(value.high) || frame.y(ruler, value.high) < frame.top
}

/// Draws an arrow that points up to `tip`.
fn arrow(canvas: &mut Canvas, tip: (f64, f64), stroke: Stroke) {
    let (x, y) = tip;
    canvas.line(&[(x - 1.8, y + 2.5), tip, (x + 1.8, y + 2.5)], stroke);
}

/// Draws the bar of a value, if the bar is visible. A cut end has an arrow.
fn range(canvas: &mut Canvas, frame: &Frame, ruler: &Ruler, x: f64, value: Value, ink: Ink) {
    let (low, high) = (frame.y(ruler, value.low), frame.y(ruler, value.high));
    if low - high < SHORTEST || ruler.is_beyond(value.at) {
        return;
    }
    let stroke = Stroke::solid(ink, 0.7);
    let top = high.max(highest(frame, ruler));
    let bottom = low.min(frame.bottom());
    canvas.line(&[(x, bottom), (x, top)], stroke);
    canvas.line(&[(x - 1.8, bottom), (x + 1.8, bottom)], stroke);
    match is_cut(frame, ruler, value) {
        true => arrow(canvas, (x, top), stroke),
        false => canvas.line(&[(x - 1.8, top), (x + 1.8, top)], stroke),
    }
}
