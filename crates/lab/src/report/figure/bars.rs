//! Stacked bars side by side.

use super::{COLOURS, fit_for_pages};
use kuva::backend::svg::SvgBackend;
use kuva::plot::BarPlot;
use kuva::plot::legend::{LegendEntry, LegendShape};
use kuva::render::figure::Figure;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;

/// One bar: what stands under it, and its parts from below.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) parts: Vec<f64>,
}

/// A bar's width, and what is around all of them.
const WIDTH: f64 = 42.0;
const AROUND: f64 = 160.0;
const HEIGHT: f64 = 340.0;

/// Draws the bars in a row; `names` are those of their parts. `name` tells the figure
/// from others on the same page.
pub(crate) fn render_bars(
    name: &str,
    title: &str,
    y_label: &str,
    names: &[&str],
    bars: &[Bar],
) -> String {
    let colour = |part: usize| COLOURS[part % COLOURS.len()];
    let mut plot = BarPlot::new();
    for bar in bars {
        let parts = bar.parts.iter().enumerate();
        let parts = parts.map(|(part, &value)| (value, colour(part)));
        plot = plot.with_group(bar.label.as_str(), parts);
    }
    let plots = vec![Plot::Bar(plot.with_stacked())];
    let layout = Layout::auto_from_plots(&plots)
        .with_y_label(y_label)
        .with_y_axis_min(0.0)
        .with_label_size(12)
        .with_tick_size(11)
        .with_x_tick_rotate(-45.0);
    let entry = |(part, name): (usize, &&str)| LegendEntry {
        label: (*name).to_owned(),
        color: colour(part).to_owned(),
        shape: LegendShape::Rect,
        dasharray: None,
    };
    let scene = Figure::new(1, 1)
        .with_title(title)
        .with_title_size(18)
        .with_cell_size(AROUND + WIDTH * bars.len() as f64, HEIGHT)
        .with_plots(vec![plots])
        .with_layouts(vec![layout])
        .with_shared_legend_bottom()
        .with_shared_legend_entries(names.iter().enumerate().map(entry).collect())
        .render();
    let svg = SvgBackend::default().render_scene(&scene);
    fit_for_pages(name, &svg, scene.width, scene.height)
}
