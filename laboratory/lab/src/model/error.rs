//! The errors in a file that a model reads or writes.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// An error is one line. It names the file, the place in it, and what was expected.
#[derive(Debug, Error)]
pub(crate) enum ModelError {
    #[error("cannot read {}: {source}; expected {expected}", path.display())]
    Read {
        path: PathBuf,
        source: io::Error,
        expected: &'static str,
    },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{file}: no rows of data; expected a header and at least one row")]
    Empty { file: String },
    #[error("{file}: no column `{column}`; expected the columns {expected}")]
    MissingColumn {
        file: String,
        column: &'static str,
        expected: String,
    },
    #[error("{file}: the column `{column}` stands twice in the header")]
    RepeatedColumn { file: String, column: String },
    #[error("{file}, line {line}: `{column}` is `{found}`; expected {expected}")]
    Field {
        file: String,
        line: u64,
        column: &'static str,
        found: String,
        expected: &'static str,
    },
    #[error("{file}, line {line}: {found} fields; expected {expected} as in the header")]
    Length {
        file: String,
        line: u64,
        found: u64,
        expected: u64,
    },
    #[error("{file}, line {line}: {problem}")]
    Malformed {
        file: String,
        line: u64,
        problem: String,
    },
    #[error(
        "{file}, line {line}: block_size {block} of this cell was given on line {first} already"
    )]
    RepeatedCell {
        file: String,
        line: u64,
        first: u64,
        block: usize,
    },
    #[error("{file}: {found} {what}; expected at most {most}")]
    TooMany {
        file: String,
        found: usize,
        what: &'static str,
        most: usize,
    },
    #[error("{}: {problem}", path.display())]
    Parameters { path: PathBuf, problem: String },
}
