//! The common parts of both sorts: their input, and the check of their answer.

use super::Wrong;
use manycore_platform::Platform;

/// Instructions for each number that is sorted by insertion, and for each step that the number moves.
const INSERT: u64 = 8;
const MOVE: u64 = 7;

pub(super) fn numbers(length: usize, seed: u64) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..length).map(|_| random.u32(..)).collect()
}

/// A number that does not depend on the order of `data`. A lost, added or changed number leaves the fingerprint the
/// same in one of 2^64 cases.
fn fingerprint(data: &[u32]) -> u64 {
    data.iter()
        .map(|&number| fastrand::Rng::with_seed(u64::from(number)).u64(..))
        .fold(0, u64::wrapping_add)
}

/// Checks that `data` has the numbers of `input` in ascending order.
pub(super) fn verify(data: &[u32], input: &[u32]) -> Result<(), Wrong> {
    if let Some(before) = data.windows(2).position(|pair| pair[0] > pair[1]) {
        return Err(Wrong::Element {
            what: "place",
            index: before + 1,
        });
    }
    let what = "the fingerprint of the sorted numbers";
    Wrong::unless_equal(what, fingerprint(data), fingerprint(input))
}

pub(super) fn insertion_sort<P: Platform>(data: &mut [u32]) {
    let mut moved = 0;
    for end in 1..data.len() {
        let mut at = end;
        while at > 0 && data[at - 1] > data[at] {
            data.swap(at - 1, at);
            at -= 1;
        }
        moved += (end - at) as u64;
    }
    P::write(data);
    P::compute(INSERT * data.len() as u64 + MOVE * moved);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disorder_loss_and_invention_are_caught() {
        let input = [3, 1, 2, 1];
        assert_eq!(verify(&[1, 1, 2, 3], &input), Ok(()));
        let disorder = Wrong::Element {
            what: "place",
            index: 2,
        };
        assert_eq!(verify(&[1, 2, 1, 3], &input), Err(disorder));
        for wrong in [
            &[1, 1, 2][..],
            &[1, 1, 2, 4],
            &[1, 2, 2, 3],
            &[1, 1, 1, 2, 3],
        ] {
            assert!(verify(wrong, &input).is_err(), "{wrong:?}");
        }
    }
}
