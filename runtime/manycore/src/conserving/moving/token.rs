//! The items of a program's loops: counted tokens, and products that depend on the order.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The item of one iteration. `live` counts it until it is dropped.
pub(super) struct Token<'a> {
    number: usize,
    live: &'a AtomicUsize,
}

impl<'a> Token<'a> {
    /// Makes the item of iteration `number`.
    pub(super) fn new(number: usize, live: &'a AtomicUsize) -> Self {
        // Relaxed: the loop's caller reads the count when all threads have left the loop.
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

/// The map `x -> scale * x + shift`. The composition of maps depends on their order.
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
    /// Returns the map of item `i`.
    pub(super) fn of(i: usize) -> Self {
        let i = i as u64;
        let (scale, shift) = (2 * i + 3, i * i + 1);
        Self { scale, shift }
    }

    /// Returns the composition of this map and `next`, which comes second.
    pub(super) fn then(self, next: Self) -> Self {
        Self {
            scale: self.scale.wrapping_mul(next.scale),
            shift: (self.shift.wrapping_mul(next.scale)).wrapping_add(next.shift),
        }
    }
}

/// Returns the composition of the maps of all items up to `last`, in order.
pub(super) fn product(last: usize) -> Product {
    (0..=last)
        .map(Product::of)
        .fold(Product::default(), Product::then)
}
