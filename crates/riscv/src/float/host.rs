//! The host's arithmetic, where it is certain to give the bits and flags of [`soft`].
//!
//! The host rounds to nearest even and tells no flags. So it is asked only in that mode, only if
//! the flag `INEXACT` is up already, and its result counts only if it is finite and above the
//! least normal number. Such a result is correctly rounded (IEEE 754 leaves no choice). It raised
//! neither `INVALID` nor `DIVIDE_BY_ZERO` nor `OVERFLOW`, which give NaN or infinity here, and no
//! `UNDERFLOW`, which gives at most the least normal number; and `INEXACT` is up. Every other
//! case, NaNs and zeros among them, is computed with integers.

use super::{DOUBLE, Format, Rounding, SINGLE, flag, soft};

/// A format, and how the host computes in it.
pub(crate) trait Host {
    const FORMAT: Format;
    fn value(bits: u64) -> Self;
    /// The bits of a result that [`soft`] would give too.
    fn certain(self) -> Option<u64>;
}

impl Host for f32 {
    const FORMAT: Format = SINGLE;

    fn value(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }

    fn certain(self) -> Option<u64> {
        let sure = self.is_finite() && self.abs() > Self::MIN_POSITIVE;
        sure.then(|| self.to_bits().into())
    }
}

impl Host for f64 {
    const FORMAT: Format = DOUBLE;

    fn value(bits: u64) -> Self {
        Self::from_bits(bits)
    }

    fn certain(self) -> Option<u64> {
        let sure = self.is_finite() && self.abs() > Self::MIN_POSITIVE;
        sure.then(|| self.to_bits())
    }
}

#[inline]
fn may(mode: Rounding, flags: u8) -> bool {
    mode == Rounding::NearestEven && flags & flag::INEXACT != 0
}

macro_rules! operation {
    ($name:ident, $soft:ident, |$($argument:ident),+| $host:expr, $bound:path) => {
        #[inline]
        pub(crate) fn $name<F: Host + $bound>(
            $($argument: u64,)+
            mode: Rounding,
            flags: &mut u8,
        ) -> u64 {
            if may(mode, *flags) {
                $(let $argument = F::value($argument);)+
                if let Some(bits) = $host.certain() {
                    return bits;
                }
            }
            soft::$soft(F::FORMAT, $($argument,)+ mode, flags)
        }
    };
}

/// What the host's types compute.
pub(crate) trait Arithmetic: Copy {
    fn sum(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
    fn quotient(self, other: Self) -> Self;
    fn root(self) -> Self;
    fn fused(self, factor: Self, addend: Self) -> Self;
}

macro_rules! arithmetic {
    ($type:ty) => {
        impl Arithmetic for $type {
            #[inline]
            fn sum(self, other: Self) -> Self {
                self + other
            }
            #[inline]
            fn product(self, other: Self) -> Self {
                self * other
            }
            #[inline]
            fn quotient(self, other: Self) -> Self {
                self / other
            }
            #[inline]
            fn root(self) -> Self {
                self.sqrt()
            }
            #[inline]
            fn fused(self, factor: Self, addend: Self) -> Self {
                self.mul_add(factor, addend)
            }
        }
    };
}

arithmetic!(f32);
arithmetic!(f64);

operation!(add, add, |a, b| a.sum(b), Arithmetic);
operation!(multiply, multiply, |a, b| a.product(b), Arithmetic);
operation!(divide, divide, |a, b| a.quotient(b), Arithmetic);
operation!(square_root, square_root, |a| a.root(), Arithmetic);
operation!(
    multiply_add,
    multiply_add,
    |a, b, c| a.fused(b, c),
    Arithmetic
);
