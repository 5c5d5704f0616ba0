//! The part of a sweep that one process measures.

use std::str::FromStr;

/// The points that one process measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// The number of the shard, from 1.
    pub(super) index: usize,
    pub(super) all: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text
            .split_once('/')
            .and_then(|(index, all)| Some((index.parse().ok()?, all.parse().ok()?)));
        match parsed {
            Some((index, all)) if (1..=all).contains(&index) => Ok(Self { index, all }),
            _ => Err("expected I/N, such as 3/8, with I from 1 to N".into()),
        }
    }
}
