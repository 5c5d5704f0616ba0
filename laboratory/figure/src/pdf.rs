//! Writes a canvas as PDF: one page, in fonts that every PDF reader has.

use super::canvas::{Anchor, Canvas, Ink, Shape, Stroke};
use super::font;
use super::look::on_paper;
use super::svg::MARGIN;
use pdf_writer::types::LineJoinStyle;
use pdf_writer::writers::ExtGraphicsState;
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

const REGULAR: Name<'_> = Name(b"R");
const BOLD: Name<'_> = Name(b"B");

/// The sheet as a PDF document.
pub(super) fn render(canvas: &Canvas, title: &str) -> Vec<u8> {
    let mut pdf = Pdf::new();
    let [catalog, pages, page, content, regular, bold, info] =
        std::array::from_fn(|at| Ref::new(at as i32 + 1));
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let (width, height) = (canvas.width + 2.0 * MARGIN, canvas.height + 2.0 * MARGIN);
    let mut written = pdf.page(page);
    written
        .media_box(Rect::new(0.0, 0.0, width as f32, height as f32))
        .parent(pages)
        .contents(content);
    let mut resources = written.resources();
    resources.fonts().pair(REGULAR, regular).pair(BOLD, bold);
    let mut states = resources.ext_g_states();
    for opacity in opacities(canvas) {
        let name = state(opacity);
        states
            .insert(Name(name.as_bytes()))
            .start::<ExtGraphicsState<'_>>()
            .non_stroking_alpha(opacity as f32);
    }
    states.finish();
    resources.finish();
    written.finish();
    for (font, name) in [(regular, "Helvetica"), (bold, "Helvetica-Bold")] {
        pdf.type1_font(font)
            .base_font(Name(name.as_bytes()))
            .encoding_predefined(Name(b"WinAnsiEncoding"));
    }
    pdf.stream(content, &drawn(canvas));
    pdf.document_info(info).title(TextStr(title));
    pdf.finish()
}

/// Each opacity of the sheet's bands once.
fn opacities(canvas: &Canvas) -> Vec<f64> {
    let mut all = Vec::new();
    for shape in &canvas.shapes {
        match shape {
            Shape::Band { opacity, .. } if !all.contains(opacity) => all.push(*opacity),
            _ => {}
        }
    }
    all
}

/// The name of the graphics state with this opacity.
fn state(opacity: f64) -> String {
    format!("O{:.0}", 1000.0 * opacity)
}

fn drawn(canvas: &Canvas) -> Vec<u8> {
    let mut content = Content::new();
    content.set_line_join(LineJoinStyle::RoundJoin);
    // In PDF, y grows upwards from the lower left corner.
    let place = |(x, y): (f64, f64)| {
        let (x, y) = (x + MARGIN, canvas.height - y + MARGIN);
        (x as f32, y as f32)
    };
    for shape in &canvas.shapes {
        match shape {
            Shape::Path {
                points,
                closed,
                stroke,
                fill,
            } => {
                set_paint(&mut content, *stroke, *fill);
                trace(&mut content, points.iter().map(|&point| place(point)));
                if *closed {
                    content.close_path();
                }
                paint(&mut content, stroke.is_some(), fill.is_some());
            }
            Shape::Band {
                points,
                ink,
                opacity,
            } => {
                content.save_state();
                content.set_parameters(Name(state(*opacity).as_bytes()));
                set_paint(&mut content, None, Some(*ink));
                trace(&mut content, points.iter().map(|&point| place(point)));
                content.close_path();
                paint(&mut content, false, true);
                content.restore_state();
            }
            Shape::Disc {
                centre,
                radius,
                stroke,
                fill,
            } => {
                set_paint(&mut content, Some(*stroke), Some(*fill));
                circle(&mut content, place(*centre), *radius as f32);
                paint(&mut content, true, true);
            }
            Shape::Text {
                at,
                text,
                size,
                bold,
                anchor,
                ink,
            } => {
                set_paint(&mut content, None, Some(*ink));
                let wide = font::width(text, *size, *bold);
                let back = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => wide / 2.0,
                    Anchor::End => wide,
                };
                let (x, y) = place((at.0 - back, at.1));
                content
                    .begin_text()
                    .set_font(if *bold { BOLD } else { REGULAR }, *size as f32)
                    .next_line(x, y)
                    .show(Str(&encoded(text)))
                    .end_text();
            }
        }
    }
    content.finish().into_vec()
}

fn trace(content: &mut Content, points: impl Iterator<Item = (f32, f32)>) {
    for (at, (x, y)) in points.enumerate() {
        match at {
            0 => content.move_to(x, y),
            _ => content.line_to(x, y),
        };
    }
}

fn set_paint(content: &mut Content, stroke: Option<Stroke>, fill: Option<Ink>) {
    if let Some(ink) = fill {
        let [r, g, b] = rgb(ink);
        content.set_fill_rgb(r, g, b);
    }
    if let Some(stroke) = stroke {
        let [r, g, b] = rgb(stroke.ink);
        content.set_stroke_rgb(r, g, b);
        content.set_line_width(stroke.width as f32);
        match stroke.dashed {
            true => content.set_dash_pattern([4.0, 2.0], 0.0),
            false => content.set_dash_pattern([], 0.0),
        };
    }
}

fn paint(content: &mut Content, stroke: bool, fill: bool) {
    match (stroke, fill) {
        (true, true) => content.fill_nonzero_and_stroke(),
        (true, false) => content.stroke(),
        (false, true) => content.fill_nonzero(),
        (false, false) => content.end_path(),
    };
}

/// A circle of four curves. `K` is the distance of the control points for a quarter of the unit
/// circle.
fn circle(content: &mut Content, (x, y): (f32, f32), r: f32) {
    const K: f32 = 0.552_285;
    let k = K * r;
    content
        .move_to(x + r, y)
        .cubic_to(x + r, y + k, x + k, y + r, x, y + r)
        .cubic_to(x - k, y + r, x - r, y + k, x - r, y)
        .cubic_to(x - r, y - k, x - k, y - r, x, y - r)
        .cubic_to(x + k, y - r, x + r, y - k, x + r, y)
        .close_path();
}

/// The parts of a colour, from 0 to 1.
fn rgb(ink: Ink) -> [f32; 3] {
    let colour = on_paper(ink);
    [1, 3, 5].map(|at| {
        let part = u8::from_str_radix(&colour[at..at + 2], 16).unwrap_or(0);
        f32::from(part) / 255.0
    })
}

/// Text in the fonts' encoding, which has the letters of Latin 1.
fn encoded(text: &str) -> Vec<u8> {
    let byte = |c: char| match u8::try_from(c) {
        Ok(byte) if !(0x80..0xa0).contains(&byte) => byte,
        _ => b'?',
    };
    text.chars().map(byte).collect()
}
