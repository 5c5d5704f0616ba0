//! The ways to run a loop: the pool, and the rule by which threads claim iterations.

use manycore_programs::partition::{Block, ParsePartitionerError, Partitioner};
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

/// A way to run a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::study) enum LoopPolicy {
    /// manycore's pool with a partitioner.
    Ours(Partitioner),
    /// The pool of the document (Shuai's paper), with this block size. It is only simulated.
    Document(NonZeroUsize),
}

/// The name of [`LoopPolicy::Document`].
const DOCUMENT: &str = "document";

impl LoopPolicy {
    /// The CSV's column `partitioner`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ours(partitioner) => partitioner.name(),
            Self::Document(_) => DOCUMENT,
        }
    }

    /// The block size, if the policy gives one.
    pub(super) fn block(self) -> Option<usize> {
        match self {
            Self::Ours(Partitioner::FixedBlock(Block::Size(size)))
            | Self::Ours(Partitioner::Sharded(Block::Size(size)))
            | Self::Document(size) => Some(size.get()),
            Self::Ours(_) => None,
        }
    }
}

impl fmt::Display for LoopPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ours(partitioner) => partitioner.fmt(f),
            Self::Document(block) => write!(f, "{DOCUMENT}={block}"),
        }
    }
}

impl FromStr for LoopPolicy {
    type Err = ParsePartitionerError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let block = text.strip_prefix(DOCUMENT);
        let block = block.and_then(|rest| rest.strip_prefix('=')?.parse().ok());
        match block {
            Some(block) => Ok(Self::Document(block)),
            None => text.parse().map(Self::Ours),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parsed_name_prints_as_before() {
        for name in ["document=16", "fixed-block=4", "adaptive", "sharded"] {
            let policy: LoopPolicy = name.parse().unwrap();
            assert_eq!(policy.to_string(), name);
        }
        assert_eq!(
            "document=16".parse::<LoopPolicy>().unwrap().block(),
            Some(16)
        );
        for wrong in ["document", "document=0", "document=x"] {
            assert!(wrong.parse::<LoopPolicy>().is_err(), "{wrong}");
        }
    }
}
