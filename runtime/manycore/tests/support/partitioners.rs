//! Every partitioner there is, with every kind of block.

use manycore::Partitioner;

/// Block sizes that divide nothing, everything, and more than everything.
const BLOCKS: [&str; 6] = ["auto", "1", "2", "7", "64", "18446744073709551615"];

/// By name, so that a partitioner added later is tested without asking.
pub(crate) fn all() -> Vec<Partitioner> {
    let named = |name: &'static str| {
        let sized = BLOCKS.iter().map(move |block| format!("{name}={block}"));
        let all: Vec<Partitioner> = sized.filter_map(|text| text.parse().ok()).collect();
        // Those that pick their own blocks refuse a size.
        match all.is_empty() {
            true => vec![name.parse().expect("a name in NAMES is a partitioner's")],
            false => all,
        }
    };
    Partitioner::NAMES.into_iter().flat_map(named).collect()
}
