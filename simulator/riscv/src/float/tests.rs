//! Compares the integer arithmetic (`soft`) with the host's arithmetic, the shortcut by host instructions (`host`) with
//! the integer arithmetic, and the rounding modes with each other.

use super::host::{self, Host};
use super::{DOUBLE, Format, Rounding, SINGLE, convert, flag, soft};
use fastrand::Rng;

const MODES: [Rounding; 5] = [
    Rounding::NearestEven,
    Rounding::TowardZero,
    Rounding::Down,
    Rounding::Up,
    Rounding::NearestAway,
];

/// A random number of any kind: limits of ranges, NaNs, neighbours of 1. A third of the numbers are short, because
/// their results are often exact.
fn any(format: Format, rng: &mut Rng) -> u64 {
    let special = [
        0,
        1,
        format.infinity(),
        format.infinity() - 1,
        format.nan(),
        format.one(),
    ];
    let mask = format.sign() | (format.sign() - 1);
    let bits = match rng.u8(..6) {
        0 => special[rng.usize(..special.len())].wrapping_add(rng.u64(..3)),
        1 => format.one().wrapping_add(rng.u64(..) % (format.one() / 4)),
        2 => rng.u64(..) >> rng.u32(..64),
        // Short numbers, near 1 or anywhere.
        3 => {
            let exponent = (format.one() >> format.fraction()) + rng.u64(..16) - 8;
            exponent << format.fraction() | short(format, rng)
        }
        4 => rng.u64(..) >> format.fraction() << format.fraction() | short(format, rng),
        _ => rng.u64(..),
    };
    (bits ^ if rng.bool() { format.sign() } else { 0 }) & mask
}

/// The stored bits of a short significand, whose lower bits are zero.
fn short(format: Format, rng: &mut Rng) -> u64 {
    let bits = rng.u32(..=format.fraction().min(14));
    rng.u64(..1 << bits) << (format.fraction() - bits)
}

/// The host rounds to nearest even. The host's NaNs may have other bits.
#[test]
fn rounding_to_nearest_agrees_with_the_host() {
    let mut rng = Rng::with_seed(1);
    for _ in 0..200_000 {
        let [a, b, c] = [(); 3].map(|()| any(DOUBLE, &mut rng));
        let [x, y, z] = [a, b, c].map(f64::from_bits);
        let mode = Rounding::NearestEven;
        let mut flags = 0;
        let same = |ours: u64, host: f64| {
            // The bits decide whether `host` is a NaN, since the compiler may replace a NaN by another NaN.
            let bits = host.to_bits();
            let host = if DOUBLE.is_nan(bits) {
                DOUBLE.nan()
            } else {
                bits
            };
            assert_eq!(ours, host, "{a:x} {b:x} {c:x}");
        };
        same(soft::add(DOUBLE, a, b, mode, &mut flags), x + y);
        same(soft::multiply(DOUBLE, a, b, mode, &mut flags), x * y);
        same(soft::divide(DOUBLE, a, b, mode, &mut flags), x / y);
        same(soft::square_root(DOUBLE, a, mode, &mut flags), x.sqrt());
        same(
            soft::multiply_add(DOUBLE, a, b, c, mode, &mut flags),
            x.mul_add(y, z),
        );
        let single = convert::between(DOUBLE, SINGLE, a, mode, &mut flags);
        let host = if x.is_nan() {
            SINGLE.nan()
        } else {
            u64::from((x as f32).to_bits())
        };
        assert_eq!(single, host);
    }
}

/// The shortcut gives the same bits and flags as the integer arithmetic, whatever flags were set before.
#[test]
fn the_hosts_shortcut_gives_the_same_bits_and_flags() {
    fn check<F: Host>(rng: &mut Rng) {
        let format = F::FORMAT;
        let [a, b, c] = [(); 3].map(|()| any(format, rng));
        let mode = MODES[rng.usize(..MODES.len())];
        let before = rng.u8(..32);
        let both = |fast: &dyn Fn(&mut u8) -> u64, slow: &dyn Fn(&mut u8) -> u64| {
            let (mut f, mut s) = (before, before);
            assert_eq!(
                (fast(&mut f), f),
                (slow(&mut s), s),
                "{a:x} {b:x} {c:x} {mode:?}"
            );
        };
        both(&|f| host::add::<F>(a, b, mode, f), &|f| {
            soft::add(format, a, b, mode, f)
        });
        both(&|f| host::multiply::<F>(a, b, mode, f), &|f| {
            soft::multiply(format, a, b, mode, f)
        });
        both(&|f| host::divide::<F>(a, b, mode, f), &|f| {
            soft::divide(format, a, b, mode, f)
        });
        both(&|f| host::square_root::<F>(a, mode, f), &|f| {
            soft::square_root(format, a, mode, f)
        });
        both(&|f| host::multiply_add::<F>(a, b, c, mode, f), &|f| {
            soft::multiply_add(format, a, b, c, mode, f)
        });
    }
    let mut rng = Rng::with_seed(2);
    for _ in 0..200_000 {
        check::<f32>(&mut rng);
        check::<f64>(&mut rng);
    }
}

/// The results of rounding down and up are equal or neighbours, and enclose all other results.
#[test]
fn directed_roundings_enclose_the_others() {
    let mut rng = Rng::with_seed(3);
    for _ in 0..200_000 {
        let [a, b, c] = [(); 3].map(|()| any(SINGLE, &mut rng));
        let results = MODES.map(|mode| {
            let mut flags = 0;
            (soft::multiply_add(SINGLE, a, b, c, mode, &mut flags), flags)
        });
        let value = |bits: u64| f32::from_bits(bits as u32);
        if value(results[0].0).is_nan() {
            continue;
        }
        let (down, up) = (value(results[2].0), value(results[3].0));
        for (bits, flags) in results {
            assert!(down <= value(bits) && value(bits) <= up);
            assert!(value(bits) == down || value(bits) == up);
            // A result is exact in all modes or in none.
            assert_eq!(flags & flag::INEXACT != 0, down != up, "{a:x} {b:x} {c:x}");
        }
        let next = if down == up { up } else { down.next_up() };
        assert!(up == next || up == 0.0 && down == -0.0);
    }
}
