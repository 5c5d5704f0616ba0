//! The axes of a panel.

use super::canvas::{Anchor, Canvas, Ink, Stroke};
use super::font;
use super::scale::{Ruler, SIZE, Tick};

/// The area of a panel's drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The height of the labels and the axis's title below a frame.
pub(super) const BELOW: f64 = 2.9 * SIZE;

impl Frame {
    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The position of a value of the horizontal axis.
    pub(super) fn x(&self, ruler: &Ruler, value: f64) -> f64 {
        self.left + ruler.place(value) * self.width
    }

    /// The position of a value of the vertical axis.
    pub(super) fn y(&self, ruler: &Ruler, value: f64) -> f64 {
        self.bottom() - ruler.place(value) * self.height
    }

    /// Draws the horizontal axis under the frame.
    pub(super) fn horizontal(&self, canvas: &mut Canvas, ruler: &Ruler) {
        let axis = Stroke::solid(Ink::Soft, 0.6);
        let bottom = self.bottom();
        let at = |tick: &Tick| self.left + tick.place * self.width;
        canvas.line(&[(self.left, bottom), (self.right(), bottom)], axis);
        for tick in &ruler.ticks {
            let x = at(tick);
            canvas.line(&[(x, bottom), (x, bottom + 2.0)], axis);
            let base = (x, bottom + 2.5 + SIZE);
            canvas.text(base, tick.label.clone(), SIZE, Anchor::Middle, Ink::Soft);
        }
        if let (true, [zero, next, ..]) = (ruler.is_broken(), &*ruler.ticks) {
            self.break_axis(canvas, at(zero) + 0.5 * (at(next) - at(zero)));
        }
        // The text is under the middle, but within the canvas.
        let half = font::width(&ruler.label, SIZE, false) / 2.0;
        let middle = self.left + self.width / 2.0;
        let middle = middle.min(canvas.width - half).max(half);
        let base = (middle, bottom + BELOW - 0.3 * SIZE);
        canvas.text(base, ruler.label.clone(), SIZE, Anchor::Middle, Ink::Text);
    }

    /// Draws two strokes through the axis, at the gap before a separate 0.
    fn break_axis(&self, canvas: &mut Canvas, x: f64) {
        let bottom = self.bottom();
        canvas.rectangle((x - 1.5, bottom - 1.0), 3.0, 2.0, Ink::Paper);
        for x in [x - 1.5, x + 1.5] {
            let stroke = Stroke::solid(Ink::Soft, 0.6);
            canvas.line(&[(x - 1.0, bottom + 2.2), (x + 1.0, bottom - 2.2)], stroke);
        }
    }

    /// Draws horizontal grid lines, with labels left of them.
    pub(super) fn vertical(&self, canvas: &mut Canvas, ruler: &Ruler) {
        for tick in &ruler.ticks {
            let y = self.bottom() - tick.place * self.height;
            canvas.line(
                &[(self.left, y), (self.right(), y)],
                Stroke::solid(Ink::Faint, 0.5),
            );
            let base = (self.left - 3.5, y + 0.35 * SIZE);
            canvas.text(base, tick.label.clone(), SIZE, Anchor::End, Ink::Soft);
        }
    }

    /// Draws vertical grid lines.
    pub(super) fn upright(&self, canvas: &mut Canvas, ruler: &Ruler) {
        for tick in &ruler.ticks {
            let x = self.left + tick.place * self.width;
            let ends = [(x, self.top), (x, self.bottom())];
            canvas.line(&ends, Stroke::solid(Ink::Faint, 0.5));
        }
    }
}

/// The widest of an axis's labels.
pub(super) fn widest(ruler: &Ruler) -> f64 {
    let widths = ruler.ticks.iter();
    widths
        .map(|tick| font::width(&tick.label, SIZE, false))
        .fold(0.0, f64::max)
}
