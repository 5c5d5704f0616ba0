//! Complex numbers.

use std::ops::{Add, Mul};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub(super) struct Complex {
    pub(super) re: f64,
    pub(super) im: f64,
}

impl Complex {
    /// A number of length 1.
    pub(super) fn turn(angle: f64) -> Self {
        let (im, re) = angle.sin_cos();
        Self { re, im }
    }

    /// Exchanges the real and the imaginary part.
    #[inline]
    pub(super) fn swapped(self) -> Self {
        Self {
            re: self.im,
            im: self.re,
        }
    }

    #[inline]
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self {
            re: self.re * factor,
            im: self.im * factor,
        }
    }
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }
}

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}
