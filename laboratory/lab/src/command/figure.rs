//! `manycore figure`: draws a figure again in another form, or draws one from a table of times.

use super::output::print;
use crate::cli::FigureArgs;
use crate::failure::bad_input;
use crate::input;
use crate::report::files::OutFolder;
use crate::study::{packing, peers};
use manycore_figure::{Figure, FigureForm};
use std::collections::BTreeMap;
use std::path::Path;

/// The possible contents of a file.
const EXPECTED: &str =
    "expected an SVG file that a study wrote, or a CSV file of the study packing or peers";

pub(crate) fn run(args: &FigureArgs) -> anyhow::Result<()> {
    let form = FigureForm::parse(&args.figure)?;
    let mut figures = Vec::new();
    for path in &args.files {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if path.extension().is_some_and(|ending| ending == "csv") {
            let is_of_peers = input::read(path).is_ok_and(|text| peers::printed::is_table(&text));
            let drawn = match is_of_peers {
                true => peers::printed::figures(path)?,
                false => packing::printed::figures(path)?,
            };
            for figure in drawn {
                let part = match &*figure.part {
                    "" => String::new(),
                    part => format!(".{part}"),
                };
                figures.push((format!("{stem}{part}"), figure));
            }
        } else {
            figures.push((stem.into_owned(), read(path)?));
        }
    }
    let mut files = BTreeMap::new();
    for (stem, figure) in figures {
        for (name, contents) in form.files(&stem, &figure)? {
            if files.contains_key(&name) {
                return Err(bad_input(format!(
                    "two figures would have the name {name}; expected files with different names, \
                    or one file at a time"
                )));
            }
            files.insert(name, contents);
        }
    }
    let out = OutFolder::prepare(&args.out)?;
    for (name, contents) in files {
        let path = out.write(&name, contents)?;
        print(&format!("wrote {}", path.display()))?;
    }
    Ok(())
}

/// Reads the figure in a file.
fn read(path: &Path) -> anyhow::Result<Figure> {
    let refused = |what: &str| bad_input(format!("{}: {what}{EXPECTED}", path.display()));
    let text = input::read(path).map_err(|error| refused(&format!("{error}; ")))?;
    Figure::in_svg(&text).ok_or_else(|| refused(""))
}
