//! Rows as CSV.

use serde::Serialize;

/// A header with the fields' names, and a line a row.
pub(crate) fn text<R: Serialize>(rows: &[R]) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
