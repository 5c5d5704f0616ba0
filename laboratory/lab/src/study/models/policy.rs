//! The models as policies: what picks the blocks.

use crate::model::Choices;
use crate::study::block_size::LoopPolicy;
use manycore_programs::partition::{Block, Partitioner};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroUsize;

/// A model as a policy of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ModelPolicy {
    /// The document's formula, in the document's pool; simulated only.
    Document,
    /// The document's formula, in our pool, as all that follow.
    Published,
    /// Its form, fitted anew to its own table.
    Refitted,
    /// The balance of measured prices, times a power of an iteration's bytes.
    Ours,
    /// `fixed-block` without a size, which is told the prices and times the iterations.
    PricesAlone,
    /// The rule that the document ascribes to Taskflow.
    TaskflowRule,
    /// The default, which is told nothing.
    Adaptive,
}

impl ModelPolicy {
    pub(super) const ALL: [Self; 7] = [
        Self::Document,
        Self::Published,
        Self::Refitted,
        Self::Ours,
        Self::PricesAlone,
        Self::TaskflowRule,
        Self::Adaptive,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Published => "published",
            Self::Refitted => "refitted",
            Self::Ours => "ours",
            Self::PricesAlone => "prices-alone",
            Self::TaskflowRule => "taskflow-rule",
            Self::Adaptive => "adaptive",
        }
    }

    /// The block that it is told, if it is.
    pub(super) fn block(self, choices: &Choices) -> Option<usize> {
        match self {
            Self::Document | Self::Published => Some(choices.published),
            Self::Refitted => Some(choices.refitted),
            Self::Ours => Some(choices.ours),
            Self::PricesAlone | Self::TaskflowRule | Self::Adaptive => None,
        }
    }

    /// How the loop is run.
    pub(super) fn of_loop(self, choices: &Choices) -> LoopPolicy {
        let block = self.block(choices).and_then(NonZeroUsize::new);
        match (self, block) {
            (Self::Document, Some(block)) => LoopPolicy::Document(block),
            (_, Some(block)) => LoopPolicy::Ours(Partitioner::FixedBlock(Block::Size(block))),
            (Self::TaskflowRule, None) => LoopPolicy::Ours(Partitioner::Guided),
            (Self::PricesAlone, None) => LoopPolicy::Ours(Partitioner::FixedBlock(Block::Auto)),
            (_, None) => LoopPolicy::Ours(Partitioner::Adaptive),
        }
    }
}

impl fmt::Display for ModelPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
