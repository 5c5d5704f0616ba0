//! polars-core: sorting a column, and sums by a key.

use manycore_drop_in::Program;
use polars_core::prelude::*;

const ROWS: u32 = 1 << 18;
const KEYS: u32 = 1 << 10;

/// The numbers below [`ROWS`], each once, in an order that looks random.
fn scattered() -> Vec<u32> {
    (0..ROWS)
        .map(|x| x.wrapping_mul(2_654_435_761) % ROWS)
        .collect()
}

pub fn programs() -> Vec<Program> {
    let column = UInt32Chunked::from_vec("x".into(), scattered());
    let descending = column.clone();
    let keys: Vec<u32> = scattered().into_iter().map(|x| x % KEYS).collect();
    let frame = df!("key" => keys, "x" => scattered()).expect("two columns of one length");
    vec![
        Program::new(
            "polars_sort",
            || (),
            move |()| column.sort(false),
            |sorted| assert!(sorted.into_no_null_iter().eq(0..ROWS)),
        ),
        Program::new(
            "polars_sort_descending",
            || (),
            move |()| descending.sort(true),
            |sorted| assert!(sorted.into_no_null_iter().eq((0..ROWS).rev())),
        ),
        Program::new(
            "polars_group",
            || (),
            move |()| groups(&frame),
            |groups| {
                assert_eq!(groups.len() as u32, KEYS);
            },
        ),
    ]
}

fn groups(frame: &DataFrame) -> GroupPositions {
    frame
        .group_by(["key"])
        .expect("there is such a column")
        .into_groups()
}
