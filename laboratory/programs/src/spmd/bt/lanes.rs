//! Numbers, and several numbers as a vector.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// The type of the numbers in the equations, which is [`Lanes`]. Tests use numbers that count operations or carry a
/// derivative.
pub(super) trait Real:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Mul<f64, Output = Self>
{
    fn of(value: f64) -> Self;
}

impl Real for f64 {
    fn of(value: f64) -> Self {
        value
    }
}

/// How many lines are solved together. In every class the number of lines is the square of an even number, and so a
/// multiple of this.
pub(super) const LANES: usize = 2;

/// The same quantity of several points. Each operation applies to all lanes, and compilers turn it
/// into vector instructions. Each lane is computed as if it were alone, so results do not depend on
/// which points are grouped.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(16))]
pub(super) struct Lanes(pub(super) [f64; LANES]);

impl Lanes {
    /// Loads the first numbers of `values`.
    #[inline(always)]
    pub(super) fn load(values: &[f64]) -> Self {
        let mut loaded = [0.0; LANES];
        loaded.copy_from_slice(&values[..LANES]);
        Self(loaded)
    }

    /// Loads numbers from `index` on.
    ///
    /// # Safety
    ///
    /// `values` has `LANES` numbers from `index` on.
    #[inline(always)]
    pub(super) unsafe fn load_unchecked(values: &[f64], index: usize) -> Self {
        debug_assert!(index + LANES <= values.len());
        // SAFETY: by contract the slice has these numbers, laid out as an array.
        Self(unsafe { values.as_ptr().add(index).cast::<[f64; LANES]>().read() })
    }
}

impl Real for Lanes {
    #[inline(always)]
    fn of(value: f64) -> Self {
        Self([value; LANES])
    }
}

macro_rules! lanewise {
    ($operator:ident, $function:ident) => {
        impl $operator for Lanes {
            type Output = Self;

            #[inline(always)]
            fn $function(mut self, other: Self) -> Self {
                for (value, other) in self.0.iter_mut().zip(other.0) {
                    *value = $operator::$function(*value, other);
                }
                self
            }
        }
    };
}

lanewise!(Add, add);
lanewise!(Sub, sub);
lanewise!(Mul, mul);
lanewise!(Div, div);

impl Neg for Lanes {
    type Output = Self;

    #[inline(always)]
    fn neg(mut self) -> Self {
        for value in &mut self.0 {
            *value = -*value;
        }
        self
    }
}

impl Mul<f64> for Lanes {
    type Output = Self;

    #[inline(always)]
    fn mul(self, factor: f64) -> Self {
        self * Self::of(factor)
    }
}
