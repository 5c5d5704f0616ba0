//! Figures as SVG: the one place that knows the plotting library.
//!
//! A figure is a grid of panels that share a legend. A panel shows values
//! against sizes that double (block sizes, mostly), on an axis that is
//! logarithmic, base 2, or against counts, on a linear one; the vertical one is
//! linear from 0, or logarithmic. Stacked bars are a figure of their own.

mod bars;

pub(crate) use bars::{Bar, render_bars};

use kuva::backend::svg::SvgBackend;
use kuva::plot::legend::{LegendEntry, LegendShape};
use kuva::plot::{LinePlot, LineStyle, ScatterPlot};
use kuva::render::annotations::ReferenceLine;
use kuva::render::figure::Figure;
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;
use std::sync::Arc;

/// Colours that stay apart in print and for colour-blind readers (Okabe and
/// Ito's set, its yellow left out).
const COLOURS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00",
];

/// A panel ends this far above its highest line: a bar that a disturbed host
/// made ten times as long would flatten everything else. It is cut there.
const HEADROOM: f64 = 1.3;

/// More lines than colours are told apart by their strokes.
const STROKES: [LineStyle; 3] = [LineStyle::Solid, LineStyle::Dashed, LineStyle::Dotted];

/// How a series is drawn.
#[derive(Clone, Copy)]
struct Style {
    colour: &'static str,
    stroke: &'static LineStyle,
}

const COLUMNS: usize = 3;
const PANEL: (f64, f64) = (400.0, 300.0);

/// One pair of axes.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) axis: Axis,
    pub(crate) height: Height,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    pub(crate) series: Vec<Series>,
}

/// The horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    /// Doubling, from the least there is.
    Logarithmic,
    /// From 0.
    Linear,
}

/// The vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Height {
    /// From 0.
    Linear,
    /// In powers of ten, around what is shown.
    Logarithmic,
}

/// A line with error bars, and a level to compare it with.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    /// Series with the same name have the same colour in all panels.
    pub(crate) name: String,
    pub(crate) points: Vec<Point>,
    /// Drawn as a horizontal dashed line.
    pub(crate) level: Option<f64>,
}

/// A value and the range most of its samples fell in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Positive.
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Axis {
    fn place(self, x: f64) -> f64 {
        match self {
            Self::Logarithmic => x.log2(),
            Self::Linear => x,
        }
    }
}

impl Height {
    fn place(self, y: f64) -> f64 {
        match self {
            Self::Linear => y,
            // Nothing has no place there.
            Self::Logarithmic => y.max(1e-3).log10(),
        }
    }
}

impl Panel {
    /// Both ends of the vertical axis.
    fn range(&self) -> (f64, f64) {
        let lines = self.series.iter().flat_map(|series| {
            let points = series.points.iter().map(|point| point.y);
            points.chain(series.level)
        });
        let places = || lines.clone().map(|y| self.height.place(y));
        let top = places().fold(f64::NEG_INFINITY, f64::max);
        match self.height {
            Height::Linear => (0.0, HEADROOM * top.max(0.0)),
            Height::Logarithmic if top.is_finite() => {
                (places().fold(top, f64::min).floor(), top.ceil().max(1.0))
            }
            Height::Logarithmic => (0.0, 1.0),
        }
    }
}

/// Draws the panels in rows of three; `level` says what the horizontal dashed
/// lines are, if there are any. `name` tells the figure from others on the same page.
pub(crate) fn render(name: &str, title: &str, panels: &[Panel], level: Option<&str>) -> String {
    let names = series_names(panels);
    let style = |name: &str| {
        let at = names.iter().position(|known| known == name).unwrap_or(0);
        let strokes = STROKES.len();
        Style {
            colour: COLOURS[at % COLOURS.len()],
            stroke: &STROKES[at / COLOURS.len() % strokes],
        }
    };
    let columns = panels.len().clamp(1, COLUMNS);
    let plots: Vec<Vec<Plot>> = panels.iter().map(|panel| draw(panel, &style)).collect();
    let layouts = panels
        .iter()
        .zip(&plots)
        .map(|(panel, plots)| lay_out(panel, plots, &style))
        .collect();
    let scene = Figure::new(panels.len().div_ceil(columns).max(1), columns)
        .with_title(title)
        .with_title_size(18)
        .with_cell_size(PANEL.0, PANEL.1)
        .with_plots(plots)
        .with_layouts(layouts)
        .with_shared_legend_bottom()
        .with_shared_legend_entries(legend(&names, &style, level))
        .render();
    let svg = SvgBackend::default().render_scene(&scene);
    fit_for_pages(name, &svg, scene.width, scene.height)
}

/// The picture with a `viewBox`, without which a page can cut it but not scale
/// it, and with identifiers that no other figure on the page has.
fn fit_for_pages(name: &str, svg: &str, width: f64, height: f64) -> String {
    let root = format!("<svg viewBox=\"0 0 {width} {height}\" ");
    svg.replacen("<svg ", &root, 1)
        .replace("kuva-clip-", &format!("{name}-clip-"))
}

fn series_names(panels: &[Panel]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for series in panels.iter().flat_map(|panel| &panel.series) {
        if !names.contains(&series.name) {
            names.push(series.name.clone());
        }
    }
    names
}

fn draw(panel: &Panel, style: &impl Fn(&str) -> Style) -> Vec<Plot> {
    let mut plots = Vec::new();
    let (_, top) = panel.range();
    for series in &panel.series {
        let height = |y| panel.height.place(y);
        let at = |point: &Point| (panel.axis.place(point.x), height(point.y));
        let arms = |point: &Point| {
            let y = height(point.y);
            (y - height(point.low), height(point.high).min(top) - y)
        };
        let Style { colour, stroke } = style(&series.name);
        let line = LinePlot::new()
            .with_data(series.points.iter().map(at))
            .with_y_err_asymmetric(series.points.iter().map(arms))
            .with_color(colour)
            .with_line_style(stroke.clone())
            .with_stroke_width(1.6);
        let marks = ScatterPlot::new()
            .with_data(series.points.iter().map(at))
            .with_color(colour)
            .with_size(3.0);
        plots.push(Plot::Line(line));
        plots.push(Plot::Scatter(marks));
    }
    plots
}

fn lay_out(panel: &Panel, plots: &[Plot], style: &impl Fn(&str) -> Style) -> Layout {
    let points = || panel.series.iter().flat_map(|series| &series.points);
    let place = |point: &Point| panel.axis.place(point.x);
    let last = points().map(place).fold(0.0, f64::max);
    let first = match panel.axis {
        Axis::Logarithmic => points().map(place).fold(last, f64::min).floor(),
        Axis::Linear => 0.0,
    };
    // At most about six labels: 1, 4, 16, ...
    let step = ((last - first) / 5.0).ceil().max(1.0);
    let (step, margin, format) = match panel.axis {
        Axis::Logarithmic => (step, 0.3, TickFormat::Custom(Arc::new(power_of_two))),
        Axis::Linear => (step.log2().ceil().exp2(), last / 30.0, TickFormat::Auto),
    };
    let (bottom, top) = panel.range();
    let mut layout = Layout::auto_from_plots(plots)
        .with_title(&panel.title)
        .with_title_size(13)
        .with_x_label(&panel.x_label)
        .with_y_label(&panel.y_label)
        .with_label_size(12)
        .with_tick_size(11)
        .with_x_axis_min(first - margin)
        .with_x_axis_max(last + margin)
        .with_x_tick_step(step)
        .with_x_tick_format(format)
        .with_y_axis_min(bottom)
        .with_y_axis_max(top);
    if panel.height == Height::Logarithmic {
        let step = ((top - bottom) / 6.0).ceil().max(1.0);
        layout = layout
            .with_y_tick_step(step)
            .with_y_tick_format(TickFormat::Custom(Arc::new(power_of_ten)));
    }
    for series in &panel.series {
        if let Some(level) = series.level {
            let line = ReferenceLine::horizontal(panel.height.place(level))
                .with_color(style(&series.name).colour)
                .with_stroke_width(1.2);
            layout = layout.with_reference_line(line);
        }
    }
    layout
}

/// A tick of the logarithmic axis: 1024 rather than 10.
fn power_of_two(exponent: f64) -> String {
    let value = exponent.exp2();
    if value < 16384.0 {
        format!("{value:.0}")
    } else {
        // The largest powers as powers, for they would run into each other.
        format!("2^{exponent:.0}")
    }
}

/// A tick of the logarithmic height: 1000 rather than 3.
fn power_of_ten(exponent: f64) -> String {
    match exponent {
        ..7.0 => format!("{:.0}", 10_f64.powf(exponent)),
        _ => format!("10^{exponent:.0}"),
    }
}

fn legend(
    names: &[String],
    style: &impl Fn(&str) -> Style,
    level: Option<&str>,
) -> Vec<LegendEntry> {
    let entry = |label: &str, colour: &str, dasharray: Option<String>| LegendEntry {
        label: label.to_owned(),
        color: colour.to_owned(),
        shape: LegendShape::Line,
        dasharray,
    };
    let of_series = |name: &String| {
        let Style { colour, stroke } = style(name);
        entry(name, colour, stroke.dasharray())
    };
    let of_level = |level| entry(level, "#555555", Some("6 4".into()));
    let series = names.iter().map(of_series);
    series.chain(level.map(of_level)).collect()
}
