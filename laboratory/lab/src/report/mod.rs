//! Reports for a reader: sections of text, tables and figures, for a terminal and for an HTML page,
//! and the files that hold the numbers.

pub(crate) mod columns;
pub(crate) mod csv;
pub(crate) mod files;
pub(crate) mod grid;
pub(crate) mod host;
mod lock;
pub(crate) mod page;
pub(crate) mod processor;
pub(crate) mod section;
pub(crate) mod table;
pub(crate) mod words;
