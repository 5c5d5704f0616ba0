//! The computations of the iterations.

use std::hint::black_box;

/// Laps of [`spin`] that take about 0.2 us.
pub(crate) const FIFTH_OF_A_US: u64 = 200;

/// A permutation of the numbers, in about ten instructions.
#[inline(always)]
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 29)).wrapping_mul(0xd134_2543_de82_ef95);
    value ^ (value >> 32)
}

/// Runs a chain of `laps` multiplications and additions.
#[inline(never)]
pub(crate) fn spin(seed: u64, laps: u64) -> u64 {
    let mut value = seed;
    for lap in 0..black_box(laps) {
        value = value.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(lap);
    }
    value
}
