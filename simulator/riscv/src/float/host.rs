//! The host's floating-point arithmetic, used where it certainly gives the bits and flags of [`soft`].
//!
//! The host rounds to nearest even, as IEEE 754 demands, and shows no flags. So the host's result is used only in that
//! rounding mode, and only if the flags are known without the host:
//!
//! * A finite result raises neither `INVALID` nor `DIVIDE_BY_ZERO` nor `OVERFLOW`: in this mode, a result that raises
//!   one of these flags is NaN or infinity.
//! * A result above the least normal number raises no `UNDERFLOW`. A sum never raises `UNDERFLOW`, since tiny sums are
//!   exact.
//! * `INEXACT` does not change if it is already set or if the result is exact. A sum is exact if Knuth's algorithm
//!   computes a rounding error of 0. A product is exact if its significant bits fit. A quotient or a root is exact if
//!   multiplying it back gives the operand exactly.
//!
//! All other cases, with NaNs and most zeros among them, are computed with integers.

use super::{DOUBLE, Format, Rounding, SINGLE, flag, soft};
use std::ops::{Add, Div, Mul, Sub};

/// A format, and the host's arithmetic in it.
pub(crate) trait Host:
    Copy + PartialEq + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    const FORMAT: Format;
    const ZERO: Self;
    fn value(bits: u64) -> Self;
    fn bits(self) -> u64;
    fn is_finite(self) -> bool;
    /// Whether the number is finite, and larger in magnitude than the least normal number.
    fn is_normal(self) -> bool;
    fn root(self) -> Self;
    fn fused(self, factor: Self, addend: Self) -> Self;
}

macro_rules! host {
    ($type:ty, $bits:ty, $format:expr) => {
        impl Host for $type {
            const FORMAT: Format = $format;
            const ZERO: Self = 0.0;

            #[inline(always)]
            fn value(bits: u64) -> Self {
                Self::from_bits(bits as $bits)
            }

            #[inline(always)]
            fn bits(self) -> u64 {
                self.to_bits().into()
            }

            #[inline(always)]
            fn is_finite(self) -> bool {
                self.is_finite()
            }

            #[inline(always)]
            fn is_normal(self) -> bool {
                self.is_finite() && self.abs() > Self::MIN_POSITIVE
            }

            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }

            #[inline(always)]
            fn fused(self, factor: Self, addend: Self) -> Self {
                self.mul_add(factor, addend)
            }
        }
    };
}

host!(f32, u32, SINGLE);
host!(f64, u64, DOUBLE);

/// Whether `INEXACT` is set already, so that another inexact result changes no flag.
#[inline(always)]
fn is_inexact(flags: u8) -> bool {
    flags & flag::INEXACT != 0
}

/// Whether `sum`, the finite sum of `a` and `b`, is exact.
#[inline(always)]
fn is_exact_sum<F: Host>(a: F, b: F, sum: F) -> bool {
    let of_b = sum - a;
    let of_a = sum - of_b;
    (a - of_a) + (b - of_b) == F::ZERO
}

/// The product, if it is certainly exact. Returns `None` if an operand or the product is not normal.
#[inline(always)]
fn exact_product<F: Host>(a: F, b: F) -> Option<F> {
    let product = a * b;
    if !(a.is_normal() && b.is_normal() && product.is_normal()) {
        return None;
    }
    let leading = 1 << F::FORMAT.fraction();
    let significand = |value: F| value.bits() & (leading - 1) | leading;
    let wide = u128::from(significand(a)) * u128::from(significand(b));
    let width = 128 - wide.leading_zeros() - wide.trailing_zeros();
    (width <= F::FORMAT.precision).then_some(product)
}

/// Whether `a * b` is certainly and exactly `product`.
#[inline(always)]
fn is_product<F: Host>(a: F, b: F, product: F) -> bool {
    exact_product(a, b).is_some_and(|exact| exact == product)
}

#[inline]
pub(crate) fn add<F: Host>(a: u64, b: u64, mode: Rounding, flags: &mut u8) -> u64 {
    if mode == Rounding::NearestEven {
        let (x, y) = (F::value(a), F::value(b));
        let sum = x + y;
        if sum.is_finite() && (is_inexact(*flags) || is_exact_sum(x, y, sum)) {
            return sum.bits();
        }
    }
    soft::add(F::FORMAT, a, b, mode, flags)
}

#[inline]
pub(crate) fn multiply<F: Host>(a: u64, b: u64, mode: Rounding, flags: &mut u8) -> u64 {
    if mode == Rounding::NearestEven {
        let (x, y) = (F::value(a), F::value(b));
        let product = x * y;
        if is_inexact(*flags) && product.is_normal() || exact_product(x, y).is_some() {
            return product.bits();
        }
    }
    soft::multiply(F::FORMAT, a, b, mode, flags)
}

#[inline]
pub(crate) fn divide<F: Host>(a: u64, b: u64, mode: Rounding, flags: &mut u8) -> u64 {
    if mode == Rounding::NearestEven {
        let (x, y) = (F::value(a), F::value(b));
        let quotient = x / y;
        if is_inexact(*flags) && quotient.is_normal() || is_product(quotient, y, x) {
            return quotient.bits();
        }
    }
    soft::divide(F::FORMAT, a, b, mode, flags)
}

#[inline]
pub(crate) fn square_root<F: Host>(a: u64, mode: Rounding, flags: &mut u8) -> u64 {
    if mode == Rounding::NearestEven {
        let x = F::value(a);
        let root = x.root();
        if is_inexact(*flags) && root.is_normal() || is_product(root, root, x) {
            return root.bits();
        }
    }
    soft::square_root(F::FORMAT, a, mode, flags)
}

#[inline]
pub(crate) fn multiply_add<F: Host>(a: u64, b: u64, c: u64, mode: Rounding, flags: &mut u8) -> u64 {
    if mode == Rounding::NearestEven {
        let (x, y, z) = (F::value(a), F::value(b), F::value(c));
        if is_inexact(*flags) {
            let sum = x.fused(y, z);
            if sum.is_normal() {
                return sum.bits();
            }
        } else if let Some(product) = exact_product(x, y) {
            // The sum is rounded once, since the product is exact.
            let sum = product + z;
            if sum.is_finite() && is_exact_sum(product, z, sum) {
                return sum.bits();
            }
        }
    }
    soft::multiply_add(F::FORMAT, a, b, c, mode, flags)
}
