//! RISC-V's IEEE 754 arithmetic: five rounding modes, five sticky flags, and one NaN for results.
//!
//! [`soft`] computes with integers and defines the results. [`host`] uses the host's instructions where they certainly
//! agree with [`soft`], and argues why. So results and flags are the same on every host.

pub(crate) mod convert;
pub(crate) mod host;
pub(crate) mod soft;
#[cfg(test)]
mod tests;

/// The flags of `fcsr`.
pub(crate) mod flag {
    pub(crate) const INEXACT: u8 = 1;
    pub(crate) const UNDERFLOW: u8 = 2;
    pub(crate) const OVERFLOW: u8 = 4;
    pub(crate) const DIVIDE_BY_ZERO: u8 = 8;
    pub(crate) const INVALID: u8 = 16;
}

/// How a result between two representable numbers is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    NearestEven,
    TowardZero,
    Down,
    Up,
    NearestAway,
}

impl Rounding {
    /// The mode that an instruction's field names. If the field is 7, this is the mode in `frm`. Returns `None` for a
    /// reserved mode.
    pub(crate) fn new(field: u8, frm: u8) -> Option<Self> {
        let mode = if field == 7 { frm } else { field };
        Some(match mode {
            0 => Self::NearestEven,
            1 => Self::TowardZero,
            2 => Self::Down,
            3 => Self::Up,
            4 => Self::NearestAway,
            _ => return None,
        })
    }
}

/// A binary format: its numbers of significant bits and of exponent bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) precision: u32,
    exponent: u32,
}

/// binary32.
pub(crate) const SINGLE: Format = Format {
    precision: 24,
    exponent: 8,
};
/// binary64.
pub(crate) const DOUBLE: Format = Format {
    precision: 53,
    exponent: 11,
};

impl Format {
    pub(crate) const fn sign(self) -> u64 {
        1 << (self.precision + self.exponent - 1)
    }

    /// The number of stored bits of the significand.
    const fn fraction(self) -> u32 {
        self.precision - 1
    }

    pub(crate) const fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction()
    }

    /// The canonical NaN, which is the NaN of all results.
    pub(crate) const fn nan(self) -> u64 {
        self.infinity() | 1 << (self.fraction() - 1)
    }

    /// The exponent of the least normal number.
    const fn least(self) -> i32 {
        2 - (1 << (self.exponent - 1))
    }

    /// The number 1.
    pub(crate) const fn one(self) -> u64 {
        ((1 << (self.exponent - 1)) - 1) << self.fraction()
    }

    pub(crate) const fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() > self.infinity()
    }

    pub(crate) const fn is_signaling(self, bits: u64) -> bool {
        self.is_nan(bits) && bits >> (self.fraction() - 1) & 1 == 0
    }

    /// Separates sign, exponent and significand of a number.
    pub(crate) fn unpack(self, bits: u64) -> Number {
        let negative = bits & self.sign() != 0;
        let magnitude = bits & !self.sign();
        let exponent = (magnitude >> self.fraction()) as i32;
        let fraction = magnitude & ((1 << self.fraction()) - 1);
        let low = self.least() - self.fraction() as i32;
        match magnitude {
            0 => Number::Zero { negative },
            _ if magnitude > self.infinity() => Number::Nan,
            _ if magnitude == self.infinity() => Number::Infinity { negative },
            _ if exponent == 0 => Number::Finite(negative, low, fraction.into()),
            _ => Number::Finite(
                negative,
                low + exponent - 1,
                u128::from(fraction | 1 << self.fraction()),
            ),
        }
    }
}

/// The value of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Nan,
    Infinity {
        negative: bool,
    },
    Zero {
        negative: bool,
    },
    /// A finite number that is not zero: whether it is negative, its exponent, and its significand. The magnitude is
    /// `significand * 2^exponent`.
    Finite(bool, i32, u128),
}

impl Number {
    pub(crate) fn negative(self) -> bool {
        match self {
            Self::Nan => false,
            Self::Infinity { negative } | Self::Zero { negative } | Self::Finite(negative, ..) => {
                negative
            }
        }
    }
}
