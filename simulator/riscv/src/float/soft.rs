//! Floating-point arithmetic by integers. Results are computed exactly and rounded once.
//!
//! Significands have 128 bits. If a result does not fit, it is cut, and its lowest bit is set if a dropped bit was set
//! ("sticky"). At least two bits remain below the rounding position, so the cut result rounds like the exact result.

use super::{Format, Number, Rounding, flag};

/// `value / 2^drop`, rounded to an integer, and whether the result is inexact.
pub(super) fn round_off(value: u128, drop: u32, mode: Rounding, negative: bool) -> (u128, bool) {
    if drop == 0 {
        return (value, false);
    }
    let (kept, rest, half) = match drop {
        1..128 => (value >> drop, value & ((1 << drop) - 1), 1 << (drop - 1)),
        128 => (0, value, 1 << 127),
        // Any value is then less than one half.
        _ => (0, u128::from(value != 0), 2),
    };
    let up = match mode {
        Rounding::NearestEven => rest > half || rest == half && kept & 1 == 1,
        Rounding::NearestAway => rest >= half,
        Rounding::TowardZero => false,
        Rounding::Down => negative && rest != 0,
        Rounding::Up => !negative && rest != 0,
    };
    (kept + u128::from(up), rest != 0)
}

/// `value >> by`. If a dropped bit is set, the lowest bit is set.
fn shift_sticky(value: u128, by: u32) -> u128 {
    match by {
        0 => value,
        1..128 => value >> by | u128::from(value & ((1 << by) - 1) != 0),
        _ => u128::from(value != 0),
    }
}

/// The number `significand * 2^exponent`, rounded by `mode`.
pub(super) fn pack(
    format: Format,
    negative: bool,
    exponent: i32,
    significand: u128,
    mode: Rounding,
    flags: &mut u8,
) -> u64 {
    let sign = if negative { format.sign() } else { 0 };
    if significand == 0 {
        return sign;
    }
    let shift = significand.leading_zeros();
    let value = significand << shift;
    // The exponent of the leading bit.
    let top = exponent - shift as i32 + 127;
    let below = (format.least() - top).max(0);
    let drop = 128 - format.precision;
    let (kept, inexact) = round_off(value, drop + below as u32, mode, negative);
    let biased = (top - format.least()).max(0) as u64;
    // The leading bit of a normal number adds one to the exponent's field.
    let magnitude = (u128::from(biased) << format.fraction()) + kept;
    if magnitude >= u128::from(format.infinity()) {
        *flags |= flag::OVERFLOW | flag::INEXACT;
        let away = match mode {
            Rounding::NearestEven | Rounding::NearestAway => true,
            Rounding::TowardZero => false,
            Rounding::Down => negative,
            Rounding::Up => !negative,
        };
        return sign | (format.infinity() - u64::from(!away));
    }
    if inexact {
        *flags |= flag::INEXACT;
        // `UNDERFLOW` means tiny after rounding: with an unbounded exponent, the rounded result would still be below
        // the least normal number.
        let carries = || round_off(value, drop, mode, negative).0 >> format.precision != 0;
        if below > 1 || below == 1 && !carries() {
            *flags |= flag::UNDERFLOW;
        }
    }
    sign | magnitude as u64
}

/// Returns the NaN. Raises `INVALID` if an operand is a signaling NaN or `invalid` is set.
fn nan(format: Format, operands: &[u64], invalid: bool, flags: &mut u8) -> u64 {
    if invalid || operands.iter().any(|&bits| format.is_signaling(bits)) {
        *flags |= flag::INVALID;
    }
    format.nan()
}

fn infinity(format: Format, negative: bool) -> u64 {
    format.infinity() | if negative { format.sign() } else { 0 }
}

fn zero(f: Format, negative: bool) -> u64 {
    if negative { f.sign() } else { 0 }
}

pub(crate) fn multiply(f: Format, a: u64, b: u64, mode: Rounding, flags: &mut u8) -> u64 {
    use Number::{Finite, Infinity, Nan, Zero};
    let (x, y) = (f.unpack(a), f.unpack(b));
    let negative = x.negative() != y.negative();
    match (x, y) {
        (Nan, _) | (_, Nan) => nan(f, &[a, b], false, flags),
        (Infinity { .. }, Zero { .. }) | (Zero { .. }, Infinity { .. }) => nan(f, &[], true, flags),
        (Infinity { .. }, _) | (_, Infinity { .. }) => infinity(f, negative),
        (Zero { .. }, _) | (_, Zero { .. }) => zero(f, negative),
        (Finite(_, i, m), Finite(_, j, n)) => pack(f, negative, i + j, m * n, mode, flags),
    }
}

pub(crate) fn divide(f: Format, a: u64, b: u64, mode: Rounding, flags: &mut u8) -> u64 {
    use Number::{Finite, Infinity, Nan, Zero};
    let (x, y) = (f.unpack(a), f.unpack(b));
    let negative = x.negative() != y.negative();
    match (x, y) {
        (Nan, _) | (_, Nan) => nan(f, &[a, b], false, flags),
        (Infinity { .. }, Infinity { .. }) | (Zero { .. }, Zero { .. }) => nan(f, &[], true, flags),
        (Infinity { .. }, _) => infinity(f, negative),
        (_, Zero { .. }) => {
            *flags |= flag::DIVIDE_BY_ZERO;
            infinity(f, negative)
        }
        (Zero { .. }, _) | (_, Infinity { .. }) => zero(f, negative),
        (Finite(_, i, m), Finite(_, j, n)) => {
            // The dividend then has 128 bits, and the divisor at most 53. So the quotient has at least 75 bits.
            let shift = m.leading_zeros();
            let m = m << shift;
            let quotient = (m / n) | u128::from(m % n != 0);
            pack(f, negative, i - shift as i32 - j, quotient, mode, flags)
        }
    }
}

pub(crate) fn square_root(f: Format, a: u64, mode: Rounding, flags: &mut u8) -> u64 {
    match f.unpack(a) {
        Number::Nan => nan(f, &[a], false, flags),
        Number::Zero { .. } | Number::Infinity { negative: false } => a,
        Number::Infinity { .. } | Number::Finite(true, ..) => nan(f, &[], true, flags),
        Number::Finite(_, exponent, significand) => {
            // The shifted value has 127 or 128 bits and an even exponent. So the root has 64 bits.
            let mut shift = significand.leading_zeros();
            if (exponent - shift as i32) % 2 != 0 {
                shift -= 1;
            }
            let value = significand << shift;
            let root = value.isqrt();
            let root = root << 1 | u128::from(root * root != value);
            pack(
                f,
                false,
                (exponent - shift as i32) / 2 - 1,
                root,
                mode,
                flags,
            )
        }
    }
}

/// `a + b`.
pub(crate) fn add(f: Format, a: u64, b: u64, mode: Rounding, flags: &mut u8) -> u64 {
    multiply_add(f, a, f.one(), b, mode, flags)
}

/// `a * b + c`, rounded once.
pub(crate) fn multiply_add(
    f: Format,
    a: u64,
    b: u64,
    c: u64,
    mode: Rounding,
    flags: &mut u8,
) -> u64 {
    use Number::{Finite, Infinity, Nan, Zero};
    let (x, y, z) = (f.unpack(a), f.unpack(b), f.unpack(c));
    let negative = x.negative() != y.negative();
    let impossible = matches!(
        (x, y),
        (Infinity { .. }, Zero { .. }) | (Zero { .. }, Infinity { .. })
    );
    if impossible || [x, y, z].contains(&Nan) {
        return nan(f, &[a, b, c], impossible, flags);
    }
    if matches!(x, Infinity { .. }) || matches!(y, Infinity { .. }) {
        return match z {
            Infinity { negative: other } if other != negative => nan(f, &[], true, flags),
            _ => infinity(f, negative),
        };
    }
    match (x, y, z) {
        (.., Infinity { .. }) => c,
        (Finite(_, i, m), Finite(_, j, n), Zero { .. }) => {
            pack(f, negative, i + j, m * n, mode, flags)
        }
        (Finite(_, i, m), Finite(_, j, n), Finite(other, k, o)) => {
            sum(f, (negative, i + j, m * n), (other, k, o), mode, flags)
        }
        // The product is zero.
        (.., Zero { negative: other }) if other == negative => c,
        (.., Zero { .. }) => zero(f, mode == Rounding::Down),
        _ => c,
    }
}

/// The sum of two values that are not zero. Each has a sign, an exponent, and a significand of at most 106 bits.
fn sum(
    f: Format,
    a: (bool, i32, u128),
    b: (bool, i32, u128),
    mode: Rounding,
    flags: &mut u8,
) -> u64 {
    // The leading bits move to bit 126, so that a sum does not overflow.
    let raise = |(negative, exponent, value): (bool, i32, u128)| {
        let shift = value.leading_zeros() - 1;
        (negative, exponent - shift as i32, value << shift)
    };
    let (mut a, mut b) = (raise(a), raise(b));
    if (a.1, a.2) < (b.1, b.2) {
        std::mem::swap(&mut a, &mut b);
    }
    // The low 20 bits of both significands are zero, so a shift by up to 20 loses nothing. After a longer shift, a
    // difference has at least 125 bits, and only its lowest bit is sticky.
    let lesser = shift_sticky(b.2, (a.1 - b.1) as u32);
    if a.0 == b.0 {
        return pack(f, a.0, a.1, a.2 + lesser, mode, flags);
    }
    match a.2 - lesser {
        0 if mode == Rounding::Down => f.sign(),
        0 => 0,
        rest => pack(f, a.0, a.1, rest, mode, flags),
    }
}
