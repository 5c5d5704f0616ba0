//! Conversions, comparisons, and operations that only look at the bits of numbers.

use super::soft::{pack, round_off};
use super::{Format, Number, Rounding, flag};

/// An integer format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Integer {
    pub(crate) bits: u32,
    pub(crate) signed: bool,
}

/// Converts to an integer. A number out of range gives the nearest integer and raises `INVALID`. Results of 32 bits,
/// including unsigned results, are extended by their sign bit.
pub(crate) fn to_integer(f: Format, a: u64, to: Integer, mode: Rounding, flags: &mut u8) -> u64 {
    let most: u128 = (1 << (to.bits - u32::from(to.signed))) - 1;
    let least: u128 = if to.signed { 1 << (to.bits - 1) } else { 0 };
    let extend = |value: u64| match to.bits {
        32 => value as i32 as i64 as u64,
        _ => value,
    };
    let (negative, magnitude, inexact) = match f.unpack(a) {
        Number::Nan => (false, u128::MAX, false),
        Number::Infinity { negative } => (negative, u128::MAX, false),
        Number::Zero { .. } => (false, 0, false),
        Number::Finite(negative, exponent, significand) if exponent < 0 => {
            let (kept, inexact) = round_off(significand, -exponent as u32, mode, negative);
            (negative, kept, inexact)
        }
        Number::Finite(negative, exponent, significand) if exponent <= 64 => {
            (negative, significand << exponent, false)
        }
        Number::Finite(negative, ..) => (negative, u128::MAX, false),
    };
    let limit = if negative { least } else { most };
    if magnitude > limit {
        *flags |= flag::INVALID;
        let value = if negative {
            (least as u64).wrapping_neg()
        } else {
            most as u64
        };
        return extend(value);
    }
    if inexact {
        *flags |= flag::INEXACT;
    }
    let value = magnitude as u64;
    extend(if negative {
        value.wrapping_neg()
    } else {
        value
    })
}

/// Converts from an integer of 64 bits. The caller has extended shorter integers.
pub(crate) fn from_integer(
    f: Format,
    value: u64,
    signed: bool,
    mode: Rounding,
    flags: &mut u8,
) -> u64 {
    let negative = signed && (value as i64) < 0;
    let magnitude = if negative {
        value.wrapping_neg()
    } else {
        value
    };
    pack(f, negative, 0, magnitude.into(), mode, flags)
}

/// Converts from one format to another.
pub(crate) fn between(from: Format, to: Format, a: u64, mode: Rounding, flags: &mut u8) -> u64 {
    let sign = |negative| if negative { to.sign() } else { 0 };
    match from.unpack(a) {
        Number::Nan => {
            if from.is_signaling(a) {
                *flags |= flag::INVALID;
            }
            to.nan()
        }
        Number::Infinity { negative } => sign(negative) | to.infinity(),
        Number::Zero { negative } => sign(negative),
        Number::Finite(negative, exponent, significand) => {
            pack(to, negative, exponent, significand, mode, flags)
        }
    }
}

/// `a == b`. Only a signaling NaN raises `INVALID`.
pub(crate) fn equal(f: Format, a: u64, b: u64, flags: &mut u8) -> bool {
    if f.is_nan(a) || f.is_nan(b) {
        if f.is_signaling(a) || f.is_signaling(b) {
            *flags |= flag::INVALID;
        }
        return false;
    }
    a == b || (a | b) & !f.sign() == 0
}

/// `a < b`, or `a <= b` if `or_equal`. Any NaN raises `INVALID`.
pub(crate) fn less(f: Format, a: u64, b: u64, or_equal: bool, flags: &mut u8) -> bool {
    if f.is_nan(a) || f.is_nan(b) {
        *flags |= flag::INVALID;
        return false;
    }
    let (x, y) = (ordered(f, a), ordered(f, b));
    x < y || or_equal && x == y
}

/// Maps a number's bits to an integer, in the order of the numbers. Both zeros give 0.
fn ordered(f: Format, bits: u64) -> i64 {
    let magnitude = (bits & !f.sign()) as i64;
    if bits & f.sign() != 0 {
        -magnitude
    } else {
        magnitude
    }
}

/// The lesser or the greater of two numbers. If one number is a NaN, the result is the other number. The negative zero
/// is less than the positive zero.
pub(crate) fn extreme(f: Format, a: u64, b: u64, greater: bool, flags: &mut u8) -> u64 {
    if f.is_signaling(a) || f.is_signaling(b) {
        *flags |= flag::INVALID;
    }
    match (f.is_nan(a), f.is_nan(b)) {
        (true, true) => f.nan(),
        (true, false) => b,
        (false, true) => a,
        _ => {
            let key = |bits| (ordered(f, bits), bits & f.sign() == 0);
            if (key(a) < key(b)) != greater { a } else { b }
        }
    }
}

/// The mask of `fclass`.
pub(crate) fn class(f: Format, a: u64) -> u64 {
    let negative = a & f.sign() != 0;
    let magnitude = a & !f.sign();
    let at = if f.is_nan(a) {
        return if f.is_signaling(a) { 1 << 8 } else { 1 << 9 };
    } else if magnitude == f.infinity() {
        0
    } else if magnitude == 0 {
        3
    } else if magnitude >> (f.precision - 1) == 0 {
        2
    } else {
        1
    };
    1 << if negative { at } else { 7 - at }
}
