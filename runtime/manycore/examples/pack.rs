//! The few items of a large table that are not zero, packed side by side in their order.
//!
//! It shows [`Pool::inclusive_scan`]: a running sum says for each item how many are kept up to
//! it, and so where it goes. Then each part of the result is filled by itself.
//!
//! ```sh
//! cargo run --release -p manycore --example pack
//! ```

use manycore::Pool;

/// The number of packed items that are written in one piece.
const PIECE: usize = 1_000;

/// About one item in seven is not zero.
fn sparse(len: usize) -> Vec<u32> {
    let item = |i: u32| {
        let mixed = i.wrapping_mul(2_654_435_761) >> 16;
        if mixed % 7 == 0 { mixed + 1 } else { 0 }
    };
    (0..len as u32).map(item).collect()
}

fn pack(pool: &Pool, items: &[u32]) -> Vec<u32> {
    // 1 for each item that is kept; then how many are kept up to it and with it.
    let mut kept: Vec<usize> = items.iter().map(|&item| usize::from(item != 0)).collect();
    pool.inclusive_scan(&mut kept, |left, right| left + right);

    let mut packed = vec![0; kept.last().copied().unwrap_or(0)];
    pool.chunks_mut(&mut packed, PIECE, |index, piece| {
        // The piece begins after this number of kept items.
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
