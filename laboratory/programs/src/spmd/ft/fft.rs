//! Fourier transforms of eight series at a time.

use super::complex::Complex;
use std::f64::consts::TAU;

/// The number of series that are transformed together. The same elements of all series are adjacent in memory, for
/// vector instructions. Eight complex numbers fill two cache lines.
pub(super) const LANES: usize = 8;

/// One element of each series.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct FftRow {
    re: [f64; LANES],
    im: [f64; LANES],
}

impl FftRow {
    /// A row of the elements that `element` returns for each series.
    #[inline]
    pub(super) fn from_fn(mut element: impl FnMut(usize) -> Complex) -> Self {
        let mut row = Self {
            re: [0.0; LANES],
            im: [0.0; LANES],
        };
        for lane in 0..LANES {
            let Complex { re, im } = element(lane);
            row.re[lane] = re;
            row.im[lane] = im;
        }
        row
    }

    /// The element of one series.
    #[inline]
    pub(super) fn element(&self, lane: usize) -> Complex {
        Complex {
            re: self.re[lane],
            im: self.im[lane],
        }
    }
}

/// Transforms of one length, which is a power of two and at least 4.
///
/// The algorithm is decimation in frequency, in place. It has stages of radix 4, and a last stage of radix 2 if the
/// length is not a power of 4. The result is out of order.
pub(super) struct Fft {
    length: usize,
    /// The factors w^j, w^2j and w^3j, for each stage but the last, and for each element j of a quarter. w is the
    /// stage's root of unity.
    turns: Vec<[Complex; 3]>,
    /// The place of each element of the result.
    order: Vec<u32>,
}

impl Fft {
    pub(super) fn new(length: usize) -> Self {
        assert!(length.is_power_of_two() && length >= 4);
        let mut turns = Vec::new();
        let mut span = length;
        while span > 4 {
            let root = |power: usize| Complex::turn(-TAU * power as f64 / span as f64);
            turns.extend((0..span / 4).map(|j| [root(j), root(2 * j), root(3 * j)]));
            span /= 4;
        }
        let order = (0..length).map(|index| place(index, length) as u32);
        Self {
            length,
            turns,
            order: order.collect(),
        }
    }

    /// Operations, loads and stores of [`transform`](Self::transform) for one series of this
    /// length.
    pub(super) fn operations(length: usize) -> f64 {
        // The loads, stores and additions for four or two complex numbers. A stage with `turns` adds three complex
        // products of six operations each.
        const QUARTERS: usize = 8 + 8 + 16;
        const TURNED: usize = QUARTERS + 3 * 6;
        const HALVES: usize = 4 + 4 + 4;
        let (mut operations, mut span) = (0, length);
        while span > 4 {
            operations += length / 4 * TURNED;
            span /= 4;
        }
        operations += match span {
            4 => length / 4 * QUARTERS,
            _ => length / 2 * HALVES,
        };
        operations as f64
    }

    /// Replaces each series x by the sums over j of `x_j exp(-2πi jk / length)`, for each k.
    pub(super) fn transform(&self, rows: &mut [FftRow]) {
        debug_assert_eq!(rows.len(), self.length);
        let mut turns = &self.turns[..];
        let mut span = self.length;
        while span > 4 {
            let of_stage;
            (of_stage, turns) = turns.split_at(span / 4);
            for block in rows.chunks_exact_mut(span) {
                let [a, b, c, d] = quarters(block);
                for ((((a, b), c), d), turns) in a.iter_mut().zip(b).zip(c).zip(d).zip(of_stage) {
                    turned(a, b, c, d, turns);
                }
            }
            span /= 4;
        }
        if span == 4 {
            for block in rows.as_chunks_mut::<4>().0 {
                let [a, b, c, d] = block;
                in_four(a, b, c, d);
            }
        } else {
            for block in rows.as_chunks_mut::<2>().0 {
                let [a, b] = block;
                in_two(a, b);
            }
        }
    }

    /// The places of the elements of [`transform`](Self::transform)'s result.
    pub(super) fn order(&self) -> impl Iterator<Item = usize> {
        self.order.iter().map(|&place| place as usize)
    }
}

/// The place of an element of the result. A stage of radix 4 puts the elements whose index is k modulo 4 in quarter k.
fn place(index: usize, length: usize) -> usize {
    match length {
        1 | 2 => index,
        _ => index % 4 * (length / 4) + place(index / 4, length / 4),
    }
}

fn quarters(block: &mut [FftRow]) -> [&mut [FftRow]; 4] {
    let quarter = block.len() / 4;
    let (ab, cd) = block.split_at_mut(2 * quarter);
    let (a, b) = ab.split_at_mut(quarter);
    let (c, d) = cd.split_at_mut(quarter);
    [a, b, c, d]
}

/// Transforms four elements, and multiplies the last three by `turns`.
#[inline(always)]
fn turned(a: &mut FftRow, b: &mut FftRow, c: &mut FftRow, d: &mut FftRow, turns: &[Complex; 3]) {
    let [one, two, three] = *turns;
    for lane in 0..LANES {
        let (sum_re, sum_im) = (a.re[lane] + c.re[lane], a.im[lane] + c.im[lane]);
        let (gap_re, gap_im) = (a.re[lane] - c.re[lane], a.im[lane] - c.im[lane]);
        let (odd_re, odd_im) = (b.re[lane] + d.re[lane], b.im[lane] + d.im[lane]);
        let (rest_re, rest_im) = (b.re[lane] - d.re[lane], b.im[lane] - d.im[lane]);
        a.re[lane] = sum_re + odd_re;
        a.im[lane] = sum_im + odd_im;
        // `rest` is multiplied by -i for b and by i for d.
        let (re, im) = (gap_re + rest_im, gap_im - rest_re);
        b.re[lane] = re * one.re - im * one.im;
        b.im[lane] = re * one.im + im * one.re;
        let (re, im) = (sum_re - odd_re, sum_im - odd_im);
        c.re[lane] = re * two.re - im * two.im;
        c.im[lane] = re * two.im + im * two.re;
        let (re, im) = (gap_re - rest_im, gap_im + rest_re);
        d.re[lane] = re * three.re - im * three.im;
        d.im[lane] = re * three.im + im * three.re;
    }
}

/// Transforms four elements, without the factors of [`turned`].
#[inline(always)]
fn in_four(a: &mut FftRow, b: &mut FftRow, c: &mut FftRow, d: &mut FftRow) {
    for lane in 0..LANES {
        let (sum_re, sum_im) = (a.re[lane] + c.re[lane], a.im[lane] + c.im[lane]);
        let (gap_re, gap_im) = (a.re[lane] - c.re[lane], a.im[lane] - c.im[lane]);
        let (odd_re, odd_im) = (b.re[lane] + d.re[lane], b.im[lane] + d.im[lane]);
        let (rest_re, rest_im) = (b.re[lane] - d.re[lane], b.im[lane] - d.im[lane]);
        a.re[lane] = sum_re + odd_re;
        a.im[lane] = sum_im + odd_im;
        b.re[lane] = gap_re + rest_im;
        b.im[lane] = gap_im - rest_re;
        c.re[lane] = sum_re - odd_re;
        c.im[lane] = sum_im - odd_im;
        d.re[lane] = gap_re - rest_im;
        d.im[lane] = gap_im + rest_re;
    }
}

#[inline(always)]
fn in_two(a: &mut FftRow, b: &mut FftRow) {
    for lane in 0..LANES {
        let (re, im) = (b.re[lane], b.im[lane]);
        b.re[lane] = a.re[lane] - re;
        b.im[lane] = a.im[lane] - im;
        a.re[lane] += re;
        a.im[lane] += im;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spmd::randlc::Randlc;

    #[test]
    fn transforms_agree_with_the_definition() {
        let mut random = Randlc::new();
        for length in [4, 8, 16, 32, 64, 128, 256, 512] {
            let mut draw = |_| Complex {
                re: random.draw(),
                im: random.draw(),
            };
            let series: Vec<FftRow> = (0..length).map(|_| FftRow::from_fn(&mut draw)).collect();
            let fft = Fft::new(length);
            let mut rows = series.clone();
            fft.transform(&mut rows);
            for (k, place) in fft.order().enumerate() {
                for lane in 0..LANES {
                    let mut sum = Complex::default();
                    for (j, row) in series.iter().enumerate() {
                        let angle = -TAU * ((j * k) % length) as f64 / length as f64;
                        sum = sum + row.element(lane) * Complex::turn(angle);
                    }
                    let found = rows[place].element(lane);
                    let error = (found.re - sum.re).hypot(found.im - sum.im);
                    assert!(error < 1e-11, "{length}, {k}: {found:?}, not {sum:?}");
                }
            }
        }
    }
}
