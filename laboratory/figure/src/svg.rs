//! Writes a canvas as SVG.

use super::canvas::{Anchor, Canvas, Ink, Shape, Stroke};
use super::look::{class, on_paper};
use std::fmt::Write as _;

/// Fonts with the widths of Helvetica.
const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'Nimbus Sans', sans-serif";

/// The margin around the canvas, in points.
pub(super) const MARGIN: f64 = 4.0;

/// Escapes text for HTML and XML, in content and quoted attributes.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// The sheet as an SVG document. It holds `data`, to draw the figure again.
pub(super) fn render(canvas: &Canvas, title: &str, data: Option<&str>) -> String {
    let (width, height) = (canvas.width + 2.0 * MARGIN, canvas.height + 2.0 * MARGIN);
    let millimetres = |points: f64| points * 25.4 / 72.0;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.2}mm\" height=\"{:.2}mm\" \
         viewBox=\"{} {} {} {}\" role=\"img\" font-family=\"{FONTS}\">\n<title>{}</title>",
        millimetres(width),
        millimetres(height),
        short(-MARGIN),
        short(-MARGIN),
        short(width),
        short(height),
        escape(title)
    );
    if let Some(data) = data {
        let _ = writeln!(svg, "<metadata>{}</metadata>", escape(data));
    }
    let _ = writeln!(
        svg,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>",
        short(-MARGIN),
        short(-MARGIN),
        short(width),
        short(height),
        filled(Some(Ink::Paper))
    );
    for shape in &canvas.shapes {
        add(&mut svg, shape);
    }
    svg.push_str("</svg>\n");
    svg
}

/// The data that [`render`] kept in a document.
pub(super) fn data_in(svg: &str) -> Option<String> {
    let (_, rest) = svg.split_once("<metadata>")?;
    let (data, _) = rest.split_once("</metadata>")?;
    let plain = data.replace("&lt;", "<").replace("&gt;", ">");
    Some(plain.replace("&quot;", "\"").replace("&amp;", "&"))
}

fn add(svg: &mut String, shape: &Shape) {
    let _ = match shape {
        Shape::Path {
            points,
            closed,
            stroke,
            fill,
        } => {
            let path = path(points, *closed);
            let paint = painted(*stroke, *fill);
            writeln!(svg, "<path d=\"{path}\"{paint}/>")
        }
        Shape::Band {
            points,
            ink,
            opacity,
        } => {
            let paint = filled(Some(*ink));
            let (path, opacity) = (path(points, true), short(*opacity));
            writeln!(
                svg,
                "<path d=\"{path}\"{paint} fill-opacity=\"{opacity}\"/>"
            )
        }
        Shape::Disc {
            centre,
            radius,
            stroke,
            fill,
        } => {
            let paint = painted(Some(*stroke), Some(*fill));
            let (x, y, r) = (short(centre.0), short(centre.1), short(*radius));
            writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"{paint}/>")
        }
        Shape::Text { text, .. } if text.is_empty() => Ok(()),
        Shape::Text {
            at,
            text,
            size,
            bold,
            anchor,
            ink,
        } => {
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let weight = if *bold { " font-weight=\"bold\"" } else { "" };
            writeln!(
                svg,
                "<text x=\"{}\" y=\"{}\" font-size=\"{}\"{weight}{anchor}{}>{}</text>",
                short(at.0),
                short(at.1),
                short(*size),
                filled(Some(*ink)),
                escape(text)
            )
        }
    };
}

fn path(points: &[(f64, f64)], closed: bool) -> String {
    let mut path = String::new();
    for (at, &(x, y)) in points.iter().enumerate() {
        let command = if at == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{command}{} {}", short(x), short(y));
    }
    if closed {
        path.push('Z');
    }
    path
}

/// Returns colours as attributes, for paper, and as classes, for pages with other colours.
fn painted(stroke: Option<Stroke>, fill: Option<Ink>) -> String {
    let mut classes = Vec::new();
    let mut attributes = String::new();
    match fill {
        None => attributes.push_str(" fill=\"none\""),
        Some(ink) => {
            classes.push(format!("f-{}", class(ink)));
            let _ = write!(attributes, " fill=\"{}\"", on_paper(ink));
        }
    }
    if let Some(stroke) = stroke {
        classes.push(format!("s-{}", class(stroke.ink)));
        let (colour, width) = (on_paper(stroke.ink), short(stroke.width));
        let _ = write!(attributes, " stroke=\"{colour}\" stroke-width=\"{width}\"");
        if stroke.dashed {
            attributes.push_str(" stroke-dasharray=\"4 2\"");
        }
        attributes.push_str(" stroke-linejoin=\"round\"");
    }
    match classes.is_empty() {
        true => attributes,
        false => format!(" class=\"{}\"{attributes}", classes.join(" ")),
    }
}

fn filled(fill: Option<Ink>) -> String {
    painted(None, fill)
}

/// A length to a hundredth of a point.
fn short(length: f64) -> String {
    let text = format!("{length:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}
