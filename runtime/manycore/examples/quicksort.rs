//! Quicksort: this thread sorts one half, and an idle thread, if there is one, sorts the other.
//!
//! It shows [`manycore::join`]: fork-join in a recursive program. If no thread steals, a `join` costs about
//! as much as two plain calls. So the recursion forks down to short slices.
//!
//! ```sh
//! cargo run --release -p manycore --example quicksort
//! ```

use std::time::Instant;

/// Insertion sort handles shorter slices.
const SHORT: usize = 24;

fn quicksort(items: &mut [u64]) {
    if items.len() <= SHORT {
        return insertion_sort(items);
    }
    let middle = partition(items);
    let (left, right) = items.split_at_mut(middle);
    manycore::join(|| quicksort(left), || quicksort(&mut right[1..]));
}

/// Moves items less than a pivot to its left, and the others to its right. Returns the pivot's place.
fn partition(items: &mut [u64]) -> usize {
    let last = items.len() - 1;
    // The median of three items as the pivot keeps sorted input fast.
    let mut three = [0, last / 2, last];
    three.sort_unstable_by_key(|&i| items[i]);
    items.swap(three[1], last);
    let mut place = 0;
    for i in 0..last {
        if items[i] < items[last] {
            items.swap(i, place);
            place += 1;
        }
    }
    items.swap(place, last);
    place
}

fn insertion_sort(items: &mut [u64]) {
    for end in 1..items.len() {
        let mut i = end;
        while i > 0 && items[i - 1] > items[i] {
            items.swap(i - 1, i);
            i -= 1;
        }
    }
}

fn main() {
    let mix = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) ^ i;
    let mut items: Vec<u64> = (0..200_000).map(mix).collect();
    let mut expected = items.clone();

    let start = Instant::now();
    quicksort(&mut items);
    println!(
        "{} items sorted in {:?} on {} threads",
        items.len(),
        start.elapsed(),
        manycore::current_num_threads()
    );

    expected.sort_unstable();
    assert_eq!(items, expected);
}
