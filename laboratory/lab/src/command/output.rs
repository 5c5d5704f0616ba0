//! Standard output.

use crate::cli::Shape;
use serde::Serialize;
use std::fmt::Display;
use std::io::{Write, stdout};

/// Prints a report as text or as JSON.
pub(super) fn show<R: Display + Serialize>(report: &R, format: Shape) -> anyhow::Result<()> {
    print(&match format {
        Shape::Table => report.to_string(),
        Shape::Json => serde_json::to_string_pretty(report)?,
    })
}

/// Writes to standard output. If the pipe is closed, returns an error and does not panic.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}
