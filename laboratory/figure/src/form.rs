//! The form of figures: `--figure KEY=VALUE`.

use super::data::{Content, Figure, Panel};
use super::{pdf, svg};
use std::fmt;

/// The settings of `--figure`.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureForm {
    /// The width in points.
    width: f64,
    formats: Vec<Format>,
    /// Whether each panel has its own file.
    single: bool,
}

/// An invalid pair of `--figure`.
#[derive(Debug)]
pub struct FormError {
    pair: String,
    expected: &'static str,
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pair, expected } = self;
        write!(f, "--figure {pair}: expected {expected}")
    }
}

impl std::error::Error for FormError {}

/// The file format of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Svg,
    Pdf,
}

/// Points in a millimetre.
const MM: f64 = 72.0 / 25.4;

/// The widths of a page and of one of two columns in most journals.
const PAGE: f64 = 180.0 * MM;
const COLUMN: f64 = 85.0 * MM;

/// The allowed widths in mm.
const WIDTHS: std::ops::RangeInclusive<f64> = 60.0..=400.0;

impl Default for FigureForm {
    fn default() -> Self {
        Self {
            width: PAGE,
            formats: vec![Format::Svg],
            single: false,
        }
    }
}

impl Format {
    fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Pdf => "pdf",
        }
    }
}

impl FigureForm {
    /// The text for `--help`.
    pub const HELP: &'static str = "How figures are written: width=85mm (or in, pt) \
         [180mm], format=svg,pdf [svg], panels=single (a file for each) or together [together]; \
         may be repeated";

    /// Parses the pairs of `--figure`.
    ///
    /// # Errors
    ///
    /// If a key or value is unknown.
    pub fn parse(pairs: &[String]) -> Result<Self, FormError> {
        let mut form = Self::default();
        for pair in pairs {
            let refused = |expected| {
                let pair = pair.clone();
                Err(FormError { pair, expected })
            };
            match pair.split_once('=') {
                Some(("width", text)) => match width(text) {
                    Some(width) => form.width = width,
                    None => {
                        return refused("a width from 60mm to 400mm, such as 85mm, 3.3in or 240pt");
                    }
                },
                Some(("format", text)) => match formats(text) {
                    Some(formats) => form.formats = formats,
                    None => return refused("format=svg, format=pdf or format=svg,pdf"),
                },
                Some(("panels", "single")) => form.single = true,
                Some(("panels", "together")) => form.single = false,
                Some(("panels", _)) => return refused("panels=single or panels=together"),
                _ => return refused("width=, format= or panels="),
            }
        }
        Ok(form)
    }

    /// Renders the files of a figure. Returns their names, without the folder, and contents.
    ///
    /// # Errors
    ///
    /// If the figure cannot be written as JSON.
    pub fn files(&self, stem: &str, figure: &Figure) -> serde_json::Result<Vec<(String, Vec<u8>)>> {
        let parts: Vec<(String, Figure)> = match self.single {
            false => vec![(stem.to_owned(), figure.clone())],
            true => figure
                .panels
                .iter()
                .enumerate()
                .map(|(at, panel)| {
                    let alone = Figure {
                        panels: vec![panel.clone()],
                        ..figure.clone()
                    };
                    (format!("{stem}.panel-{}", at + 1), alone)
                })
                .collect(),
        };
        let mut files = Vec::new();
        for (name, figure) in parts {
            let canvas = figure.draw(self.width - 2.0 * svg::MARGIN);
            for format in &self.formats {
                let contents = match format {
                    Format::Svg => {
                        let data = serde_json::to_string(&figure)?;
                        svg::render(&canvas, &figure.message, Some(&data)).into_bytes()
                    }
                    Format::Pdf => pdf::render(&canvas, &figure.message),
                };
                files.push((format!("{name}.{}", format.ending()), contents));
            }
        }
        Ok(files)
    }
}

impl Figure {
    /// Reads the figure in an SVG file of [`FigureForm::files`]. Returns `None` for a figure that cannot be drawn,
    /// which a user may have made with an editor.
    pub fn in_svg(text: &str) -> Option<Self> {
        let figure: Self = serde_json::from_str(&svg::data_in(text)?).ok()?;
        let is_whole = |panel: &Panel| match &panel.content {
            Content::Dots { marks, rows, .. } => {
                rows.iter().all(|row| row.dots.len() <= marks.len())
            }
            Content::Lines { .. } | Content::Bars { .. } => true,
        };
        figure.panels.iter().all(is_whole).then_some(figure)
    }

    /// Renders the figure for web pages: as wide as a page, and as wide as a column, for phones.
    pub fn for_pages(&self) -> [String; 2] {
        [PAGE, COLUMN].map(|width| {
            let canvas = self.draw(width - 2.0 * svg::MARGIN);
            svg::render(&canvas, &self.message, None)
        })
    }
}

/// Parses a length within the allowed widths. Returns it in points.
fn width(text: &str) -> Option<f64> {
    let unit = text.find(|c: char| c.is_ascii_alphabetic())?;
    let points = match &text[unit..] {
        "mm" => MM,
        "cm" => 10.0 * MM,
        "in" => 72.0,
        "pt" => 1.0,
        _ => return None,
    };
    let width = text[..unit].parse::<f64>().ok()? * points;
    WIDTHS.contains(&(width / MM)).then_some(width)
}

fn formats(text: &str) -> Option<Vec<Format>> {
    let format = |name: &str| match name.trim() {
        "svg" => Some(Format::Svg),
        "pdf" => Some(Format::Pdf),
        _ => None,
    };
    text.split(',').map(format).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pairs: &[&str]) -> Result<FigureForm, FormError> {
        let pairs: Vec<String> = pairs.iter().map(|&pair| pair.into()).collect();
        FigureForm::parse(&pairs)
    }

    #[test]
    fn widths_and_formats_are_read() {
        let form = parse(&["width=85mm", "format=svg,pdf", "panels=single"]).unwrap();
        assert!((form.width - 240.94).abs() < 0.01);
        assert_eq!(form.formats, [Format::Svg, Format::Pdf]);
        assert!(form.single);
        assert!((parse(&["width=3.5in"]).unwrap().width - 252.0).abs() < 1e-9);
        assert_eq!(parse(&[]).unwrap(), FigureForm::default());
    }

    #[test]
    fn invalid_forms_are_refused() {
        for (pair, part) in [
            ("width=85", "85mm"),
            ("width=5mm", "from 60mm"),
            ("width=NaNmm", "from 60mm"),
            ("width=9em", "from 60mm"),
            ("format=png", "format=pdf"),
            ("panels=2", "panels=single"),
            ("colour=none", "width="),
            ("width", "width="),
        ] {
            let error = parse(&[pair]).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains(pair), "{error}");
        }
    }
}
