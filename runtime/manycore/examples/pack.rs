//! Packs the few items of a large table that are not zero, in their order.
//!
//! It shows [`Pool::inclusive_scan`]: for each item, a running sum counts the kept items up to it. This
//! number is the item's place in the result. Then the parts of the result are filled independently.
//!
//! ```sh
//! cargo run --release -p manycore --example pack
//! ```

use manycore::Pool;

/// The number of packed items in one piece.
const PIECE: usize = 1_000;

/// Returns items of which about one in seven is not zero.
fn sparse(len: usize) -> Vec<u32> {
    let item = |i: u32| {
        let mixed = i.wrapping_mul(2_654_435_761) >> 16;
        if mixed % 7 == 0 { mixed + 1 } else { 0 }
    };
    (0..len as u32).map(item).collect()
}

fn pack(pool: &Pool, items: &[u32]) -> Vec<u32> {
    // First 1 for each kept item, 0 for others; then the number of kept items up to and including this one.
    let mut kept: Vec<usize> = items.iter().map(|&item| usize::from(item != 0)).collect();
    pool.inclusive_scan(&mut kept, |left, right| left + right);

    let mut packed = vec![0; kept.last().copied().unwrap_or(0)];
    pool.chunks_mut(&mut packed, PIECE, |index, piece| {
        // The number of kept items before this piece.
        let before = index * PIECE;
        let first = kept.partition_point(|&count| count <= before);
        let found = items[first..].iter().filter(|&&item| item != 0);
        for (place, item) in piece.iter_mut().zip(found) {
            *place = *item;
        }
    });
    packed
}

fn main() {
    let items = sparse(1_000_000);
    let packed = pack(Pool::global(), &items);
    println!("{} of {} items are not zero", packed.len(), items.len());

    let serial: Vec<u32> = items.into_iter().filter(|&item| item != 0).collect();
    assert_eq!(packed, serial);
}
