//! The items of a program's loops: counted ones, and products in which order matters.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The item of one iteration. It counts itself while it lives.
pub(super) struct Token<'a> {
    number: usize,
    live: &'a AtomicUsize,
}

impl<'a> Token<'a> {
    /// The item of iteration `number`, counted in `live`.
    pub(super) fn new(number: usize, live: &'a AtomicUsize) -> Self {
        // Relaxed: a count, which the loop's caller reads when all threads have left the loop.
        live.fetch_add(1, Ordering::Relaxed);
        Self { number, live }
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        // Relaxed: as in `new`.
        self.live.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The map `x -> scale * x + shift`. Maps are combined one after the other: which comes first
/// matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Product {
    scale: u64,
    shift: u64,
}

impl Default for Product {
    fn default() -> Self {
        let (scale, shift) = (1, 0);
        Self { scale, shift }
    }
}

impl Product {
    /// The map of item `i`.
    pub(super) fn of(i: usize) -> Self {
        let i = i as u64;
        let (scale, shift) = (2 * i + 3, i * i + 1);
        Self { scale, shift }
    }

    /// This map, and then `next`.
    pub(super) fn then(self, next: Self) -> Self {
        Self {
            scale: self.scale.wrapping_mul(next.scale),
            shift: (self.shift.wrapping_mul(next.scale)).wrapping_add(next.shift),
        }
    }
}

/// The maps of all items up to `last`, in order.
pub(super) fn product(last: usize) -> Product {
    (0..=last)
        .map(Product::of)
        .fold(Product::default(), Product::then)
}
