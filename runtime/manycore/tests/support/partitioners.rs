//! Every partitioner, with every kind of block.

use manycore::{Partitioner, seam};

/// Block sizes that divide every length, some lengths, or exceed all.
const BLOCKS: [usize; 5] = [1, 2, 7, 64, usize::MAX];

pub(crate) fn all() -> Vec<Partitioner> {
    let makers = [Partitioner::fixed_block, seam::sharded];
    let sized = makers.into_iter().flat_map(|make| BLOCKS.map(make));
    [Partitioner::default()].into_iter().chain(sized).collect()
}
