//! `manycore figure`: a figure again, in another form.

use super::print;
use crate::cli::FigureArgs;
use crate::failure::bad_input;
use crate::report::figure::{Figure, FigureForm};
use crate::report::files::OutFolder;
use std::fs;
use std::path::Path;

pub(crate) fn run(args: &FigureArgs) -> anyhow::Result<()> {
    let form = FigureForm::parse(&args.figure)?;
    let mut figures = Vec::new();
    for path in &args.files {
        let stem = path.file_stem().unwrap_or_default();
        figures.push((stem.to_string_lossy().into_owned(), read(path)?));
    }
    let out = OutFolder::prepare(&args.out)?;
    for (stem, figure) in figures {
        for (name, contents) in form.files(&stem, &figure)? {
            let path = out.write(&name, contents)?;
            print(&format!("wrote {}", path.display()))?;
        }
    }
    Ok(())
}

/// The figure that a file holds.
fn read(path: &Path) -> anyhow::Result<Figure> {
    let refused = |what: String| bad_input(format!("{}: {what}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let found = Figure::in_svg(&text);
    found.ok_or_else(|| refused("expected an SVG file that a study wrote".into()))
}
