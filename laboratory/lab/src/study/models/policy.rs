//! The models as policies of a loop.

use crate::model::Choices;
use crate::study::block_size::LoopPolicy;
use manycore_programs::partition::{Block, Partitioner};
use std::num::NonZeroUsize;

manycore_programs::by_name! {
    /// A way to pick the blocks of a loop.
    pub(super) enum ModelPolicy: "unknown policy", "expected some of" {
        /// The formula of the document (Shuai's paper), in the document's pool. This policy is only simulated.
        Document = "document",
        /// The document's formula. This policy and all policies below run in manycore's pool.
        Published = "published",
        /// The formula's form, fitted to the document's table of preferred blocks.
        Refitted = "refitted",
        /// The balance of measured prices, times a power of an iteration's bytes.
        Ours = "ours",
        /// `fixed-block` without a size, with prices. It measures an iteration's time.
        PricesAlone = "prices-alone",
        /// The rule that the document ascribes to Taskflow.
        TaskflowRule = "taskflow-rule",
        /// The default, without any input.
        Adaptive = "adaptive",
    }
}

impl ModelPolicy {
    /// The block that a model picks before the loop.
    pub(super) fn block(self, choices: &Choices) -> Option<usize> {
        match self {
            Self::Document | Self::Published => Some(choices.published),
            Self::Refitted => Some(choices.refitted),
            Self::Ours => Some(choices.ours),
            Self::PricesAlone | Self::TaskflowRule | Self::Adaptive => None,
        }
    }

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
